"""Regradings: the episodes of a run graded again, as a job of the store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic import Field

from greenroom._version import __version__
from greenroom.benchmark.context import judge_model
from greenroom.benchmark.recording import reward_record
from greenroom.benchmark.regrading import (
    Refused,
    Regraded,
    differences,
    regrade,
    with_first_verdicts,
)
from greenroom.benchmark.regrading_config import RegradingConfig
from greenroom.benchmark.sentences import judged, prompt_digest
from greenroom.config import JudgeConfig
from greenroom.domains.content import task_set
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.packs import DEFAULT_EDITION, DEFAULT_SPLIT
from greenroom.errors import InputError, SetUpFailed
from greenroom.models import Ledger, Model
from greenroom.options import checked
from greenroom.reports.exclusions import without_tasks
from greenroom.store import (
    EpisodeRecord,
    GradeRecord,
    Outcome,
    RegradingRecord,
    RunRecord,
    Store,
    TaskSetRecord,
    Usage,
)
from greenroom.store.record import Record
from greenroom.trials import Attempted, Plan, open_models, run_job

RegradingPlan = Plan[EpisodeRecord, GradeRecord]


class RegradingSummary(Record):
    """Second grades counted."""

    episodes: int
    graded: int
    refused: int
    up: int
    """Episodes whose reward was 0 and is 1 now."""
    down: int
    unjudged: int
    """Sentences that count and are not judged; the rewards leave them out."""
    kept_verdicts: int = 0
    """Sentences whose verdict is that of the run's own judge."""
    judge_problems: dict[str, int] = Field(default_factory=dict[str, int])
    """Why the judge did not decide about them, with how often."""
    reward_before: float | None
    """The mean over the episodes with a second grade."""
    reward: float | None
    reward_without_judge: float | None
    reward_if_rejected: float | None = None
    """The mean if all sentences that nobody has judged were rejected."""
    refusals: dict[str, int] = Field(default_factory=dict[str, int])
    """Why grades were refused, with how often."""
    usage: Usage = Field(default_factory=Usage)


def regrading_domain(run: RunRecord, config: RegradingConfig) -> Domain:
    """The domain that the episodes of a run are graded by."""
    data = config.data if config.data is not None else run.config.get("data")
    return load_domain(run.env, data, run.config.get("env_options") or {})


def start_regrading(
    store: Store, run: RunRecord, config: RegradingConfig, domain: Domain
) -> RegradingRecord:
    """A new regrading of a run; one that was interrupted is taken up again."""
    run = without_tasks(run, config.exclude_tasks or ())
    left_out = {one.task_index for one in run.excluded}
    if config.exclude_tasks:
        # A file that named them may be gone tomorrow.
        config = config.model_copy(update={"exclude_tasks": sorted(left_out) or None})
    fresh = RegradingRecord(
        id=uuid4().hex[:12],
        name="",
        created_at=datetime.now(UTC),
        greenroom_version=__version__,
        config=config.model_dump(mode="json"),
        run_id=run.id,
        run_name=run.name,
        pack=domain.pack.info.model_dump(mode="json"),
        run_pack=run.pack,
        task_set=graded_by(domain, config, run).without(run.excluded),
        run_task_set=run.task_set and run.task_set.model_copy(update={"task_hashes": []}),
        task_split=_split(run, config, domain),
        judge=config.judge,
        judge_prompt=prompt_digest() if config.judge_model else "",
        basis=config.basis or [],
        excluded=run.excluded,
        episodes=sorted(
            (one.task_index, one.trial)
            for one in store.runs.summaries(run.id)
            if one.task_index not in left_out
        ),
    )
    for earlier in store.regradings.all(parent=run.id):
        if earlier.status == "interrupted" and _same(earlier, fresh):
            store.regradings.controls.forget(earlier.id)
            taken_up = earlier.model_copy(update={"config": fresh.config})
            store.regradings.update(taken_up)
            return taken_up
    return store.regradings.create(fresh, stem=f"{run.name}-regraded")


def graded_by(domain: Domain, config: RegradingConfig, run: RunRecord) -> TaskSetRecord:
    """Hashes of the data that a run is graded by."""
    return task_set(domain.pack, _split(run, config, domain), ())


def _same(earlier: RegradingRecord, fresh: RegradingRecord) -> bool:
    """Whether the grades of both may stand side by side: same episodes, tasks, rules, judge."""
    kept = ("pack", "task_set", "task_split", "basis", "greenroom_version")
    return (
        all(getattr(earlier, name) == getattr(fresh, name) for name in kept)
        and [tuple(key) for key in earlier.episodes] == fresh.episodes
        and all(earlier.config.get(name) == fresh.config[name] for name in JudgeConfig.model_fields)
    )


def _split(run: RunRecord, config: RegradingConfig, domain: Domain) -> str:
    if config.task_split is not None:
        return domain.pack.split_named(config.task_split)
    same_rules = run.pack.get("edition", DEFAULT_EDITION) == domain.pack.info.edition
    there = run.task_split in domain.pack.splits
    return run.task_split if same_rules and there else domain.pack.split_named(DEFAULT_SPLIT)


def reopen_regrading(store: Store, name: str) -> tuple[RegradingRecord, RegradingConfig, Domain]:
    """A regrading that was kept before, ready to go on; the data must be what it began with.

    What was set since it began holds.
    """
    regrading = store.regradings.find(name)
    set_since = store.regradings.controls.of(regrading.id).config
    config = checked(RegradingConfig, {**regrading.config, **set_since})
    run = store.runs.find(regrading.run_id)
    domain = regrading_domain(run, config)
    if domain.pack.info.model_dump(mode="json") != regrading.pack or (
        regrading.task_set is not None
        and graded_by(domain, config, run) != regrading.task_set.whole
    ):
        raise InputError(
            f"The data of '{regrading.name}' has changed: give it the data it began with, or grade "
            f"anew: greenroom regrade {run.name}"
        )
    return regrading, config, domain


def enqueue_regrading(store: Store, regrading: RegradingRecord) -> None:
    """Let workers that help do what is left of a regrading; refused while others work on it."""
    store.regradings.workers.enqueue(regrading.id, regrading.name, regrading.left)


async def run_regrading(
    store: Store,
    regrading: RegradingRecord,
    config: RegradingConfig,
    domain: Domain,
    *,
    helps: bool = False,
    on_result: Callable[[GradeRecord], None] = lambda _: None,
    on_plan: Callable[[RegradingPlan], None] = lambda _: None,
) -> None:
    """Grade all episodes that have no second grade yet; see `run_job` for how it may end.

    A worker that `helps` shares them with others.
    """

    @asynccontextmanager
    async def open_plan(used: Sequence[Usage]) -> AsyncGenerator[RegradingPlan]:
        async with open_models(config, used) as pool:

            async def attempt(
                episode: EpisodeRecord, ledger: Ledger, number: int
            ) -> Attempted[GradeRecord]:
                model = None
                if config.judge_model is not None:
                    scope = f"regrade {episode.task_index} {episode.trial}"
                    settings = judge_model(config)
                    model = pool.model(settings, "judge", ledger, scope=scope, seed=episode.seed)
                grade = await grade_again(domain, regrading, episode, model, ledger)
                return Attempted(grade)

            yield Plan(
                load=lambda keys: list(store.runs.pages.each_of(regrading.run_id, keys)),
                attempt=attempt,
                pool=pool,
                max_concurrency=config.max_concurrency,
                max_retries=0,
            )

    await run_job(
        store.regradings,
        regrading,
        regrading.left,
        open_plan,
        helps=helps,
        on_plan=on_plan,
        on_result=on_result,
    )


async def grade_again(
    domain: Domain,
    regrading: RegradingRecord,
    episode: EpisodeRecord,
    model: Model | None,
    ledger: Ledger,
) -> GradeRecord:
    """The second grade of an episode, or the reason why there is none."""
    started_at, start = datetime.now(UTC), time.monotonic()

    def record(outcome: Outcome, **more: Any) -> GradeRecord:
        return GradeRecord(
            task_index=episode.task_index,
            trial=episode.trial,
            outcome=outcome,
            before=episode.reward,
            started_at=started_at,
            seconds=time.monotonic() - start,
            usage=ledger.usage(),
            model_seconds=ledger.latencies(),
            **more,
        )

    try:
        found = regrade(domain, regrading.task_split, episode, regrading.basis)
    except (Refused, SetUpFailed) as reason:
        return record("answered", refused=str(reason))
    kept = 0
    if model is None:
        found, kept = with_first_verdicts(found, episode)
    reward = found.reward
    if reward is None:
        return record(episode.outcome, reward=0.0, task_id=found.task.id)
    if model is not None:
        reward = await judged(
            model, reward, domain, found.task, found.trajectory, without_budget="raise"
        )
        found = Regraded(found.task, found.trajectory, reward, found.changed_answers)
    return record(
        "success" if reward.value == 1.0 else "failure",
        reward=reward.value,
        task_id=found.task.id,
        details=reward_record(domain, reward),
        reasons=[] if reward.value == episode.reward else differences(episode, found),
        changed_answers=found.changed_answers,
        kept_verdicts=kept,
    )


def summarise_regrading(grades: Iterable[GradeRecord]) -> RegradingSummary:
    """Second grades counted."""
    found = list(grades)
    graded = [one for one in found if one.reward is not None]
    flips = Counter(one.flip for one in graded)
    return RegradingSummary(
        episodes=len(found),
        graded=len(graded),
        refused=len(found) - len(graded),
        up=flips["up"],
        down=flips["down"],
        unjudged=sum(one.details.unjudged for one in graded if one.details is not None),
        kept_verdicts=sum(one.kept_verdicts for one in graded),
        judge_problems=dict(Counter(_judge_problems(graded)).most_common()),
        reward_before=_mean([one.before or 0.0 for one in graded]),
        reward=_mean([one.reward or 0.0 for one in graded]),
        reward_without_judge=_mean(
            [0.0 if one.details is None else one.details.without_judge for one in graded]
        ),
        reward_if_rejected=_mean([_reward_if_rejected(one) for one in graded]),
        refusals=dict(Counter(one.refused for one in found if one.refused).most_common()),
        usage=Usage.total(usage for one in found for usage in one.usage.values()),
    )


def _reward_if_rejected(grade: GradeRecord) -> float:
    unjudged = grade.details is not None and grade.details.unjudged > 0
    return 0.0 if unjudged else grade.reward or 0.0


def _judge_problems(grades: Iterable[GradeRecord]) -> Iterator[str]:
    for grade in grades:
        if grade.details is not None and grade.details.unjudged:
            yield from (
                one.reason for one in grade.details.judged if one.reason and one.met is None
            )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
