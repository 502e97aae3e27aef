"""Working through a job: claims, attempts, retries, commits, and what interrupted attempts cost."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar, cast

import anyio
import anyio.to_thread

from greenroom.errors import InputError
from greenroom.models import BudgetExhausted, Ledger
from greenroom.models.pool import ModelPool
from greenroom.store import (
    NO_RESULT,
    Attempt,
    CellKey,
    CellRecord,
    JobRecord,
    Jobs,
    StoreError,
    Usage,
    this_process,
)
from greenroom.store.attempt_logs import KeptLog
from greenroom.store.workers import Look, Order
from greenroom.tracing import spans
from greenroom.trials.claims import Cell, Claims
from greenroom.trials.crew import Crew, share
from greenroom.trials.grants import SharedBudget
from greenroom.trials.membership import Membership
from greenroom.trials.slots import StoreSlots
from greenroom.trials.traced import job_span
from greenroom.trials.work import JobWork
from greenroom.trials.writer import GroupWriter
from greenroom.util.attempt_logs import AttemptLog, attempt_log
from greenroom.util.garbage import rare_collections

_FIRST_WAIT_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 10.0

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

    load: Callable[[Sequence[CellKey]], Sequence[ItemT]]
    """The cells of these keys; called in a thread. One that is missing can be attempted no more."""
    attempt: Callable[[ItemT, Ledger, int], Awaitable[Attempted[RecordT]]]
    """Attempt a cell; the ledger counts what it uses, the number says which attempt it is.

    Only an InputError and an exhausted budget are raised: they end the job.
    """
    pool: ModelPool
    max_concurrency: int = 10
    max_retries: int = 2


async def run_job(
    jobs: Jobs[JobT, RecordT, Any],
    job: JobT,
    order: Order,
    open_plan: Callable[[Sequence[Usage]], AbstractAsyncContextManager[Plan[ItemT, RecordT]]],
    *,
    helps: bool = False,
    on_plan: Callable[[Plan[ItemT, RecordT]], None] = lambda _: None,
    on_result: Callable[[RecordT], None] = lambda _: None,
) -> None:
    """Attempt the cells of a job that have no result yet, until all of them have one.

    `order` puts them in order, given those that are finished. `open_plan` gets what the job has
    used before, and holds whatever its cells share open. One worker that `helps` shares the cells
    with others; one that does not is refused while others work on the job.
    However this ends, finished cells are in the store, and the same call goes on from there. An
    exhausted budget raises BudgetExhausted, and bad input an InputError.
    """
    spans.begin()
    work = JobWork[JobT, RecordT](jobs, job, on_result)
    membership = Membership(work, order, helps=helps)
    await membership.join()
    try:
        used = await work.in_store(jobs.usages, job.id)
        resumed = bool(used or await work.in_store(jobs.pages.count, job.id))
        with job_span(jobs.kind.name, job, resumed=resumed):
            async with anyio.create_task_group() as background:
                background.start_soon(membership.keep)
                async with open_plan(used) as plan:
                    on_plan(plan)
                    with rare_collections():
                        await _run_cells(work, plan, membership)
                background.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        told = _first(group, BudgetExhausted) or _first(group, InputError)
        if told is None:
            raise
        raise (work.account(told) if isinstance(told, StoreError) else told) from None
    finally:
        with anyio.CancelScope(shield=True):
            await membership.leave()
            await spans.flush()


async def _run_cells(
    work: JobWork[JobT, RecordT], plan: Plan[ItemT, RecordT], membership: Membership
) -> None:
    most = max(1, min(plan.max_concurrency, work.job.planned))
    _make_room_for_threads(most)

    def commit(finished: list[_Finished[RecordT]]) -> None:
        records = [one.record for one in finished]
        work.patience.call(partial(work.jobs.add, work.job.id, records))
        if logs := [one.log for one in finished if one.log is not None]:
            work.patience.call(partial(work.jobs.logs.add, work.job.id, logs))

    writer = GroupWriter[_Finished[RecordT]](commit, most, work.threads)
    grants = SharedBudget(work, membership, plan.pool.budget)
    plan.pool.share_slots(StoreSlots(work))
    claims = Claims[ItemT](work, membership, plan.load, ahead=most)

    async def attempt_next() -> bool:
        cell = await claims.next()
        if cell is None:
            return False
        await grants.settle()
        finished = await _finished_cell(work, plan, cell)
        with work.telling(finished.record.usage):
            await writer.keep(finished)
        work.on_result(finished.record)
        return True

    # Commits go on while attempts are being stopped: what they have finished is kept.
    async with anyio.create_task_group() as background:
        background.start_soon(writer.run)
        try:
            async with anyio.create_task_group() as group:
                crew = Crew(group, attempt_next)
                try:
                    await membership.follow(partial(_obey, work, plan, membership, crew, grants))
                    await crew.ended.wait()
                finally:
                    crew.end()  # a later look starts nothing
        finally:
            writer.close()


async def _obey(
    work: JobWork[Any, Any],
    plan: Plan[Any, Any],
    membership: Membership,
    crew: Crew,
    grants: SharedBudget,
    look: Look,
) -> None:
    """Do what was set from elsewhere, within this worker's share of the places."""
    if not look.left:
        crew.end()
    control = look.control
    total = control.config.get("max_concurrency") or plan.max_concurrency
    plan.pool.budget.set(control.config.get("max_cost"), control.config.get("max_tokens_total"))
    place = look.workers.index(membership.owner.token) if look.member else 0
    mine = share(total, max(len(look.workers), 1), place)
    plan.pool.resize(max(mine, 1))
    plan.pool.set_rate(control.config.get("max_calls_per_second"))
    for name, cut in look.cuts.items():
        plan.pool.slow_down(name, cut.at, cut.held)
    _make_room_for_threads(mine)
    crew.resize(0 if control.paused else min(mine, work.job.planned))
    await grants.balance()
    await grants.settle()


async def _finished_cell(
    work: JobWork[JobT, RecordT], plan: Plan[ItemT, RecordT], cell: ItemT
) -> _Finished[RecordT]:
    # A broken attempt is kept with what it used, and the cell is attempted again.
    number = 1
    while True:
        begun = _Begun(cell.key)
        ledger = Ledger(plan.pool.budget)
        with attempt_log() as log:
            try:
                async with ledger.reserved():
                    attempted = await plan.attempt(cell, ledger, number)
            except BaseException:
                # Stopped in the middle: what was spent so far is still to be paid.
                await _note_attempt(work, begun, "interrupted", ledger.usage(), log, paid=False)
                raise
        record = attempted.record
        if record.has_result or not attempted.replay or number > plan.max_retries:
            return _Finished(record, begun.kept_log(log, record.outcome))
        await _note_attempt(work, begun, record.error or "", record.usage, log)
        await anyio.sleep(_wait(number))
        number += 1


@dataclass(frozen=True)
class _Finished(Generic[RecordT]):
    record: RecordT
    log: KeptLog | None


@dataclass(frozen=True)
class _Begun:
    """An attempt that has begun."""

    key: CellKey
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.monotonic)

    def kept_log(self, log: AttemptLog, ended: str) -> KeptLog | None:
        """What it said, if it said something."""
        if not (text := log.text):
            return None
        owner = this_process()
        worker = f"{owner.host}/{owner.pid}"
        return KeptLog(self.key, self.at.isoformat(), worker, ended, text)


async def _note_attempt(
    work: JobWork[JobT, RecordT],
    begun: _Begun,
    error: str,
    usage: dict[str, Usage],
    log: AttemptLog,
    *,
    paid: bool = True,
) -> None:
    """Note an attempt without a result; one that is not `paid` for only if it used something."""
    seconds = time.monotonic() - begun.clock
    attempt = Attempt(begun.key, begun.at.isoformat(), seconds, error, usage)
    kept = begun.kept_log(log, NO_RESULT if paid else error)
    with anyio.CancelScope(shield=True), work.telling(usage):
        if paid or usage:
            await work.in_store(work.jobs.add_attempt, work.job.id, attempt)
        if kept is not None:
            await work.in_store(work.jobs.logs.add, work.job.id, [kept])


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
