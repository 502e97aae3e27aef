"""Runs: an agent over tasks x trials. How a run is planned, and how its episodes are played."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

from greenroom._version import __version__
from greenroom.analysis.figures import run_figure_names
from greenroom.analysis.gates import parse_gates
from greenroom.benchmark.config import RunConfig, check_config
from greenroom.benchmark.context import RunContext, prepare_run
from greenroom.benchmark.episode import play_episode
from greenroom.benchmark.recording import episode_record
from greenroom.benchmark.rewind import taken_over
from greenroom.benchmark.sentences import prompt_digest
from greenroom.benchmark.task_warnings import task_warnings
from greenroom.domains.content import SHOWN, task_set, what_changed
from greenroom.domains.domain import is_official
from greenroom.errors import InputError
from greenroom.models import Ledger
from greenroom.store import CellKey, EpisodeRecord, RunRecord, Store, TaskSetRecord, Usage
from greenroom.trials import Attempted, Plan, run_job

RunPlan = Plan["EpisodeCell", EpisodeRecord]

_LAST_ROUNDS = 2


@dataclass(frozen=True)
class EpisodeCell:
    """An episode that is to be played."""

    task_index: int
    trial: int

    @property
    def key(self) -> CellKey:
        """Its place in the run."""
        return self.task_index, self.trial


def start_run(
    store: Store, config: RunConfig, *, name: str | None = None
) -> tuple[RunRecord, RunContext]:
    """Keep a new run in the store, ready to be played. Bad input keeps nothing."""
    context = prepare_run(config)
    config, domain = context.config, context.domain
    parse_gates(config.gates, run_figure_names(config.num_trials))
    _ = domain.pack.base  # the data loads, or fails to, before the run exists
    run = RunRecord(
        id=uuid4().hex[:12],
        name=name or "",
        created_at=datetime.now(UTC),
        greenroom_version=__version__,
        config=config.model_dump(),
        env=domain.name,
        task_split=context.split,
        agent_strategy=context.strategy.name,
        task_indices=list(context.task_indices),
        num_trials=config.num_trials,
        pack=domain.pack.info.model_dump(),
        judge_prompt=prompt_digest() if config.judge_model else "",
        policy=domain.policy,
        reads_script=context.strategy.reads_script,
        warnings=list(task_warnings(domain, context.split, context.task_indices)),
        official_tasks=is_official(domain, context.split),
        task_set=task_set(domain.pack, context.split, context.task_indices).without(
            context.excluded
        ),
        excluded=list(context.excluded),
    )
    stem = None if name else f"{context.strategy.name}-{domain.name}"
    return store.runs.create(run, stem=stem), context


def reopen_run(
    store: Store, name: str, changes: Mapping[str, Any] | None = None
) -> tuple[RunRecord, RunContext]:
    """A run that was kept before, ready to go on; its data must be unchanged.

    `changes` to its configuration hold for this time: a larger budget, say. What was set since it
    began holds, too.
    """
    run = store.runs.find(name)
    set_since = store.runs.controls.of(run.id).config
    context = prepare_again(run, check_config({**run.config, **set_since, **(changes or {})}))
    if run.rewound_to is not None:
        context = taken_over(store, context, run.rewound_to)
    return run, context


def prepare_again(run: RunRecord, config: RunConfig) -> RunContext:
    """What the episodes of a kept run share; raises InputError if its data has changed."""
    context = prepare_run(config)
    found, kept = context.domain.pack.info, run.pack
    now, was = f"{found.name} {found.version}", f"{kept['name']} {kept['version']}"
    fresh: TaskSetRecord | None = None
    if run.task_set is None:
        changed = [] if now == was else ["version"]
    else:
        pack = context.domain.pack
        # Of a split that became shorter, some tasks are no longer there.
        there = [index for index in run.task_indices if index < len(pack.tasks(run.task_split))]
        names = [pack.tasks(run.task_split)[index].id or index for index in there]
        fresh = task_set(pack, run.task_split, there)
        hashes = dict(zip(run.task_indices, run.task_set.task_hashes, strict=False))
        known = run.task_set.whole.model_copy(update={"task_hashes": [hashes[i] for i in there]})
        changed = what_changed(known, fresh, names)
        if gone := len(run.task_indices) - len(there):
            changed.insert(0, f"{gone} {'task is' if gone == 1 else 'tasks are'} gone")
    if changed:
        raise InputError(
            f"The data of '{run.name}' has changed ({', '.join(changed)}): it was played on {was}"
            f"{_short(run.task_set)}, and this is {now}{_short(fresh)}. Give it the data it began "
            "with, or begin a new run."
        )
    return context


def _short(found: TaskSetRecord | None) -> str:
    return "" if found is None else f" (hash {found.hash[:SHOWN]})"


def enqueue_run(store: Store, run: RunRecord, context: RunContext) -> None:
    """Let workers that help play what is left of a run; refused while others play it."""
    order = partial(_order, run, context)
    store.runs.workers.enqueue(run.id, run.name, order)


async def play_run(
    store: Store,
    run: RunRecord,
    context: RunContext,
    *,
    helps: bool = False,
    on_result: Callable[[EpisodeRecord], None] = lambda _: None,
    on_plan: Callable[[RunPlan], None] = lambda _: None,
) -> None:
    """Play the episodes of a run that have no result yet; see `run_job` for how it may end.

    A worker that `helps` shares them with others.
    """

    @asynccontextmanager
    async def open_plan(used: Sequence[Usage]) -> AsyncGenerator[RunPlan]:
        async with context.opened(used) as opened:
            assert opened.pool is not None

            async def attempt(
                cell: EpisodeCell, ledger: Ledger, number: int
            ) -> Attempted[EpisodeRecord]:
                episode = await play_episode(
                    opened, cell.task_index, trial=cell.trial, ledger=ledger
                )
                record = episode_record(
                    opened.domain, episode, split=run.task_split, attempts=number
                )
                return Attempted(record, replay=not record.has_result)

            yield Plan(
                load=lambda keys: [EpisodeCell(*key) for key in keys],
                attempt=attempt,
                pool=opened.pool,
                max_concurrency=opened.config.max_concurrency,
                max_retries=opened.config.max_retries,
            )

    await run_job(
        store.runs,
        run,
        partial(_order, run, context),
        open_plan,
        helps=helps,
        on_plan=on_plan,
        on_result=on_result,
    )


def _order(run: RunRecord, context: RunContext, finished: set[CellKey]) -> list[CellKey]:
    pending = [
        (task_index, trial)
        for trial in range(run.num_trials)
        for task_index in run.task_indices
        if (task_index, trial) not in finished
    ]
    at_once = context.config.max_concurrency
    if at_once > 1:
        # Everybody waits for the last episodes: of these, the longest go first.
        last = max(len(pending) - _LAST_ROUNDS * at_once, 0)
        pending[last:] = sorted(
            pending[last:],
            key=lambda key: -len(context.domain.task(key[0], run.task_split).actions),
        )
    return pending
