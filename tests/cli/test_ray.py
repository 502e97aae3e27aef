"""`--executor ray`: workers on a real cluster whose processes and nodes are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from pathlib import Path

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import RunRecord, Store, open_store
from tests.benchmark import slow_agent
from tests.postgres import Postgres
from tests.ray_nodes import Cluster, command, descendants, ray_environment, running_cluster

pytestmark = pytest.mark.slow

AGENT = f"{slow_agent.__file__}:strategy"
KEY = "SOME_PROVIDER_KEY"
AGENTS = f"""
import os

import anyio

from greenroom import report_usage
from greenroom.domains import Action


async def slow(stage):
    await anyio.sleep(0.2)
    report_usage(cost=0.05)
    await stage.step(Action("transfer_to_human_agents", {{"summary": "no"}}))


async def careful(stage):
    await stage.step(Action("transfer_to_human_agents", {{"summary": "no"}}))


key = os.environ["{KEY}"]
"""
APP = """
from greenroom import workflow


@workflow
def double(n: int) -> int:
    return 2 * n
"""


@pytest.fixture(scope="module")
def cluster() -> Generator[Cluster]:
    with ray_environment(), running_cluster(2) as running:
        yield running


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Store]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS, encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    monkeypatch.setenv(KEY, "planted-key-7f3e")
    store = open_store()
    yield store
    store.close()


def greenroom(cluster: Cluster, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "greenroom", *words),
            *("--executor", "ray", "--ray-address", cluster.address),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def run_words(*more: str, agent: str = "agents.py:slow", trials: int = 2) -> list[str]:
    words = ["run", "--agent-strategy", agent, "--name", "shared", "--start-index", "0"]
    return [*words, "--end-index", "20", "--num-trials", str(trials), "--worker-env", KEY, *more]


def until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.05)


def worker_pids(store: Store, name: str = "shared") -> list[int]:
    """The workers of the run just now, in the order in which they came."""
    found = [run for run in store.runs.all() if run.name == name]
    return [one.pid for run in found for one in store.runs.workers.standings(run.id)]


def is_worker(pid: int) -> bool:
    return "greenroom worker" in command(pid)


def test_a_worker_and_a_node_are_killed(
    cluster: Cluster, kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.add(2)
    log = tmp_path / "begun"
    monkeypatch.setenv(slow_agent.LOG_VARIABLE, str(log))
    monkeypatch.setenv(slow_agent.SECONDS_VARIABLE, "0.3")
    config = {"end_index": 40, "num_trials": 50, "max_concurrency": 40, "seed": 3}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in config.items()]
    handed = ("--worker-env", slow_agent.LOG_VARIABLE, "--worker-env", slow_agent.SECONDS_VARIABLE)
    main = greenroom(
        *(cluster, "run", "--agent-strategy", AGENT, "--name", "shared", *flags, *handed)
    )

    def begun() -> list[list[int]]:
        lines = log.read_text().splitlines() if log.exists() else []
        return [[int(word) for word in line.split()] for line in lines]

    until(lambda: len({pid for pid, *_ in begun()}) == 4, "four workers")
    until(lambda: len(begun()) > 400, "400 episodes")
    on_second = {pid for pid in descendants(second.process.pid) if is_worker(pid)}
    assert len(on_second) == 2
    victim = next(pid for pid in worker_pids(kept) if pid not in on_second)
    os.kill(victim, signal.SIGKILL)
    until(lambda: len({pid for pid, *_ in begun()}) == 5, "another worker")
    until(lambda: len(begun()) > 1000, "1000 episodes")
    second.kill()
    said = main.communicate(timeout=120)
    assert main.returncode == 0, said
    assert "was lost (signal 9): another one takes over" in said[1]
    assert "is gone): another one takes over" in said[1]
    assert not any(map(is_worker, on_second))

    run = kept.runs.find("shared")
    assert run.status == "complete"
    assert len(kept.runs.finished(run.id)) == run.planned == 2000
    by_cell: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for pid, *cell in begun():
        by_cell[tuple(cell)].append(pid)
    assert len(by_cell) == 2000, "none was lost"
    for cell, pids in by_cell.items():
        assert set(pids[:-1]) <= on_second | {victim}, f"{cell} was played twice"
    # The same seed in one process.
    monkeypatch.setenv(slow_agent.LOG_VARIABLE, os.devnull)
    monkeypatch.setenv(slow_agent.SECONDS_VARIABLE, "0")
    alone, context = start_run(kept, check_config({**config, "agent_strategy": AGENT}))
    anyio.run(lambda: play_run(kept, alone, context))
    assert outcomes(kept, run) == outcomes(kept, alone)
    second.end()


def outcomes(store: Store, run: RunRecord) -> list[tuple[object, ...]]:
    episodes = store.runs.summaries(run.id)
    return [(e.task_index, e.trial, e.outcome, e.reward, e.step_count) for e in episodes]


def test_a_node_that_joins_gets_workers(cluster: Cluster, kept: Store) -> None:
    main = greenroom(cluster, *run_words("--processes", "3", trials=20))
    until(lambda: len(worker_pids(kept)) == 2, "two workers on the one node")
    before = set(worker_pids(kept))
    node = cluster.add(4)
    until(lambda: len(worker_pids(kept)) == 3, "a third worker")
    assert set(worker_pids(kept)) > before, "no more than were asked for, and nobody was moved"
    main.send_signal(signal.SIGINT)
    main.communicate(timeout=60)
    node.leave()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_workers(cluster: Cluster, kept: Store, number: int) -> None:
    main = greenroom(cluster, *run_words(trials=20))
    until(lambda: len(worker_pids(kept)) == 2, "two workers")
    workers = worker_pids(kept)
    main.send_signal(number)
    said = main.communicate(timeout=60)
    assert main.returncode == 128 + number, said
    assert "Go on with: greenroom resume shared" in said[1]
    assert not any(map(is_worker, workers))
    run = kept.runs.find("shared")
    assert run.status == "interrupted"
    assert kept.runs.workers.standings(run.id) == [], "they have said good-bye"


def test_workers_end_when_their_command_is_killed(cluster: Cluster, kept: Store) -> None:
    main = greenroom(cluster, *run_words(trials=5))
    until(lambda: len(worker_pids(kept)) == 2, "two workers")
    workers = worker_pids(kept)
    main.kill()
    main.communicate()
    until(lambda: not any(map(is_worker, workers)), "the end of the workers")
    until(lambda: not worker_pids(kept), "the end of their leases")
    again = greenroom(cluster, "resume", "shared", "--worker-env", KEY, "--json")
    said = again.communicate(timeout=90)
    assert again.returncode == 0, said
    assert json.loads(said[0])
    run = kept.runs.find("shared")
    assert len(kept.runs.finished(run.id)) == 100


def test_the_budget_holds_over_all_workers(cluster: Cluster, kept: Store) -> None:
    main = greenroom(cluster, *run_words("--max-cost", "1", trials=9))
    said = main.communicate(timeout=90)
    assert main.returncode == 3, said
    assert "The budget of $1.00 is spent" in said[1]
    run = kept.runs.find("shared")
    used = sum(used.cost or 0 for used in kept.runs.usages(run.id))
    # What an episode reports is known after the first ones, of which each place has one; and there
    # are up to twice as many places until the first worker has seen that others have come.
    assert 0.9 <= used <= 1.0 + 20 * 0.05


def test_an_error_of_a_worker_is_the_error_of_the_command(cluster: Cluster, kept: Store) -> None:
    words = [word for word in run_words() if word not in ("--worker-env", KEY)]
    main = greenroom(cluster, *words)
    said = main.communicate(timeout=90)
    assert main.returncode == 2, said
    assert f"KeyError: '{KEY}'" in said[1]
    assert "Traceback" not in said[1]


def test_a_request_that_fits_nowhere_is_told(cluster: Cluster, kept: Store) -> None:
    words = [sys.executable, "-m", "greenroom", *run_words("--executor", "ray")]
    alone = subprocess.run(
        [*words, "--worker-gpus", "64"], capture_output=True, text=True, timeout=60
    )
    assert alone.returncode == 2, alone
    assert "No node has room for a worker. Each needs 1 CPUs, 64 GPUs; the cluster has" in (
        alone.stderr
    )
    waiting = greenroom(cluster, *run_words("--worker-cpus", "3"))
    assert waiting.stderr is not None
    lines = [waiting.stderr.readline(), waiting.stderr.readline()]
    assert "Each needs 3 CPUs" in lines[1], lines
    assert "Waiting up to 10 minutes" in lines[1]
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=60)
    assert waiting.returncode == 130


def test_an_evaluation_on_the_cluster(cluster: Cluster, kept: Store) -> None:
    kept.test_sets.save("numbers", [{"n": n, "expected": 2 * n} for n in range(60)])
    main = greenroom(
        cluster,
        *("eval", "app.py:double", "numbers", "-e", "exact_match", "--name", "doubled"),
        *("--repeats", "3", "--json"),
    )
    said = main.communicate(timeout=90)
    assert main.returncode == 0, said
    evaluation = kept.evaluations.find("doubled")
    assert evaluation.status == "complete"
    assert len(kept.evaluations.finished(evaluation.id)) == 180


def test_a_regrading_on_the_cluster(cluster: Cluster, kept: Store) -> None:
    played = subprocess.run(
        [
            sys.executable,
            "-m",
            "greenroom",
            "run",
            "--agent-strategy",
            "synthetic",
            "--name",
            "one",
        ],
        capture_output=True,
        timeout=60,
    )
    assert played.returncode == 0, played
    main = greenroom(cluster, "regrade", "one", "--basis", "database", "--json")
    said = main.communicate(timeout=90)
    assert main.returncode == 0, said
    (regrading,) = kept.regradings.all()
    run = kept.runs.find("one")
    assert len(kept.regradings.finished(regrading.id)) == len(kept.runs.finished(run.id))
    assert "Ray: " in said[1]


def test_passwords_reach_workers_and_no_file_of_ray(
    cluster: Cluster, postgres: Postgres, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_database().replace("not-a-secret", "planted-url-7f3e")
    monkeypatch.setenv("GREENROOM_DATABASE_URL", url)
    monkeypatch.setenv("PGPASSWORD", "planted-variable-7f3e")
    main = greenroom(cluster, *run_words(agent="agents.py:careful"))
    said = main.communicate(timeout=90)
    assert main.returncode == 0, said
    store = open_store()
    assert len(store.runs.finished(store.runs.find("shared").id)) == 40
    store.close()
    assert "7f3e" not in said[0] + said[1]
    written = [one for one in cluster.session.rglob("*") if one.is_file()]
    assert written
    assert not [one for one in written if b"7f3e" in one.read_bytes()]
