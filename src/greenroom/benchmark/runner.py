"""Runs: an agent over tasks x trials, every finished episode kept at once and exactly once."""

from __future__ import annotations

import random
import typing
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import anyio
import anyio.to_thread

from greenroom._version import __version__
from greenroom.benchmark.casting import Cast, check_cast, make_cast
from greenroom.benchmark.config import RunConfig, check_config
from greenroom.benchmark.context import PreparedRun, prepare_run
from greenroom.benchmark.episode import play_episode
from greenroom.benchmark.recording import episode_record
from greenroom.domains.official import is_official
from greenroom.errors import InputError
from greenroom.models import BudgetExhausted
from greenroom.models.purses import Ledger
from greenroom.store import (
    EpisodeKey,
    EpisodeRecord,
    LeaseOwner,
    RunRecord,
    Store,
    Usage,
    this_process,
)
from greenroom.store.group_commit import GroupWriter
from greenroom.store.leases import RENEWAL_SECONDS

E = TypeVar("E", bound=BaseException)
OnEpisode = Callable[[EpisodeRecord], None]

_FIRST_WAIT_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 10.0
_LAST_ROUNDS = 2


def start_run(
    store: Store, config: RunConfig, *, name: str | None = None
) -> tuple[RunRecord, PreparedRun]:
    """Keep a new run in the store, ready to be played. Nothing is kept if anything is amiss."""
    prepared = prepare_run(config)
    config, domain = prepared.config, prepared.domain
    check_cast(config, prepared.strategy)
    _ = domain.pack.base  # the data is loaded, or fails to, before the run exists
    run = RunRecord(
        id=uuid4().hex[:12],
        name=name or store.runs.free_name(f"{prepared.strategy.name}-{domain.name}"),
        created_at=datetime.now(UTC),
        greenroom_version=__version__,
        config=config.model_dump(),
        env=domain.name,
        task_split=config.task_split,
        agent_strategy=prepared.strategy.name,
        task_indices=prepared.task_indices,
        num_trials=config.num_trials,
        pack=domain.pack.info.model_dump(),
        policy=domain.policy,
        reads_script=prepared.strategy.reads_script,
        official_tasks=is_official(domain, config.task_split),
    )
    store.runs.create(run)
    return run, prepared


def reopen_run(
    store: Store, name: str, changes: Mapping[str, Any] | None = None
) -> tuple[RunRecord, PreparedRun]:
    """A run that was kept before, ready to go on; its data must be what it was.

    `changes` to its configuration hold for what is played from here on: a larger budget, say.
    """
    run = store.runs.find(name)
    prepared = prepare_run(check_config({**run.config, **(changes or {})}))
    found, kept = prepared.domain.pack.info.model_dump(), run.pack
    if (found["name"], found["version"]) != (kept["name"], kept["version"]):
        raise InputError(
            f"The data of '{run.name}' has changed: it was played on {kept['name']} "
            f"{kept['version']}, and this is {found['name']} {found['version']}."
        )
    return run, prepared


async def play_run(
    store: Store,
    run: RunRecord,
    prepared: PreparedRun,
    *,
    on_episode: OnEpisode = lambda _: None,
    on_cast: Callable[[Cast], None] = lambda _: None,
) -> None:
    """Play the episodes of a run that have no result yet.

    However it ends, what was finished is in the store, and `reopen_run` goes on from there. A
    budget that is used up ends it with BudgetExhausted, what a person has to mend with InputError.
    """
    owner = this_process()
    await anyio.to_thread.run_sync(store.runs.acquire, run, owner)
    try:
        finished = await anyio.to_thread.run_sync(store.runs.finished, run.id)
        cost, tokens = await anyio.to_thread.run_sync(spent_so_far, store, run)
        cast = make_cast(prepared.config, prepared.strategy, spent_cost=cost, spent_tokens=tokens)
        on_cast(cast)
        try:
            async with anyio.create_task_group() as background:
                background.start_soon(_keep_lease, store, run, owner)
                async with prepared_agents(prepared) as shared:
                    company = Company(cast, shared)
                    await _play_all(store, run, prepared, company, finished, on_episode)
                background.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            told = _first(group, BudgetExhausted) or _first(group, InputError)
            if told is None:
                raise
            raise told from None
        finally:
            with anyio.CancelScope(shield=True):
                await cast.close()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(store.runs.release, run.id, owner)


@dataclass(frozen=True)
class Company:
    """All that the episodes of a run share."""

    cast: Cast
    shared: Any
    """What the agents' strategy prepared."""


@asynccontextmanager
async def prepared_agents(prepared: PreparedRun) -> AsyncGenerator[Any]:
    """What the strategy's agents share, for as long as the block runs."""
    strategy, config = prepared.strategy, prepared.config
    if strategy.prepare is None:
        yield None
        return
    steps = config.max_num_steps
    async with strategy.prepare(prepared.domain, prepared.settings, steps) as shared:
        yield shared


async def _play_all(
    store: Store,
    run: RunRecord,
    prepared: PreparedRun,
    company: Company,
    finished: set[EpisodeKey],
    on_episode: OnEpisode,
) -> None:
    config = prepared.config
    writer = GroupWriter[EpisodeRecord](partial(store.runs.add, run.id), config.max_concurrency)
    pending = iter(_pending(run, prepared, finished))
    busy = min(config.max_concurrency, run.planned)

    async def work() -> None:
        nonlocal busy
        for task_index, trial in pending:  # shared by all workers: each takes what is next
            record = await _finished_episode(store, run, prepared, company, (task_index, trial))
            await writer.keep(record)
            on_episode(record)
        busy -= 1
        if busy == 0:
            writer.close()

    try:
        async with anyio.create_task_group() as workers:
            workers.start_soon(writer.run)
            for _ in range(busy):
                workers.start_soon(work)
    finally:
        writer.close()


def _pending(run: RunRecord, prepared: PreparedRun, finished: set[EpisodeKey]) -> list[EpisodeKey]:
    pending = [
        (task_index, trial)
        for trial in range(run.num_trials)
        for task_index in run.task_indices
        if (task_index, trial) not in finished
    ]
    at_once = prepared.config.max_concurrency
    if at_once == 1:
        return pending
    # What is left for the end is what all wait for: of the last rounds the longest go first.
    domain, last = prepared.domain, max(len(pending) - _LAST_ROUNDS * at_once, 0)
    tasks = {task: len(domain.task(task, run.task_split).actions) for task, _ in pending[last:]}
    return pending[:last] + sorted(pending[last:], key=lambda key: -tasks[key[0]])


async def _finished_episode(
    store: Store, run: RunRecord, prepared: PreparedRun, company: Company, key: EpisodeKey
) -> EpisodeRecord:
    # Something other than the agent may break: it is tried again, and what the broken attempt
    # took is kept.
    attempt = 1
    while True:
        record = await _attempt(store, run, prepared, company, key, attempt)
        if record.outcome != "infrastructure_error" or attempt > prepared.config.max_retries:
            return record
        await _note_attempt(store, run, key, record.started_at, record.error or "", record.usage)
        await anyio.sleep(_wait(attempt))
        attempt += 1


async def _attempt(
    store: Store,
    run: RunRecord,
    prepared: PreparedRun,
    company: Company,
    key: EpisodeKey,
    attempt: int,
) -> EpisodeRecord:
    config, ledger, started_at = prepared.config, Ledger(), datetime.now(UTC)
    try:
        episode = await play_episode(
            prepared.domain,
            prepared.strategy,
            key[0],
            split=run.task_split,
            trial=key[1],
            seed=config.seed,
            settings=prepared.settings,
            max_steps=config.max_num_steps,
            max_seconds=config.max_episode_seconds,
            cast=company.cast,
            ledger=ledger,
            shared=company.shared,
        )
    except BaseException:
        # Stopped in the middle: what it has cost so far is money all the same.
        if ledger.usage():
            with anyio.CancelScope(shield=True):
                await _note_attempt(store, run, key, started_at, "interrupted", ledger.usage())
        raise
    return episode_record(prepared.domain, episode, split=run.task_split, attempts=attempt)


async def _note_attempt(
    store: Store,
    run: RunRecord,
    key: EpisodeKey,
    started_at: datetime,
    error: str,
    usage: dict[str, Usage],
) -> None:
    def note() -> None:
        store.runs.add_attempt(
            run.id,
            key,
            started_at=started_at.isoformat(),
            seconds=(datetime.now(UTC) - started_at).total_seconds(),
            error=error,
            usage=usage,
        )

    await anyio.to_thread.run_sync(note)


def spent_so_far(store: Store, run: RunRecord) -> tuple[float, int]:
    """The money and the tokens that a run has used, attempts that came to nothing included."""
    used = [usage for row in store.runs.summaries(run.id) for usage in row.usage.values()]
    used += [usage for row in store.runs.attempts(run.id) for usage in row["usage"].values()]
    cost = sum(usage.cost or 0.0 for usage in used)
    return cost, sum(usage.prompt_tokens + usage.completion_tokens for usage in used)


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


async def _keep_lease(store: Store, run: RunRecord, owner: LeaseOwner) -> None:
    while True:
        await anyio.sleep(RENEWAL_SECONDS)
        if not await anyio.to_thread.run_sync(store.runs.renew, run.id, owner):
            raise InputError(f"Another process has taken over the run '{run.name}'.")
