"""Running evaluations: every cell is kept at once and exactly once, however it ends."""

from __future__ import annotations

import random
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from typing import ParamSpec, TypeVar

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from greenroom.errors import InputError
from greenroom.evaluation.cells import Bench, Cell, try_cell
from greenroom.evaluation.evaluators import make_evaluators
from greenroom.evaluation.parties import Parties, make_parties
from greenroom.evaluation.runs import PreparedEvaluation
from greenroom.models import BudgetExhausted, Ledger
from greenroom.store import (
    CellKey,
    EvaluationRecord,
    LeaseOwner,
    ResultRecord,
    Row,
    Store,
    Usage,
    this_process,
)
from greenroom.store.group_commit import GroupWriter
from greenroom.store.leases import RENEWAL_SECONDS

E = TypeVar("E", bound=BaseException)
R = TypeVar("R")
P = ParamSpec("P")
OnResult = Callable[[ResultRecord], None]
OnParties = Callable[[Parties], None]

_FIRST_WAIT_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 10.0
_PAGE = 100
_STORE_THREADS = 4


async def run_evaluation(
    store: Store,
    evaluation: EvaluationRecord,
    prepared: PreparedEvaluation,
    *,
    on_result: OnResult = lambda _: None,
    on_parties: OnParties = lambda _: None,
) -> None:
    """Call the workflow for all cells of an evaluation that have no result yet.

    However it ends, what was finished is in the store, and `reopen_evaluation` goes on from there.
    A budget that is used up ends it with BudgetExhausted. The workflow is closed in any case.
    """
    work = _Work(store, evaluation, prepared, on_result)
    owner = this_process()
    try:
        await work.in_store(store.evaluations.acquire, evaluation, owner)
        try:
            await _with_parties(work, owner, on_parties)
        finally:
            with anyio.CancelScope(shield=True):
                await work.in_store(store.evaluations.release, evaluation.id, owner)
    finally:
        with anyio.CancelScope(shield=True):
            await prepared.target.close()


@dataclass(frozen=True)
class _Work:
    """What is to be done, and where it is kept."""

    store: Store
    evaluation: EvaluationRecord
    prepared: PreparedEvaluation
    on_result: OnResult
    threads: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_STORE_THREADS)
    )
    """The store's own: workflows that hold up all other threads do not hold up this."""

    async def in_store(self, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Have the store do something, while others go on."""
        return await anyio.to_thread.run_sync(
            partial(function, *arguments, **named), limiter=self.threads
        )


async def _with_parties(work: _Work, owner: LeaseOwner, on_parties: OnParties) -> None:
    store, evaluation, prepared = work.store, work.evaluation, work.prepared
    finished = await work.in_store(store.evaluations.finished, evaluation.id)
    cost, tokens = await work.in_store(spent_so_far, store, evaluation)
    parties = make_parties(prepared.config, prepared.user, spent_cost=cost, spent_tokens=tokens)
    on_parties(parties)
    evaluators = make_evaluators(evaluation.evaluators, models=parties.model)
    bench = Bench(prepared.config, prepared.target, prepared.plan, evaluators, parties)
    _make_room_for_threads(prepared.config.max_concurrency)
    try:
        async with anyio.create_task_group() as background:
            background.start_soon(_keep_lease, work, owner)
            await _run_cells(work, bench, finished)
            background.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        told = _first(group, BudgetExhausted) or _first(group, InputError)
        if told is None:
            raise
        raise told from None
    finally:
        with anyio.CancelScope(shield=True):
            for evaluator in evaluators:
                await evaluator.close()
            await parties.close()


async def _run_cells(work: _Work, bench: Bench, finished: set[CellKey]) -> None:
    at_once = min(bench.config.max_concurrency, work.evaluation.planned)
    commit = partial(work.store.evaluations.add, work.evaluation.id)
    writer = GroupWriter[ResultRecord](commit, at_once, work.threads)
    streams = anyio.create_memory_object_stream[Cell](0)
    send: MemoryObjectSendStream[Cell] = streams[0]
    receive: MemoryObjectReceiveStream[Cell] = streams[1]
    busy = at_once

    async def call_and_keep() -> None:
        nonlocal busy
        async for cell in receive:  # shared by all workers: each takes what is next
            record = await _finished_cell(work, bench, cell)
            await writer.keep(record)
            work.on_result(record)
        busy -= 1
        if busy == 0:
            writer.close()

    try:
        with receive:
            async with anyio.create_task_group() as workers:
                workers.start_soon(writer.run)
                for _ in range(at_once):
                    workers.start_soon(call_and_keep)
                await _send_cells(work, finished, send)
    finally:
        send.close()
        writer.close()


async def _send_cells(
    work: _Work, finished: set[CellKey], send: MemoryObjectSendStream[Cell]
) -> None:
    # All rows once, then all rows again: a few rows at a time, however many there are.
    prepared = work.prepared
    async with send:
        for repeat in range(work.evaluation.repeats):
            rows = enumerate(
                work.store.test_sets.rows(prepared.version, limit=work.evaluation.row_count)
            )
            while page := await work.in_store(_next_page, rows):
                for position, row in page:
                    if (position, repeat) not in finished:
                        await send.send(Cell(position, repeat, row))


def _next_page(rows: Iterator[tuple[int, Row]]) -> list[tuple[int, Row]]:
    return list(islice(rows, _PAGE))


async def _finished_cell(work: _Work, bench: Bench, cell: Cell) -> ResultRecord:
    # Something other than the workflow may break: it is called again, and what the broken attempt
    # took is kept.
    attempt = 1
    while True:
        ledger, started_at = Ledger(), datetime.now(UTC)
        try:
            tried = await try_cell(bench, cell, ledger, attempt=attempt)
        except BaseException:
            # Stopped in the middle: what it has cost so far is money all the same.
            if ledger.usage():
                with anyio.CancelScope(shield=True):
                    await _note_attempt(work, cell, started_at, "interrupted", ledger.usage())
            raise
        record = tried.record
        if record.outcome == "ok" or not tried.again or attempt > bench.config.max_retries:
            return record
        await _note_attempt(work, cell, started_at, record.error or "", record.usage)
        await anyio.sleep(_wait(attempt))
        attempt += 1


async def _note_attempt(
    work: _Work, cell: Cell, started_at: datetime, error: str, usage: dict[str, Usage]
) -> None:
    await work.in_store(
        work.store.evaluations.add_attempt,
        work.evaluation.id,
        cell.key,
        started_at=started_at.isoformat(),
        seconds=(datetime.now(UTC) - started_at).total_seconds(),
        error=error,
        usage=usage,
    )


def spent_so_far(store: Store, evaluation: EvaluationRecord) -> tuple[float, int]:
    """The money and the tokens that an evaluation has used, fruitless attempts included."""
    cost, tokens = 0.0, 0
    kept = store.evaluations
    results = (summary.usage for summary in kept.summaries(evaluation.id))
    wasted = (attempt["usage"] for attempt in kept.attempts(evaluation.id))
    for usage in chain(results, wasted):
        for used in usage.values():
            cost += used.cost or 0.0
            tokens += used.prompt_tokens + used.completion_tokens
    return cost, tokens


def _make_room_for_threads(at_once: int) -> None:
    """Let as many plain functions run at once as calls may be under way."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = max(limiter.total_tokens, at_once)


def _first(group: BaseExceptionGroup[BaseException], kind: type[E]) -> E | None:
    for inner in group.exceptions:
        if isinstance(inner, kind):
            return inner
        if isinstance(inner, BaseExceptionGroup):
            found = _first(typing.cast("BaseExceptionGroup[BaseException]", inner), kind)
            if found is not None:
                return found
    return None


def _wait(attempt: int) -> float:
    longest = min(_FIRST_WAIT_SECONDS * 2**attempt, _LONGEST_WAIT_SECONDS)
    return random.uniform(longest / 2, longest)  # noqa: S311


async def _keep_lease(work: _Work, owner: LeaseOwner) -> None:
    evaluation = work.evaluation
    while True:
        await anyio.sleep(RENEWAL_SECONDS)
        if not await work.in_store(work.store.evaluations.renew, evaluation.id, owner):
            raise InputError(f"Another process has taken over the evaluation '{evaluation.name}'.")
