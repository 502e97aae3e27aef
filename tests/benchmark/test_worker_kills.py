"""Workers killed at random moments, and their database, too: nothing is lost or played twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from greenroom.benchmark import check_config, enqueue_run, play_run, start_run
from greenroom.store import CellKey, RunRecord, Store, open_store
from tests.benchmark import slow_agent
from tests.postgres import Postgres, running_postgres

pytestmark = pytest.mark.slow

AGENT = f"{slow_agent.__file__}:strategy"
CONFIG = {"num_trials": 6, "max_concurrency": 12, "seed": 3}
NAME = "shared"


class Crowd:
    """Worker processes on one run; one that is killed is replaced."""

    def __init__(self, count: int, folder: Path) -> None:
        self._folder = folder
        self.log = folder / "begun"
        self.killed: set[int] = set()
        self.workers = [self._start() for _ in range(count)]

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            slow_agent.LOG_VARIABLE: str(self.log),
            slow_agent.SECONDS_VARIABLE: "0.3",
        }
        with (self._folder / "said").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "greenroom", "worker", "--run", NAME],
                env=environment,
                cwd=self._folder,
                stderr=said,
            )

    def kill(self, draw: random.Random, count: int) -> None:
        for place in draw.sample(range(len(self.workers)), count):
            victim = self.workers[place]
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            self.killed.add(victim.pid)
            self.workers[place] = self._start()

    def begun(self) -> dict[CellKey, list[int]]:
        """By episode: the processes that began it."""
        found: dict[CellKey, list[int]] = defaultdict(list)
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            pid, task, trial = map(int, line.split())
            found[task, trial].append(pid)
        return found

    def wait_for(self, begun: int) -> None:
        """Wait until so many attempts have begun: a busy machine gets as far as an idle one."""
        deadline = time.monotonic() + 120
        while sum(map(len, self.begun().values())) < begun:
            assert time.monotonic() < deadline, (self._folder / "said").read_text()
            time.sleep(0.02)

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


@pytest.fixture
def postgres_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Generator[Postgres]:
    with running_postgres() as server:
        monkeypatch.setenv("GREENROOM_DATABASE_URL", server.url())
        yield server


def _enqueued(store: Store) -> RunRecord:
    config = check_config({**CONFIG, "agent_strategy": AGENT})
    run, context = start_run(store, config, name=NAME)
    enqueue_run(store, run, context)
    return run


def _check(store: Store, run: RunRecord, crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    for worker in crowd.workers:
        assert worker.wait(timeout=120) == 0, (crowd.log.parent / "said").read_text()
    assert store.runs.find(NAME).status == "complete"
    begun = crowd.begun()
    assert len(begun) == run.planned, "none was lost"
    for key, pids in begun.items():
        assert set(pids[:-1]) <= crowd.killed, f"{key} was played twice"
    assert store.runs.workers.standings(run.id) == []
    # The same seed in one process.
    monkeypatch.setenv(slow_agent.LOG_VARIABLE, os.devnull)
    monkeypatch.setenv(slow_agent.SECONDS_VARIABLE, "0")
    config = check_config({**CONFIG, "agent_strategy": AGENT})
    alone, context = start_run(store, config, name="alone")
    anyio.run(lambda: play_run(store, alone, context))
    assert _outcomes(store, run) == _outcomes(store, alone)


def _outcomes(store: Store, run: RunRecord) -> list[tuple[object, ...]]:
    episodes = store.runs.summaries(run.id)
    return [(e.task_index, e.trial, e.outcome, e.reward, e.step_count) for e in episodes]


@pytest.mark.timeout(400)
def test_workers_and_their_postgresql_server_are_killed(
    postgres_of_its_own: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(7)
    store = open_store()
    run = _enqueued(store)
    crowd = Crowd(6, tmp_path)
    try:
        for number in range(10):
            crowd.wait_for((number + 1) * run.planned // 12)
            time.sleep(draw.uniform(0.0, 0.2))
            crowd.kill(draw, 2)
            if number in (3, 7):
                postgres_of_its_own.stop()
                time.sleep(1.0)
                postgres_of_its_own.start()
        _check(store, run, crowd, monkeypatch)
    finally:
        crowd.end()
        store.close()


@pytest.mark.timeout(300)
def test_workers_on_one_file_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    store = open_store()
    run = _enqueued(store)
    crowd = Crowd(3, tmp_path)
    try:
        for number in range(6):
            crowd.wait_for((number + 1) * run.planned // 8)
            time.sleep(draw.uniform(0.0, 0.2))
            crowd.kill(draw, 1)
        _check(store, run, crowd, monkeypatch)
    finally:
        crowd.end()
        store.close()
