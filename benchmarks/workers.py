"""What it costs to share a run: claims per episode, and how much faster more processes are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from sqlalchemy import URL
from tests.postgres import program, running_postgres

from benchmarks.measures import Measure, cpu_seconds
from benchmarks.storage import bench_run
from greenroom.models.pace import OwnSlots, Pace, Slots
from greenroom.store import CellKey, Store, open_engine, open_store, this_process
from greenroom.store.database import URL_VARIABLE

CELLS = 10_000
AT_ONCE = 10
MOST = 2.0
"""Milliseconds of CPU that claims may take for each episode."""
TRIALS = 40
FASTWORKFLOW_TASKS = 12
WORKERS, RATE, CALLS = 4, 50, 300


def claims() -> Iterator[Measure]:
    """The queue of a run: filled, claimed a few at a time, and emptied. Naive: one at a time."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_engine(URL.create("sqlite", database=str(Path(folder) / "runs.db"))))
        store.runs.create(bench_run())
        _work_off(store, 100, AT_ONCE)  # what happens once stays outside
        ours = cpu_seconds(lambda: _work_off(store, CELLS, AT_ONCE)) / CELLS * 1e3
        naive = cpu_seconds(lambda: _work_off(store, CELLS // 10, 1)) / (CELLS // 10) * 1e3
        store.close()
    name = f"claims of {CELLS:,} episodes, {AT_ONCE} at a time: CPU for each"
    yield Measure(name, f"{ours:.2f} ms", f"{naive:.2f} ms", ours, " ms", at_most=MOST)


def processes() -> Iterator[Measure]:
    """Runs of agents that use the CPU: by one process, and by one a core.

    Synthetic agents do next to nothing, so the store's part shows: SQLite has one writer. What
    FastWorkflow's agents use, they use in processes of their own from the start.
    """
    count = max(os.cpu_count() or 1, 2)

    def measure(what: str, urls: Sequence[str], command: Sequence[str]) -> Measure:
        alone, together = (
            _rate(url, number, command) for number, url in zip((1, count), urls, strict=True)
        )
        name = f"{what}: episodes a second of {count} processes against one"
        ours, naive = (f"{rate:,.{0 if rate > 100 else 1}f}/s" for rate in (together, alone))
        return Measure(name, ours, naive, together / alone, "x")

    with tempfile.TemporaryDirectory() as folder:
        files = [f"sqlite:///{folder}/{name}.db" for name in "abcd"]
        synthetic = ["--agent-strategy", "synthetic", "--num-trials", str(TRIALS)]
        yield measure("synthetic agents on SQLite", files[:2], synthetic)
        if program("postgres"):
            with running_postgres() as server:
                databases = [server.new_database() for _ in range(2)]
                yield measure("synthetic agents on PostgreSQL", databases, synthetic)
        with _models() as url:
            tasks = map(str, range(1, FASTWORKFLOW_TASKS + 1))
            agent = ["--agent-strategy", "fastworkflow", "--model", "oracle", "--api-base", url]
            command = [*agent, "--task-ids", *tasks, "--num-trials", "3"]
            yield measure("FastWorkflow agents on SQLite", files[2:], command)


def shared_rate() -> Iterator[Measure]:
    """Calls of four workers that share a provider's rate: how many leave, and how evenly.

    Naive: each worker keeps the rate by itself.
    """
    with tempfile.TemporaryDirectory() as folder:
        url = URL.create("sqlite", database=str(Path(folder) / "runs.db"))
        stores = [Store(open_engine(url)) for _ in range(WORKERS)]
        left = anyio.run(_asked, [_Slots(store) for store in stores])
        for store in stores:
            store.close()
    alone = anyio.run(_asked, [OwnSlots() for _ in range(WORKERS)])
    name = f"{WORKERS} workers at {RATE} calls a second together"
    ours, naive = (len(one) / (one[-1] - one[0]) for one in (left, alone))
    yield Measure(
        f"{name}: share of the rate that is used",
        f"{ours:.0f}/s",
        f"{naive:.0f}/s",
        100 * ours / RATE,
        " %",
        at_least=90.0,
    )
    most, naive_most = (
        max(sum(0 <= other - one < 1 for other in times) for one in times)
        for times in (left, alone)
    )
    yield Measure(
        f"{name}: the most in any second",
        f"{most}",
        f"{naive_most}",
        100 * most / RATE,
        " %",
        at_most=110.0,
    )


@dataclass(frozen=True)
class _Slots:
    store: Store

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        reserve = partial(self.store.runs.endpoints.reserve, endpoint, rate, count)
        seconds, reserved = await anyio.to_thread.run_sync(reserve)
        return time.monotonic() + seconds, reserved

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        return self.store.runs.endpoints.overloaded(endpoint, seconds)


async def _asked(slots: Sequence[Slots]) -> list[float]:
    """When calls leave that are made as soon as they may."""
    left: list[float] = []

    async def ask(pace: Pace) -> None:
        while len(left) < CALLS:
            await pace.wait()
            left.append(time.monotonic())

    async with anyio.create_task_group() as group:
        for one in slots:
            pace = Pace("provider", RATE, one)
            for _ in range(AT_ONCE):
                group.start_soon(ask, pace)
    return sorted(left)[:CALLS]


def _work_off(store: Store, count: int, at_once: int) -> None:
    keys: list[CellKey] = [(number, 0) for number in range(count)]
    owner = this_process()
    workers = store.runs.workers
    workers.join("bench", "bench", owner, lambda _: keys)
    while claimed := workers.claim("bench", owner, at_once):
        workers.drop("bench", [key for _, key in claimed])
    workers.leave("bench", owner)


@contextmanager
def _models() -> Generator[str]:
    """The address of scripted models in a process of their own."""
    command = [sys.executable, "-m", "greenroom", "model-server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        assert server.stdout is not None
        try:
            said = server.stdout.readline().decode()
            found = re.search(r"http://\S+", said)
            assert found is not None, f"the model server said: {said}"
            yield found.group()
        finally:
            server.terminate()


def _rate(url: str, processes: int, command: Sequence[str]) -> float:
    """Episodes a second, from the beginning of the first to the end of the last one."""
    start = [sys.executable, "-m", "greenroom", "run", *command]
    subprocess.run(
        [*start, "--processes", str(processes), "--name", "bench"],
        env={**os.environ, URL_VARIABLE: url},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    store = open_store(url)
    times: list[tuple[datetime, datetime]] = [
        (one.started_at, one.started_at + timedelta(seconds=one.seconds))
        for one in store.runs.results(store.runs.find("bench").id)
    ]
    store.close()
    took = max(end for _, end in times) - min(start for start, _ in times)
    return len(times) / took.total_seconds()
