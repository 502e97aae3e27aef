"""Killed at any moment, again and again: nothing is lost, and nothing is played twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from greenroom.analysis.metrics import measure_run
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.errors import UnknownName
from greenroom.store import CellKey, Store
from tests.benchmark import victim
from tests.conftest import ROOT

KILLS = 20


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_twenty_times(store: Store, tmp_path: Path) -> None:
    draw = random.Random(11)
    kills = 0
    safe: set[CellKey] = set()
    while kills < KILLS:
        log = tmp_path / f"log-{kills}"
        process = subprocess.Popen([sys.executable, "-m", "tests.benchmark.victim", log], cwd=ROOT)
        # So many episodes, and not so much time: a busy machine gets as far as an idle one.
        _wait_for_work(log, process, draw.randint(1, 40))
        time.sleep(draw.uniform(0.0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        begun = _begun(log)
        assert begun, "the process was killed at work"
        assert not begun & safe, "an episode with a result was played again"
        now = _finished(store)
        assert safe <= now, "an episode with a result was lost"
        safe = now
    assert 0 < len(safe) < _planned(store), "the kills fell into the middle of the run"

    last = tmp_path / "log-last"
    subprocess.run([sys.executable, "-m", "tests.benchmark.victim", last], cwd=ROOT, check=True)
    assert not _begun(last) & safe
    run = store.runs.find(victim.NAME)
    assert run.status == "complete"
    assert _outcomes(store, victim.NAME) == _undisturbed_outcomes(store)


def _wait_for_work(log: Path, process: subprocess.Popen[bytes], episodes: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        # The file may be there before its first whole line is.
        if log.exists() and log.read_text().count("\n") >= episodes:
            return
        assert process.poll() is None, "there was nothing left to play"
        time.sleep(0.005)


def _begun(log: Path) -> set[CellKey]:
    # The last line may have been cut off by the kill.
    lines = log.read_text().splitlines(keepends=True)
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return {(int(task), int(trial)) for task, trial in pairs}


def _finished(store: Store) -> set[CellKey]:
    try:
        return store.runs.finished(store.runs.find(victim.NAME).id)
    except UnknownName:
        return set()


def _planned(store: Store) -> int:
    return store.runs.find(victim.NAME).planned


def _undisturbed_outcomes(store: Store) -> object:
    run, prepared = start_run(store, check_config(victim.CONFIG), name="undisturbed")
    anyio.run(lambda: play_run(store, run, prepared))
    return _outcomes(store, "undisturbed")


def _outcomes(store: Store, name: str) -> object:
    run = store.runs.find(name)
    episodes = store.runs.summaries(run.id)
    metrics = measure_run(episodes, task_indices=run.task_indices, num_trials=run.num_trials)
    outcomes = [(e.task_index, e.trial, e.outcome, e.reward, e.step_count) for e in episodes]
    return outcomes, metrics.conventions, metrics.turn_curve
