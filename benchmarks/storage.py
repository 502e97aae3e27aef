"""The cost of storing results, and whether a long run keeps its speed."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import anyio
from sqlalchemy import URL

from benchmarks.measures import Measure, cpu_seconds
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import (
    ActionRecord,
    EpisodeRecord,
    RunRecord,
    StepRecord,
    Store,
    TaskRecord,
    open_engine,
)

RESULTS = 460
RESULT_BYTES = 40_000
EPISODES = 100_000


def kept_results() -> Iterator[Measure]:
    """Results of 40 KB with a durable commit each, compared with rewriting a file for each."""
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder))
        store.runs.create(bench_run())
        records = [_result(number) for number in range(RESULTS)]
        store.runs.add("bench", [_result(RESULTS)])  # what happens once stays outside
        ours = cpu_seconds(lambda: [store.runs.add("bench", [record]) for record in records])
        store.close()
        naive = _rewritten_files(Path(folder), records)
    name = f"{RESULTS} results of {RESULT_BYTES // 1000} KB kept, each at once"
    yield Measure(name, f"{ours:.2f} s CPU", f"{naive:.0f} s CPU", ours, " s", at_most=1.0)
    yield Measure(f"{name}: ratio", "", "", naive / ours, "x", at_least=100.0)


def long_run() -> Iterator[Measure]:
    """Many episodes through the runner into a database: neither memory nor cost may grow."""
    with tempfile.TemporaryDirectory() as folder:
        store = _store(Path(folder))
        config = check_config({"agent_strategy": "synthetic", "num_trials": -(-EPISODES // 96)})
        run, prepared = start_run(store, config)
        marks: list[tuple[float, float]] = []
        done = 0

        def note(_: EpisodeRecord) -> None:
            nonlocal done
            done += 1
            if done % (EPISODES // 10) == 0:
                marks.append((time.process_time(), _megabytes()))

        anyio.run(lambda: play_run(store, run, prepared, on_result=note))
        store.close()
    costs = [later[0] - earlier[0] for earlier, later in pairwise(marks)]
    each = [cost / (EPISODES // 10) * 1e3 for cost in costs]
    growth = marks[-1][1] - marks[0][1]
    name = f"{done:,} episodes run and kept"
    yield Measure(
        f"{name}: cost of the last tenth over that of the second",
        f"{each[-1]:.2f} ms CPU",
        f"{each[0]:.2f} ms CPU",
        each[-1] / each[0],
        "x",
        at_most=1.3,
    )
    yield Measure(
        f"{name}: memory gained after the first tenth",
        f"{marks[-1][1]:.0f} MB",
        f"{marks[0][1]:.0f} MB",
        growth,
        " MB",
        at_most=20.0,
    )


def _store(folder: Path) -> Store:
    return Store(open_engine(URL.create("sqlite", database=str(folder / "runs.db"))))


def bench_run() -> RunRecord:
    return RunRecord(
        id="bench",
        name="bench",
        created_at=datetime.now(UTC),
        greenroom_version="",
        config={},
        env="retail",
        task_split="test",
        agent_strategy="oracle",
        task_indices=list(range(RESULTS + 1)),
        num_trials=1,
        pack={},
    )


def _result(number: int) -> EpisodeRecord:
    observation = json.dumps({"items": [{"id": f"{n:08}", "price": 10.5} for n in range(50)]})
    count = RESULT_BYTES // (len(observation) + 120)
    action = ActionRecord(name="get_order_details", kwargs={"order_id": "#W1234567"})
    step = StepRecord(action=action, observation=observation, source="get_order_details", turn=1)
    return EpisodeRecord(
        task_index=number,
        trial=0,
        outcome="success",
        reward=1.0,
        task=TaskRecord(instruction="Do it.", actions=[action]),
        steps=[step] * count,
        started_at=datetime.now(UTC),
    )


def _rewritten_files(folder: Path, records: list[EpisodeRecord]) -> float:
    # Every result reads the file and writes it again with one more. The time grows linearly with
    # the length, so a few lengths give the total.
    rows = [record.model_dump(mode="json") for record in records]
    path = folder / "results.json"
    lengths = [RESULTS * share // 8 for share in (1, 3, 5, 7)]

    def rewrite(count: int) -> None:
        path.write_text(json.dumps(rows[: count - 1]))
        start = time.process_time()
        found = json.loads(path.read_text())
        path.write_text(json.dumps([*found, rows[count - 1]], indent=2))
        spent.append(time.process_time() - start)

    spent: list[float] = []
    for count in lengths:
        rewrite(count)
    return sum(spent) / len(spent) * RESULTS


def _megabytes() -> float:
    # The current memory if the system reports it, else the peak.
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
