"""A process that works on an evaluation until somebody ends it: what the kill test kills."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from greenroom import workflow
from greenroom.errors import UnknownName
from greenroom.evaluation import (
    check_evaluation_config,
    reopen_evaluation,
    run_evaluation,
    start_evaluation,
)
from greenroom.store import Store, open_store
from greenroom.workflows import LocalTarget, Workflow, report_usage

NAME = "victim"
ROWS = 600
CONFIG = {
    "workflow": "parity",
    "test_set": "numbers",
    "evaluators": ["exact_match", "contains"],
    "repeats": 2,
    "max_concurrency": 6,
}


def parity(log: Path | None) -> Workflow:
    """Says whether a number is even, and is wrong about every seventh; notes every call."""

    @workflow(name="parity")
    async def told(number: int) -> str:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{number}\n")
            await anyio.sleep(0.004)
        report_usage(cost=0.001)
        return "even" if number % 2 == (number % 7 == 0) else "odd"

    return told


def save_rows(store: Store) -> None:
    """The test set; the same rows make no new version."""
    rows = [{"number": n, "expected": "odd" if n % 2 else "even"} for n in range(ROWS)]
    store.test_sets.save("numbers", rows)


async def work(store: Store, name: str, log: Path | None) -> None:
    """Begin the evaluation, or go on with it."""
    target = LocalTarget(parity(log))
    try:
        evaluation, prepared = await reopen_evaluation(store, name, target=target)
    except UnknownName:
        evaluation, prepared = await start_evaluation(
            store, check_evaluation_config(CONFIG), name=name, target=target
        )
    await run_evaluation(store, evaluation, prepared)


def main(log: Path) -> None:
    store = open_store()
    save_rows(store)
    anyio.run(work, store, NAME, log)
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
