"""Evaluations: a workflow over the rows of a test set. How its cells are planned."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain

import anyio
import anyio.to_thread

from greenroom.evaluation.cells import RowCell, attempt_cell
from greenroom.evaluation.context import EvaluationContext
from greenroom.models import Ledger
from greenroom.store import CellKey, EvaluationRecord, Patience, ResultRecord, Row, Store, Usage
from greenroom.trials import Attempted, Plan, run_job

EvaluationPlan = Plan[RowCell, ResultRecord]

_PAGE = 100


async def run_evaluation(
    store: Store,
    evaluation: EvaluationRecord,
    context: EvaluationContext,
    *,
    on_result: Callable[[ResultRecord], None] = lambda _: None,
    on_plan: Callable[[EvaluationPlan], None] = lambda _: None,
) -> None:
    """Call the workflow for all cells of an evaluation that have no result yet.

    See `run_job` for how it may end. The workflow is closed in any case.
    """

    @asynccontextmanager
    async def open_plan(used: Sequence[Usage]) -> AsyncGenerator[EvaluationPlan]:
        if context.recordings is not None:  # what recorded outputs took is not spent again
            rows, attempts = store.evaluations.summaries, store.evaluations.attempts
            usages = (one.usage for one in chain(rows(evaluation.id), attempts(evaluation.id)))
            used = [one for by in usages for purse, one in by.items() if purse != "agent"]
        async with context.opened(evaluation, used) as opened:
            assert opened.pool is not None

            async def attempt(
                cell: RowCell, ledger: Ledger, number: int
            ) -> Attempted[ResultRecord]:
                return await attempt_cell(opened, cell, ledger, number)

            yield Plan(
                cells=lambda finished: _cells(store, evaluation, opened, finished),
                attempt=attempt,
                pool=opened.pool,
                max_concurrency=opened.config.max_concurrency,
                max_retries=opened.config.max_retries,
            )

    try:
        await run_job(
            store.evaluations, evaluation, open_plan, on_plan=on_plan, on_result=on_result
        )
    finally:
        with anyio.CancelScope(shield=True):
            await context.target.close()


async def _cells(
    store: Store, evaluation: EvaluationRecord, context: EvaluationContext, finished: set[CellKey]
) -> AsyncGenerator[RowCell]:
    # All rows once, then all rows again: a page at a time, however many there are.
    patience = Patience(f"{store.evaluations.kind.resume} {evaluation.name}")

    def page(first: int) -> list[Row]:
        size = min(_PAGE, evaluation.row_count - first)
        return list(store.test_sets.rows(context.version, start=first, limit=size))

    for repeat in range(evaluation.repeats):
        for first in range(0, evaluation.row_count, _PAGE):
            read = partial(patience.call, partial(page, first))
            for position, row in enumerate(await anyio.to_thread.run_sync(read), first):
                if (position, repeat) not in finished:
                    yield RowCell(position, repeat, row)
