"""Killed at any moment, again and again: nothing is lost, and nothing finished is done twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from greenroom.analysis import measure_evaluation
from greenroom.errors import UnknownName
from greenroom.model_server import running_server
from greenroom.store import CellKey, Store, open_store
from tests.conftest import ROOT
from tests.domains.small import small_domain
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
        # So many calls, and not so much time: a busy machine gets as far as an idle one.
        _wait_for_work(log, process, draw.randint(1, 20))
        time.sleep(draw.uniform(0.0, 0.01))
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


def _wait_for_work(log: Path, process: subprocess.Popen[bytes], calls: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        # The file may be there before its first whole line is.
        if log.exists() and log.read_text().count("\n") >= calls:
            return
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


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ten_thousand_rows_are_killed_and_resumed_exactly() -> None:
    # The server counts its calls, so it knows of every one that was made twice.
    rows, at_once, kills = 10_000, 20, 3
    domain = small_domain()
    tasks = domain.tasks("test")
    store = open_store()
    store.test_sets.save(
        "many",
        (
            {"task": tasks[n % 3].instruction, "expected": "One moment, please."}
            for n in range(rows)
        ),
    )
    with running_server(domain) as server:
        begin = ["eval", f"{server.api_base}#oracle", "many", "-e", "exact_match", "--name", "many"]
        begin += ["--max-concurrency", str(at_once)]
        resume = ["evals", "resume", "many"]
        for kill in range(kills):
            process = _command(begin if kill == 0 else resume)
            _wait_until(process, lambda wanted=1500 * (kill + 1): _kept(store, "many") >= wanted)
            process.send_signal(signal.SIGKILL)
            process.wait()
        kept = _kept(store, "many")
        assert kept < rows, "the kills fell into the middle of the evaluation"
        process = _command(resume)
        assert process.wait() == 0
        asked = server.stats.requests
    evaluation = store.evaluations.find("many")
    figures = measure_evaluation(store, evaluation)
    assert (figures.with_result, figures.errors, figures.missing) == (rows, 0, 0)
    assert figures.evaluators[0].passed.value == 1.0
    assert rows <= asked <= rows + kills * at_once, "only calls under way were made again"
    store.close()


def _command(arguments: list[str]) -> subprocess.Popen[bytes]:
    code = "from greenroom.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_until(process: subprocess.Popen[bytes], holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert process.poll() is None, "there was nothing left to call"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _kept(store: Store, name: str) -> int:
    try:
        return len(store.evaluations.finished(store.evaluations.find(name).id))
    except UnknownName:
        return 0
