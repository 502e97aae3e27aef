"""Many episodes judged, several at a time, and the judgements counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import get_args

import anyio

from greenroom.analysis.errors import diagnose
from greenroom.judging.faults import judge_episode
from greenroom.judging.records import FaultAuthor, FaultJudgement, FaultKind, FaultSummary, added
from greenroom.messages import Message
from greenroom.models.purses import Ledger
from greenroom.models.types import Model
from greenroom.store.records import EpisodeRecord

MakeModel = Callable[[EpisodeRecord, Ledger], Model]
"""The judge of an episode, and where it counts what it takes."""
OnJudgement = Callable[[FaultJudgement], None]


def failed_episodes(episodes: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """The episodes that a judge can be asked about: failed, and not by a broken connection."""
    return [
        episode
        for episode in episodes
        if episode.outcome != "infrastructure_error" and diagnose(episode) is not None
    ]


def policy_seen(episodes: Iterable[EpisodeRecord]) -> str:
    """The policy as the agent was given it, from the first system message that there is."""
    for episode in episodes:
        for message in episode.messages or []:
            if message.get("role") == "system":
                return Message.model_validate(message).text
    return ""


async def judge_episodes(
    episodes: Iterable[EpisodeRecord],
    make_model: MakeModel,
    *,
    policy: str,
    max_concurrency: int = 1,
    on_judgement: OnJudgement = lambda _: None,
    name: str = "judge",
) -> list[FaultJudgement]:
    """The judgements of the failed ones among episodes, by task and trial.

    `on_judgement` is called with each as soon as it is there. What a person has to mend, such as a
    wrong key, ends it all; what a model fails to answer is a judgement with an error.
    """
    pending = iter(failed_episodes(episodes))
    judgements: list[FaultJudgement] = []

    async def work() -> None:
        for episode in pending:  # shared by all workers: each takes what is next
            ledger = Ledger()
            judgement = await judge_episode(
                make_model(episode, ledger), episode, policy=policy, name=name, ledger=ledger
            )
            judgements.append(judgement)
            on_judgement(judgement)

    async with anyio.create_task_group() as workers:
        for _ in range(max(1, max_concurrency)):
            workers.start_soon(work)
    return sorted(judgements, key=lambda judgement: (judgement.task_index, judgement.trial))


def summarise(judgements: Iterable[FaultJudgement]) -> FaultSummary:
    """Judgements by author and kind, the commonest first."""
    found = list(judgements)
    complete = [judgement for judgement in found if judgement.error is None]
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
        usage=added(judgement.usage for judgement in found),
    )
