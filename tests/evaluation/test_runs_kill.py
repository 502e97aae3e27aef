"""Killed at any moment, again and again: nothing is lost, and nothing finished is done twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import anyio
import pytest

from greenroom.errors import UnknownName
from greenroom.evaluation import measure_evaluation
from greenroom.store import CellKey, Store
from tests.conftest import ROOT
from tests.evaluation import victim

KILLS = 12


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_twelve_times(store: Store, tmp_path: Path) -> None:
    draw = random.Random(7)
    safe: set[CellKey] = set()
    for kill in range(KILLS):
        log = tmp_path / f"log-{kill}"
        process = subprocess.Popen([sys.executable, "-m", "tests.evaluation.victim", log], cwd=ROOT)
        _wait_for_work(log, process)
        time.sleep(draw.uniform(0.0, 0.06))
        process.send_signal(signal.SIGKILL)
        process.wait()
        begun = _begun(log)
        assert begun, "the process was killed at work"
        _assert_not_done_again(begun, safe)
        now = _finished(store)
        assert safe <= now, "a result was lost"
        safe = now
    assert 0 < len(safe) < 2 * victim.ROWS, "the kills fell into the middle of the evaluation"

    last = tmp_path / "log-last"
    subprocess.run([sys.executable, "-m", "tests.evaluation.victim", last], cwd=ROOT, check=True)
    left = Counter(_begun(last))
    assert left == Counter(n for n in range(victim.ROWS) for r in range(2) if (n, r) not in safe)
    assert store.evaluations.find(victim.NAME).status == "complete"
    assert _outcome(store, victim.NAME) == _undisturbed(store)


def _wait_for_work(log: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not log.exists() and time.monotonic() < deadline:
        assert process.poll() is None, "there was nothing left to call"
        time.sleep(0.005)


def _begun(log: Path) -> list[int]:
    # The last line may have been cut off by the kill.
    lines = log.read_text().splitlines(keepends=True)
    return [int(line) for line in lines if line.endswith("\n")]


def _assert_not_done_again(begun: list[int], safe: set[CellKey]) -> None:
    for number, times in Counter(begun).items():
        left = 2 - len({(number, 0), (number, 1)} & safe)
        assert times <= left, "a call with a result was made again"


def _finished(store: Store) -> set[CellKey]:
    try:
        return store.evaluations.finished(store.evaluations.find(victim.NAME).id)
    except UnknownName:
        return set()


def _undisturbed(store: Store) -> object:
    anyio.run(victim.work, store, "undisturbed", None)
    return _outcome(store, "undisturbed")


def _outcome(store: Store, name: str) -> object:
    evaluation = store.evaluations.find(name)
    results = [
        (one.row, one.repeat, one.outcome, one.outputs, one.scores)
        for one in store.evaluations.results(evaluation.id)
    ]
    figures = measure_evaluation(store, evaluation)
    return results, figures.evaluators, figures.with_result, figures.errors
