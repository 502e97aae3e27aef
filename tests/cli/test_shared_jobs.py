"""Judgings and regradings that several processes share: the same results as by one alone."""

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
from typing import Any

import pytest

from greenroom.domains.domain import load_domain
from greenroom.model_server import RunningServer, ServerSettings, TimeRange, running_server
from greenroom.store import CellKey, Jobs, RunRecord, Store, open_store
from tests.cli.running import Greenroom

pytestmark = pytest.mark.slow

TRIALS = 20


@pytest.fixture
def kept(any_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Store]:
    monkeypatch.chdir(tmp_path)
    store = open_store()
    yield store
    store.close()


@pytest.fixture
def run(kept: Store, greenroom: Greenroom) -> RunRecord:
    """A run that is large enough to be disturbed while it is looked at."""
    assert greenroom("run", "--agent-strategy", "synthetic", "--name", "small").status == 0
    small = kept.runs.find("small")
    large = small.model_copy(update={"id": "large", "name": "large", "num_trials": TRIALS})
    kept.runs.create(large)
    episodes = list(kept.runs.results(small.id))
    for trial in range(TRIALS):
        kept.runs.add(large.id, [one.model_copy(update={"trial": trial}) for one in episodes])
    return kept.runs.find("large")


@pytest.fixture
def server() -> Generator[RunningServer]:
    slow = ServerSettings(latency=TimeRange(0.05, 0.05))
    with running_server(load_domain("retail"), settings=slow) as running:
        yield running


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "greenroom", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


def kill_one_at_work(jobs: Jobs[Any, Any, Any]) -> None:
    """Kill a worker that has cells, once there are results, and while there is something to do."""

    def killed() -> bool:
        job = next(iter(jobs.all()), None)
        if job is None or not jobs.finished(job.id):
            return False
        assert job.status != "complete", "it was over too soon to be disturbed"
        busy = [one for one in jobs.workers.standings(job.id) if one.claimed]
        if busy:
            os.kill(busy[0].pid, signal.SIGKILL)
        return bool(busy)

    until(killed, "a worker in the middle of its work")


def test_a_judging_is_shared_and_a_worker_is_killed(
    kept: Store, run: RunRecord, server: RunningServer, greenroom: Greenroom
) -> None:
    words = ("identify", "large", "--judge-model", "judge", "--judge-api-base", server.api_base)
    words += ("--max-failures", "200", "--json")
    main = started(*words, "--processes", "3", "--max-concurrency", "6")
    kill_one_at_work(kept.judgings)
    out, err = main.communicate(timeout=120)
    assert main.returncode == 0, err
    assert re.search(r"Worker \d was lost \(signal 9\): another one takes over", err)
    told = json.loads(out)
    assert (told["summary"]["judged"], told["summary"]["without_verdict"]) == (200, 0)
    (shared,) = kept.judgings.all(parent=run.id)
    assert shared.status == "complete"
    assert greenroom(*words, "--again").status == 0
    alone = kept.judgings.all(parent=run.id)[0]
    assert alone.id != shared.id
    assert _verdicts(kept, shared.id) == _verdicts(kept, alone.id)
    # It is kept: the same command asks nobody.
    asked = server.stats.requests
    assert greenroom(*words, "--processes", "2").status == 0
    assert server.stats.requests == asked


def _verdicts(store: Store, judging: str) -> dict[CellKey, tuple[object, ...]]:
    return {
        one.key: (one.outcome, one.author, one.kind, one.author_description)
        for one in store.judgings.results(judging)
    }


def test_a_regrading_is_shared_and_a_worker_is_killed(
    kept: Store, run: RunRecord, greenroom: Greenroom
) -> None:
    words = ("regrade", "large", "--basis", "outputs", "--json")
    main = started(*words, "--processes", "2")
    kill_one_at_work(kept.regradings)
    out, err = main.communicate(timeout=120)
    assert main.returncode == 0, err
    assert "was lost (signal 9)" in err
    assert json.loads(out)["summary"]["graded"] == run.planned
    (shared,) = kept.regradings.all(parent=run.id)
    assert shared.status == "complete"
    assert greenroom(*words).status == 0
    alone = kept.regradings.all(parent=run.id)[0]
    assert alone.id != shared.id
    assert _grades(kept, shared.id) == _grades(kept, alone.id)
    assert any(one[2] for one in _grades(kept, alone.id).values()), "some grades flip"


def _grades(store: Store, regrading: str) -> dict[CellKey, tuple[object, ...]]:
    return {
        one.key: (one.outcome, one.reward, one.flip, one.reasons)
        for one in store.regradings.results(regrading)
    }


def test_workers_help_with_all_kinds_and_are_looked_after(
    kept: Store, run: RunRecord, server: RunningServer, greenroom: Greenroom
) -> None:
    ask = ("identify", "large", "--judge-model", "judge", "--judge-api-base", server.api_base)
    waits = greenroom(*ask, "--max-failures", "30", "--processes", "0")
    assert "greenroom worker --judging large-judged-1" in waits.out
    waits = greenroom("regrade", "large", "--processes", "0")
    assert "greenroom worker --regrading large-regraded-1" in waits.out
    for group, name in (("judgings", "large-judged-1"), ("regradings", "large-regraded-1")):
        assert greenroom(group, "pause", name, "--json").json["paused"]
        limited = greenroom(group, "set", name, "--max-concurrency", "3", "--json").json
        assert limited["set"] == {"max_concurrency": 3}
        said = greenroom(group, "go-on", name).out
        assert f"Nobody works on it: greenroom worker --{group.removesuffix('s')} {name}" in said
        assert greenroom(group, "watch", name, "--json").json["finished"] == 0
        assert name in greenroom(group, "list").out
    worker = started("worker", "--json")
    out, err = worker.communicate(timeout=120)
    assert worker.returncode == 0, err
    assert [tuple(one.values()) for one in json.loads(out)["worked_on"]] == [
        ("judging", "large-judged-1", 30),
        ("regrading", "large-regraded-1", run.planned),
    ]
    shown = greenroom("judgings", "show", "large-judged-1").out
    assert "30 of 30 failures judged by judge" in shown
    assert greenroom("regradings", "show", "large-regraded-1", "--json").json["flips"] == []
    again = greenroom("judgings", "retry", "large-judged-1", "--outcome", "answered", "--yes")
    assert "30 judgements" in again.out
    assert "greenroom worker --judging large-judged-1" in again.out
    assert greenroom("worker", "--judging", "large-judged-1").status == 0
    assert kept.judgings.find("large-judged-1").status == "complete"
    set_aside = greenroom("judgings", "attempts", "large-judged-1", "--json").json
    assert len(set_aside) == 30


def test_a_worker_does_not_grade_by_other_data(greenroom: Greenroom, tmp_path: Path) -> None:
    world = tmp_path / "world"
    assert greenroom("generate", "--tasks", "2", "-o", world).status == 0
    assert greenroom("run", "--data", world, "--name", "played").status == 0
    assert greenroom("regrade", "played", "--processes", "0").status == 0
    again = ("generate", "--tasks", "2", "--seed", "77", "-o", world, "--replace")
    assert greenroom(*again).status == 0
    refused = greenroom("worker", "--regrading", "played-regraded-1")
    assert refused.status == 2
    assert "The data of 'played-regraded-1' has changed" in refused.err


def test_what_is_not_kept_is_not_shared(greenroom: Greenroom, tmp_path: Path) -> None:
    assert greenroom("run", "--task-ids", "3", "--name", "one").status == 0
    exported = tmp_path / "one.json"
    form = ("--format", "tau-bench", "-o", exported)
    assert greenroom("runs", "export", "one", *form).status == 0
    for words in (("identify", exported, "--judge-model", "m"), ("regrade", exported)):
        refused = greenroom(*words, "--processes", "2")
        assert refused.status == 2
        assert "leave --processes" in refused.err
