"""How quickly an evaluation goes through a long test set, and whether its memory stays flat.

The workflow is served by a process of its own: the scripted model server, and an echo whose answers
are as long as the rows. The evaluation has a process of its own too, so that nothing that ran
before hides what it takes.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import URL

from benchmarks.measures import Measure
from benchmarks.serving import echo_server
from greenroom.analysis import measure_evaluation
from greenroom.domains.domain import load_domain
from greenroom.evaluation import (
    check_evaluation_config,
    run_evaluation,
    start_evaluation,
)
from greenroom.store import ResultRecord, Store, open_engine

ROWS = 10_000
ROW_BYTES = 4_000
CONCURRENCY = 20

_SERVER = "from greenroom.cli import main; main()"


def evaluated_rows() -> Iterator[Measure]:
    """A test set of 10,000 rows against the scripted server, then against an echo."""
    with _model_server() as address:
        yield from _measures("scripted model server", address, "instructions")
    with echo_server() as address:
        yield from _measures("echo of 4 KB", address, "texts")


def _measures(where: str, address: str, rows: str) -> Iterator[Measure]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluations", address, rows],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found = json.loads(done.stdout)
    name = f"{ROWS:,} rows of {ROW_BYTES // 1000} KB evaluated, {where}"
    yield Measure(
        name,
        f"{found['seconds']:.0f} s",
        f"{found['cpu'] / ROWS * 1e3:.2f} ms CPU each",
        ROWS / found["seconds"],
        " rows/s",
        at_least=100.0,
    )
    yield Measure(
        f"{name}: memory gained after the first tenth",
        f"{found['last']:.0f} MB",
        f"{ROWS * ROW_BYTES / 1e6:.0f} MB of rows",
        found["last"] - found["first"],
        " MB",
        at_most=20.0,
    )


def _rows(kind: str) -> Iterator[dict[str, Any]]:
    if kind == "texts":
        for number in range(ROWS):
            text = f"{number:08}" * (ROW_BYTES // 8)
            yield {"question": text, "expected": f"echo: {text}"}
        return
    tasks = load_domain("retail").tasks("test")
    for number in range(ROWS):
        yield {
            "question": tasks[number % len(tasks)].instruction,
            "notes": [f"{number:08}" * (ROW_BYTES // 8)],
            "expected": "One moment, please.",
        }


def _main(address: str, kind: str) -> dict[str, float]:
    marks: list[float] = []
    done = 0

    def note(record: ResultRecord) -> None:
        nonlocal done
        assert record.has_result, record.error
        done += 1
        if done % (ROWS // 10) == 0:
            marks.append(_megabytes())

    async def evaluate(store: Store) -> tuple[float, float]:
        config = check_evaluation_config(
            {
                "workflow": address,
                "test_set": "rows",
                "evaluators": ["exact_match", "contains"],
                "max_concurrency": CONCURRENCY,
            }
        )
        evaluation, prepared = await start_evaluation(store, config, name="bench")
        began, began_cpu = time.perf_counter(), time.process_time()
        await run_evaluation(store, evaluation, prepared, on_result=note)
        taken = time.perf_counter() - began, time.process_time() - began_cpu
        figures = measure_evaluation(store, store.evaluations.find("bench"))
        assert figures.evaluators[0].passed.value == 1.0, figures.evaluators[0]
        assert figures.with_result == ROWS
        return taken

    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_engine(URL.create("sqlite", database=f"{folder}/runs.db")))
        store.test_sets.save("rows", _rows(kind))
        seconds, cpu = anyio.run(evaluate, store)
        store.close()
    return {"seconds": seconds, "cpu": cpu, "first": marks[0], "last": marks[-1]}


def _megabytes() -> float:
    # The current memory if the system reports it, else the peak.
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


@contextmanager
def _model_server() -> Generator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, "model-server", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+/v1", process.stdout.readline())
            assert found, "the model server does not run"
            yield f"{found[0]}#oracle"
        finally:
            process.terminate()


if __name__ == "__main__":
    print(json.dumps(_main(*sys.argv[1:])))
