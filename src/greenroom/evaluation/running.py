"""Evaluations: a workflow over the rows of a test set. How its cells are planned."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain

import anyio

from greenroom.evaluation.cells import RowCell, attempt_cell
from greenroom.evaluation.context import EvaluationContext
from greenroom.models import Ledger
from greenroom.store import CellKey, EvaluationRecord, ResultRecord, Row, Store, Usage
from greenroom.trials import Attempted, Plan, run_job

EvaluationPlan = Plan[RowCell, ResultRecord]

_NEAR = 10
"""Reading so many rows more takes less time than asking once more."""


def enqueue_evaluation(store: Store, evaluation: EvaluationRecord) -> None:
    """Let workers that help do what is left of an evaluation; refused while others work on it."""
    order = partial(_order, evaluation)
    store.evaluations.workers.enqueue(evaluation.id, evaluation.name, order)


async def run_evaluation(
    store: Store,
    evaluation: EvaluationRecord,
    context: EvaluationContext,
    *,
    helps: bool = False,
    on_result: Callable[[ResultRecord], None] = lambda _: None,
    on_plan: Callable[[EvaluationPlan], None] = lambda _: None,
) -> None:
    """Call the workflow for all cells of an evaluation that have no result yet.

    See `run_job` for how it may end. A worker that `helps` shares the cells with others. The
    workflow is closed in any case.
    """

    @asynccontextmanager
    async def open_plan(used: Sequence[Usage]) -> AsyncGenerator[EvaluationPlan]:
        if context.recordings is not None:  # what recorded outputs took is not spent again
            rows, attempts = store.evaluations.summaries, store.evaluations.attempts
            usages = (one.usage for one in chain(rows(evaluation.id), attempts(evaluation.id)))
            paid = (one for by in usages for purse, one in by.items() if purse != "agent")
            used = [Usage.total([one]) for one in paid]
        async with context.opened(evaluation, used) as opened:
            assert opened.pool is not None

            async def attempt(
                cell: RowCell, ledger: Ledger, number: int
            ) -> Attempted[ResultRecord]:
                return await attempt_cell(opened, cell, ledger, number)

            yield Plan(
                load=lambda keys: _load(store, opened, keys),
                attempt=attempt,
                pool=opened.pool,
                max_concurrency=opened.config.max_concurrency,
                max_retries=opened.config.max_retries,
            )

    try:
        await run_job(
            store.evaluations,
            evaluation,
            partial(_order, evaluation),
            open_plan,
            helps=helps,
            on_plan=on_plan,
            on_result=on_result,
        )
    finally:
        with anyio.CancelScope(shield=True):
            await context.target.close()


def _order(evaluation: EvaluationRecord, finished: set[CellKey]) -> Iterator[CellKey]:
    # All rows once, then all rows again.
    for repeat in range(evaluation.repeats):
        for position in range(evaluation.row_count):
            if (position, repeat) not in finished:
                yield position, repeat


def _load(store: Store, context: EvaluationContext, keys: Sequence[CellKey]) -> Sequence[RowCell]:
    rows: dict[int, Row] = {}
    for first, last in _ranges(sorted({position for position, _ in keys})):
        page = store.test_sets.rows(context.version, start=first, limit=last - first + 1)
        rows |= dict(enumerate(page, first))
    return [RowCell(*key, rows[key[0]]) for key in keys if key[0] in rows]


def _ranges(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Positions as ranges, from the first to the last: those that are near share a range."""
    first = last = positions[0]
    for position in positions[1:]:
        if position - last > _NEAR:
            yield first, last
            first = position
        last = position
    yield first, last
