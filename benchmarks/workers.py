"""What it costs to share a run: claims per episode, and how much faster more processes are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import URL

from benchmarks.measures import Measure, cpu_seconds
from benchmarks.storage import bench_run
from greenroom.store import CellKey, Store, open_engine, this_process
from greenroom.store.database import URL_VARIABLE

CELLS = 10_000
AT_ONCE = 10
MOST = 2.0
"""Milliseconds of CPU that claims may take for each episode."""
TRIALS = 40


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
    """A run of synthetic agents, which only use the CPU: by one process, and by one a core."""
    count = max(os.cpu_count() or 1, 2)
    with tempfile.TemporaryDirectory() as folder:
        alone, together = (_rate(Path(folder), number) for number in (1, count))
    name = f"synthetic agents: episodes a second of {count} processes against one"
    yield Measure(name, f"{together:.0f}/s", f"{alone:.0f}/s", together / alone, "x")


def _work_off(store: Store, count: int, at_once: int) -> None:
    keys: list[CellKey] = [(number, 0) for number in range(count)]
    owner = this_process()
    workers = store.runs.workers
    workers.join("bench", "bench", owner, lambda _: keys)
    while claimed := workers.claim("bench", owner, at_once):
        workers.drop("bench", [key for _, key in claimed])
    workers.leave("bench", owner)


def _rate(folder: Path, processes: int) -> float:
    """Episodes a second, from the beginning of the first to the end of the last one."""
    url = f"sqlite:///{folder / f'{processes}.db'}"
    command = [sys.executable, "-m", "greenroom", "run", "--agent-strategy", "synthetic"]
    command += ["--num-trials", str(TRIALS), "--processes", str(processes), "--name", "bench"]
    subprocess.run(
        command,
        env={**os.environ, URL_VARIABLE: url},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    store = Store(open_engine(URL.create("sqlite", database=str(folder / f"{processes}.db"))))
    times: list[tuple[datetime, datetime]] = [
        (one.started_at, one.started_at + timedelta(seconds=one.seconds))
        for one in store.runs.results(store.runs.find("bench").id)
    ]
    store.close()
    took = max(end for _, end in times) - min(start for start, _ in times)
    return len(times) / took.total_seconds()
