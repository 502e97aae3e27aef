"""Judgings: a judge over the failed episodes of a run. How they are planned and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args
from uuid import uuid4

from greenroom._version import __version__
from greenroom.analysis.counts import counted_episodes
from greenroom.judging.config import JudgingConfig
from greenroom.judging.faults import judge_episode, prompt_digest
from greenroom.messages import Message
from greenroom.models import Ledger
from greenroom.options import checked
from greenroom.store import (
    NO_RESULT,
    CellKey,
    EpisodeRecord,
    FaultAuthor,
    FaultKind,
    JudgementRecord,
    JudgingRecord,
    RunRecord,
    Store,
    Usage,
)
from greenroom.store.record import Record
from greenroom.tracing import Attributes, names, spans
from greenroom.trials import Attempted, Plan, open_models, run_job
from greenroom.trials.traced import usage_attributes

JudgingPlan = Plan[EpisodeRecord, JudgementRecord]


class FaultSummary(Record):
    """Judgements counted."""

    judged: int
    """Episodes with a complete verdict."""
    without_verdict: int
    """Episodes whose judge gave no usable verdict; they are in none of the counts."""
    by_author: dict[FaultAuthor, int]
    by_kind: dict[FaultKind, int]
    """Of the episodes whose failure is the agent's."""
    usage: Usage


@dataclass(frozen=True)
class Failures:
    """The failures of a run, counted without reading its conversations."""

    episodes: int
    """How many episodes the run has so far."""
    keys: list[CellKey]
    """The episodes that a judge can be asked about, in order.

    They failed, not by a broken connection, and what was said in them was not pruned.
    """
    pruned: int
    """How many more failed whose conversations were pruned."""


def failures_of(store: Store, run_id: str) -> Failures:
    """The failures of a run."""
    episodes, pruned = 0, 0
    keys: list[CellKey] = []
    for episode in counted_episodes(store, run_id):
        episodes += 1
        if episode.summary.outcome == NO_RESULT or episode.diagnosis is None:
            continue
        if episode.is_pruned:
            pruned += 1
        else:
            keys.append((episode.summary.task_index, episode.summary.trial))
    return Failures(episodes, keys, pruned)


def policy_seen(episodes: Iterable[EpisodeRecord]) -> str:
    """The policy as the agent was given it, from the first system message."""
    for episode in episodes:
        for message in episode.messages or []:
            if message.get("role") == "system":
                return Message.model_validate(message).text
    return ""


def start_judging(
    store: Store, run: RunRecord, config: JudgingConfig, *, again: bool = False
) -> JudgingRecord:
    """The judging of a run by a judge: the latest one extended by new failures, or a new one."""
    episodes = failures_of(store, run.id).keys[: config.max_failures]
    earlier = [one for one in store.judgings.all(parent=run.id) if one.judge == config.judge]
    if earlier and not again:
        judging = earlier[0]
        if judging.status == "running":
            return judging  # whoever works on it keeps to its plan
        store.judgings.controls.forget(judging.id)
        together = sorted({*judging.episodes, *episodes})
        judging = judging.model_copy(
            update={"episodes": together, "config": config.model_dump(mode="json")}
        )
        store.judgings.update(judging)
        return judging
    judging = JudgingRecord(
        id=uuid4().hex[:12],
        name="",
        created_at=datetime.now(UTC),
        greenroom_version=__version__,
        config=config.model_dump(mode="json"),
        run_id=run.id,
        run_name=run.name,
        judge=config.judge,
        judge_prompt=prompt_digest(),
        episodes=episodes,
    )
    return store.judgings.create(judging, stem=f"{run.name}-judged")


def reopen_judging(store: Store, name: str) -> tuple[JudgingRecord, JudgingConfig]:
    """A judging that was kept before, ready to go on. What was set since it began holds."""
    judging = store.judgings.find(name)
    set_since = store.judgings.controls.of(judging.id).config
    return judging, checked(JudgingConfig, {**judging.config, **set_since})


def enqueue_judging(store: Store, judging: JudgingRecord) -> None:
    """Let workers that help do what is left of a judging; refused while others work on it."""
    store.judgings.workers.enqueue(judging.id, judging.name, judging.left)


async def run_judging(
    store: Store,
    judging: JudgingRecord,
    config: JudgingConfig,
    *,
    helps: bool = False,
    on_result: Callable[[JudgementRecord], None] = lambda _: None,
    on_plan: Callable[[JudgingPlan], None] = lambda _: None,
) -> None:
    """Ask the judge about all failed episodes that have no verdict yet; see `run_job`.

    A worker that `helps` shares them with others.
    """
    run = store.runs.find(judging.run_id)
    policy = run.policy or policy_seen(store.runs.results(run.id))

    @asynccontextmanager
    async def open_plan(used: Sequence[Usage]) -> AsyncGenerator[JudgingPlan]:
        async with open_models(config, used) as pool:
            settings = config.model_settings()

            async def attempt(
                episode: EpisodeRecord, ledger: Ledger, number: int
            ) -> Attempted[JudgementRecord]:
                scope = f"identify {episode.task_index} {episode.trial}"
                model = pool.model(settings, "judge", ledger, scope=scope, seed=episode.seed)
                with spans.opened("judge", _attributes(episode), apart=True) as span:
                    judged = await judge_episode(
                        model, episode, ledger, policy=policy, attempt=number
                    )
                    span.set(_told(judged))
                    if not judged.has_result:
                        span.fail(judged.outcome)
                return Attempted(judged)  # a judge's own retries are enough

            yield Plan(
                load=lambda keys: list(store.runs.pages.each_of(judging.run_id, keys)),
                attempt=attempt,
                pool=pool,
                max_concurrency=config.max_concurrency,
                max_retries=0,
            )

    await run_job(
        store.judgings,
        judging,
        judging.left,
        open_plan,
        helps=helps,
        on_plan=on_plan,
        on_result=on_result,
    )


def _attributes(episode: EpisodeRecord) -> Attributes:
    return {names.TASK: episode.task_index, names.TRIAL: episode.trial}


def _told(judged: JudgementRecord) -> Attributes:
    return {
        names.OUTCOME: judged.outcome,
        names.FAULT_AUTHOR: judged.author,
        names.FAULT_KIND: judged.kind,
        **usage_attributes(judged.usage),
    }


def summarise(judgements: Iterable[JudgementRecord]) -> FaultSummary:
    """Judgements by author and kind, the most frequent first."""
    found = list(judgements)
    complete = [judgement for judgement in found if judgement.has_result]
    authors = Counter(judgement.author for judgement in complete)
    kinds = Counter(judgement.kind for judgement in complete)
    author_names: tuple[FaultAuthor, ...] = get_args(FaultAuthor)
    kind_names: tuple[FaultKind, ...] = get_args(FaultKind)
    return FaultSummary(
        judged=len(complete),
        without_verdict=len(found) - len(complete),
        by_author={
            name: authors[name]
            for name in sorted(author_names, key=lambda name: -authors[name])
            if authors[name]
        },
        by_kind={
            name: kinds[name]
            for name in sorted(kind_names, key=lambda name: -kinds[name])
            if kinds[name]
        },
        usage=Usage.total(used for one in found for used in one.usage.values()),
    )
