"""`--processes` and `greenroom worker`: workers that are lost, stopped, refused, out of money."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from greenroom.store import Store, open_store

pytestmark = pytest.mark.slow

AGENTS = """
import os
from pathlib import Path

import anyio

from greenroom import report_usage
from greenroom.domains import Action


async def slow(stage):
    with Path("begun").open("a") as log:
        log.write(f"{os.getpid()}\\n")
    await anyio.sleep(0.2)
    report_usage(cost=0.05)
    await stage.step(Action("transfer_to_human_agents", {"summary": "no"}))
"""
APP = """
from greenroom import workflow


@workflow
def double(n: int) -> int:
    return 2 * n
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS, encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    return tmp_path


@pytest.fixture
def kept(folder: Path) -> Generator[Store]:
    store = open_store()
    yield store
    store.close()


def greenroom(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "greenroom", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def run_words(*more: str, trials: int = 2) -> list[str]:
    words = ["run", "--agent-strategy", "agents.py:slow", "--name", "shared", "--start-index", "0"]
    return [*words, "--end-index", "20", "--num-trials", str(trials), *more]


def until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


def begun() -> list[int]:
    log = Path("begun")
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended and that nobody has waited for is there no more.
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_worker_that_is_lost_is_replaced(kept: Store) -> None:
    main = greenroom(*run_words("--processes", "2", trials=25))
    until(lambda: len(set(begun())) == 2, "two workers")
    os.kill(begun()[0], signal.SIGKILL)
    said = main.communicate(timeout=120)
    assert main.returncode == 0, said
    assert re.search(r"Worker \d was lost \(signal 9\): another one takes over", said[1])
    assert "pass^1" in said[0]
    run = kept.runs.find("shared")
    assert run.status == "complete"
    assert len(kept.runs.finished(run.id)) == 500
    assert len(set(begun())) == 3


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_all_of_them(kept: Store, number: int, status: int) -> None:
    main = greenroom(*run_words("--processes", "2", trials=9))
    until(lambda: len(set(begun())) == 2, "two workers")
    main.send_signal(number)
    said = main.communicate(timeout=60)
    assert main.returncode == status, said
    assert "Go on with: greenroom resume shared" in said[1]
    assert not any(map(is_alive, set(begun())))
    run = kept.runs.find("shared")
    assert run.status == "interrupted"
    assert kept.runs.workers.standings(run.id) == []
    # What the interrupted episodes had used is kept.
    used = sum(used.cost or 0 for used in kept.runs.usages(run.id))
    assert used == pytest.approx(0.05 * round(used / 0.05))
    again = greenroom("resume", "shared", "--processes", "2", "--json")
    said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert json.loads(said[0])
    assert kept.runs.find("shared").status == "complete"


def test_workers_end_when_the_command_that_started_them_is_killed(kept: Store) -> None:
    main = greenroom(*run_words("--processes", "2", trials=9))
    until(lambda: len(set(begun())) == 2, "two workers")
    main.kill()
    main.communicate()
    until(lambda: not any(map(is_alive, set(begun()))), "the end of the workers")
    assert kept.runs.find("shared").status == "interrupted"


def test_the_budget_holds_over_all_processes(kept: Store) -> None:
    main = greenroom(*run_words("--processes", "3", "--max-cost", "1", trials=9))
    said = main.communicate(timeout=120)
    assert main.returncode == 3, said
    assert "The budget of $1.00 is spent" in said[1]
    assert "--max-cost" in said[1]
    run = kept.runs.find("shared")
    used = sum(used.cost or 0 for used in kept.runs.usages(run.id))
    # What an episode reports is known after the first ones, of which each place has one; and there
    # are up to twice as many places until the first worker has seen that others have come.
    assert 0.9 <= used <= 1.0 + 20 * 0.05


def test_an_error_of_a_worker_is_the_error_of_the_command(folder: Path) -> None:
    first = greenroom(*run_words("--processes", "0"))
    assert first.wait(60) == 0
    first.communicate()
    (folder / "agents.py").unlink()
    again = greenroom("worker", "--run", "shared")
    said = again.communicate(timeout=60)[1]
    assert again.returncode == 2
    assert "agents.py" in said


def test_workers_evaluate_together(kept: Store) -> None:
    kept.test_sets.save("numbers", [{"n": n, "expected": 2 * n} for n in range(60)])
    main = greenroom(
        *("eval", "app.py:double", "numbers", "-e", "exact_match", "--name", "doubled"),
        *("--processes", "2", "--repeats", "3", "--json"),
    )
    said = main.communicate(timeout=120)
    assert main.returncode == 0, said
    evaluation = kept.evaluations.find("doubled")
    assert evaluation.status == "complete"
    assert len(kept.evaluations.finished(evaluation.id)) == 180


def test_a_worker_helps_with_whatever_waits_and_says_what_it_did(kept: Store) -> None:
    for name in ("one", "two"):
        words = ["run", "--task-ids", "3", "5", "--processes", "0", "--name", name]
        done = greenroom(*words, "--agent-strategy", "synthetic")
        done.communicate(timeout=60)
        assert done.returncode == 0
    helper = greenroom("worker", "--json")
    said = helper.communicate(timeout=60)
    assert helper.returncode == 0, said
    worked_on = json.loads(said[0])["worked_on"]
    assert [(one["name"], one["results"]) for one in worked_on] == [("one", 2), ("two", 2)]
    idle = greenroom("worker")
    assert "Nothing waits" in idle.communicate(timeout=60)[1]


def test_a_run_is_paused_retuned_and_goes_on_while_workers_are_at_it(kept: Store) -> None:
    main = greenroom(*run_words("--processes", "2", "--max-concurrency", "2", trials=2))
    until(lambda: len(begun()) > 4, "episodes")
    paused = greenroom("runs", "pause", "shared", "--json")
    said = json.loads(paused.communicate(timeout=60)[0])
    assert said["paused"]
    assert len(said["workers"]) == 2
    time.sleep(3.0)
    before = len(begun())
    time.sleep(1.0)
    assert len(begun()) == before, "nothing begins while it is paused"
    for words in (["set", "shared", "--max-concurrency", "8"], ["go-on", "shared"]):
        asked = greenroom("runs", *words)
        told = asked.communicate(timeout=60)[0]
        assert asked.returncode == 0
        assert "with 2 workers" in told
    said = main.communicate(timeout=120)
    assert main.returncode == 0, said
    run = kept.runs.find("shared")
    assert len(kept.runs.finished(run.id)) == 40


def test_outcomes_are_played_again_by_the_workers_that_are_there(kept: Store) -> None:
    main = greenroom(*run_words("--processes", "2", "--max-concurrency", "2", trials=2))
    run_id = ""

    def some_done() -> bool:
        nonlocal run_id
        run_id = run_id or next((one.id for one in kept.runs.all()), "")
        return bool(run_id) and len(kept.runs.finished(run_id)) >= 6

    until(some_done, "six results")
    kept.runs.controls.change(run_id, paused=True)  # else a busy machine has played all by then
    refused = greenroom("runs", "retry", "shared", "--outcome", "failure")
    assert "--yes" in refused.communicate(timeout=60)[1]
    retried = greenroom("runs", "retry", "shared", "--outcome", "failure", "--yes", "--json")
    again = json.loads(retried.communicate(timeout=60)[0])["again"]
    assert again > 0
    kept.runs.controls.change(run_id, paused=False)
    said = main.communicate(timeout=120)
    assert main.returncode == 0, said
    assert len(kept.runs.finished(run_id)) == 40
    set_aside = [one for one in kept.runs.attempts(run_id) if "set aside" in one.error]
    assert len(set_aside) == again
    assert len(begun()) == 40 + again
