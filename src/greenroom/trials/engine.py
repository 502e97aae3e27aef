"""Working through a job: lease, attempts, retries, commits, and what interrupted attempts cost."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast

import anyio
import anyio.to_thread

from greenroom.errors import InputError
from greenroom.models import BudgetExhausted, Ledger
from greenroom.models.pool import ModelPool
from greenroom.store import (
    Attempt,
    CellKey,
    CellRecord,
    JobRecord,
    Jobs,
    LeaseOwner,
    Patience,
    StoreError,
    Usage,
    this_process,
)
from greenroom.store.leases import RENEWAL_SECONDS
from greenroom.tracing import spans
from greenroom.trials.traced import job_span
from greenroom.trials.writer import GroupWriter
from greenroom.util.garbage import rare_collections

_FIRST_WAIT_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 10.0
_STORE_THREADS = 4


class Cell(Protocol):
    """One piece of work: a task and a trial, a row and a repeat, a failed episode."""

    @property
    def key(self) -> CellKey: ...


P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=BaseException)
ItemT = TypeVar("ItemT", bound=Cell)
RecordT = TypeVar("RecordT", bound=CellRecord)
JobT = TypeVar("JobT", bound=JobRecord)


@dataclass(frozen=True)
class Attempted(Generic[RecordT]):
    """What one attempt at a cell gave."""

    record: RecordT
    replay: bool = False
    """Something other than the subject broke, and another attempt may help."""


@dataclass(frozen=True)
class Plan(Generic[ItemT, RecordT]):
    """The cells of a job, and how one of them is attempted."""

    cells: Callable[[set[CellKey]], AsyncGenerator[ItemT]]
    """The cells that are still to do, given those that are finished."""
    attempt: Callable[[ItemT, Ledger, int], Awaitable[Attempted[RecordT]]]
    """Attempt a cell; the ledger counts what it uses, the number says which attempt it is.

    Only an InputError and an exhausted budget are raised: they end the job.
    """
    pool: ModelPool
    max_concurrency: int = 10
    max_retries: int = 2


@dataclass(frozen=True)
class _Work(Generic[JobT, ItemT, RecordT]):
    """A job under way."""

    jobs: Jobs[JobT, RecordT, Any]
    job: JobT
    on_result: Callable[[RecordT], None]
    threads: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_STORE_THREADS)
    )
    """The store's own threads: functions that block all others do not block commits."""
    unstored: list[Usage] = field(default_factory=list[Usage])
    """What was used and could not be stored."""

    @cached_property
    def patience(self) -> Patience:
        """How long the store's calls wait while the database is away."""
        resume = self.jobs.kind.resume
        return Patience(f"{resume} {self.job.name}" if resume else "")

    async def in_store(self, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Call the store in a thread; wait if it is away."""
        call = partial(function, *arguments, **named)
        return await anyio.to_thread.run_sync(self.patience.call, call, limiter=self.threads)

    @contextmanager
    def telling(self, usage: dict[str, Usage]) -> Generator[None]:
        """Remember what was used if the block fails to store it."""
        try:
            yield
        except BaseException:
            self.unstored.extend(usage.values())
            raise

    def account(self, error: StoreError) -> StoreError:
        """The error that ends the job, with what was used and is not stored."""
        used = Usage.total(self.unstored)
        calls = f"{used.calls} calls with {used.tokens:,} tokens"
        told = f"{error}\nNot stored, although they may be billed: {calls}."
        return type(error)(told) if used.calls else error


async def run_job(
    jobs: Jobs[JobT, RecordT, Any],
    job: JobT,
    open_plan: Callable[[Sequence[Usage]], AbstractAsyncContextManager[Plan[ItemT, RecordT]]],
    *,
    on_plan: Callable[[Plan[ItemT, RecordT]], None] = lambda _: None,
    on_result: Callable[[RecordT], None] = lambda _: None,
) -> None:
    """Attempt all cells of a job that have no result yet.

    `open_plan` gets what the job has used before, and holds whatever its cells share open.
    However this ends, finished cells are in the store, and the same call goes on from there. An
    exhausted budget raises BudgetExhausted, and bad input an InputError.
    """
    spans.begin()
    work = _Work[JobT, ItemT, RecordT](jobs, job, on_result)
    owner = this_process()
    await work.in_store(jobs.acquire, job, owner)
    try:
        finished = await work.in_store(jobs.finished, job.id)
        used = await work.in_store(jobs.usages, job.id)
        with job_span(jobs.kind.name, job, resumed=bool(finished or used)):
            async with anyio.create_task_group() as background:
                background.start_soon(_keep_lease, work, owner)
                async with open_plan(used) as plan:
                    on_plan(plan)
                    with rare_collections():
                        await _run_cells(work, plan, finished)
                background.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        told = _first(group, BudgetExhausted) or _first(group, InputError)
        if told is None:
            raise
        raise (work.account(told) if isinstance(told, StoreError) else told) from None
    finally:
        with anyio.CancelScope(shield=True):
            # A lease that cannot be given back expires by itself.
            with suppress(StoreError):
                await anyio.to_thread.run_sync(jobs.release, job.id, owner, limiter=work.threads)
            await spans.flush()


async def _run_cells(
    work: _Work[JobT, ItemT, RecordT], plan: Plan[ItemT, RecordT], finished: set[CellKey]
) -> None:
    workers = max(1, min(plan.max_concurrency, work.job.planned))
    _make_room_for_threads(workers)

    def commit(records: list[RecordT]) -> None:
        work.patience.call(partial(work.jobs.add, work.job.id, records))

    writer = GroupWriter[RecordT](commit, workers, work.threads)
    pending = plan.cells(finished)
    taking = anyio.Lock()

    async def next_cell() -> ItemT | None:
        # Cells may come from the store: only one worker at a time asks for the next one.
        async with taking:
            return await anext(pending, None)

    async def attempt_cells() -> None:
        while (cell := await next_cell()) is not None:
            record = await _finished_cell(work, plan, cell)
            with work.telling(record.usage):
                await writer.keep(record)
            work.on_result(record)

    # Commits go on while workers are being stopped: what they have finished is kept.
    async with anyio.create_task_group() as background:
        background.start_soon(writer.run)
        try:
            async with aclosing(pending), anyio.create_task_group() as group:
                for _ in range(workers):
                    group.start_soon(attempt_cells)
        finally:
            writer.close()


async def _finished_cell(
    work: _Work[JobT, ItemT, RecordT], plan: Plan[ItemT, RecordT], cell: ItemT
) -> RecordT:
    # A broken attempt is kept with what it used, and the cell is attempted again.
    number = 1
    while True:
        ledger, started = Ledger(plan.pool.budget), (datetime.now(UTC), time.monotonic())
        try:
            attempted = await plan.attempt(cell, ledger, number)
        except BaseException:
            # Stopped in the middle: what was spent so far is still to be paid.
            if ledger.usage():
                await _note_attempt(work, cell.key, started, "interrupted", ledger.usage())
            raise
        record = attempted.record
        if record.has_result or not attempted.replay or number > plan.max_retries:
            return record
        await _note_attempt(work, cell.key, started, record.error or "", record.usage)
        await anyio.sleep(_wait(number))
        number += 1


async def _note_attempt(
    work: _Work[JobT, ItemT, RecordT],
    key: CellKey,
    started: tuple[datetime, float],
    error: str,
    usage: dict[str, Usage],
) -> None:
    seconds = time.monotonic() - started[1]
    attempt = Attempt(key, started[0].isoformat(), seconds, error, usage)
    with anyio.CancelScope(shield=True), work.telling(usage):
        await work.in_store(work.jobs.add_attempt, work.job.id, attempt)


async def _keep_lease(work: _Work[JobT, ItemT, RecordT], owner: LeaseOwner) -> None:
    job = work.job
    while True:
        await anyio.sleep(RENEWAL_SECONDS)
        if not await work.in_store(work.jobs.renew, job.id, owner):
            raise InputError(
                f"Another process has taken over the {work.jobs.kind.name} '{job.name}'."
            )


def _make_room_for_threads(workers: int) -> None:
    """Let as many plain functions run at once as there are workers."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = max(limiter.total_tokens, workers)


def _wait(attempt: int) -> float:
    longest = min(_FIRST_WAIT_SECONDS * 2**attempt, _LONGEST_WAIT_SECONDS)
    return random.uniform(longest / 2, longest)  # noqa: S311


def _first(group: BaseExceptionGroup[BaseException], kind: type[E]) -> E | None:
    for inner in group.exceptions:
        if isinstance(inner, kind):
            return inner
        if isinstance(inner, BaseExceptionGroup):
            found = _first(cast("BaseExceptionGroup[BaseException]", inner), kind)
            if found is not None:
                return found
    return None
