"""Sentences of tasks that a judge decides about, counted apart from the rest of the reward."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from greenroom.analysis.figures import Immutable
from greenroom.analysis.judge_checks import JudgeCheck
from greenroom.store.episode_counts import JudgedCounts
from greenroom.store.trajectory_records import RewardRecord

_MOST_REASONS = 3


class JudgedFigures(Immutable, frozen=True):
    """What the judge says of a run, and what the rewards are without it.

    Rewards are means over all episodes with a result. Where a sentence that counts is not judged,
    the reward leaves it out; `reward_if_rejected` supposes that a judge rejected all of those.
    """

    episodes: int
    """Episodes with sentences that count."""
    accepted: int
    """Sentences."""
    rejected: int
    unjudged: int
    unjudged_episodes: int
    """Episodes with a sentence that counts and is not judged."""
    reward_without_judge: float
    reward: float
    """With the verdicts that there are."""
    reward_if_rejected: float
    judge: str = ""
    """The model; empty if the run has none."""
    reasons: dict[str, int] = Field(default_factory=dict[str, int])
    """Why sentences are not judged, with how often; the most frequent ones."""
    check: JudgeCheck | None = None
    """How far this judge can be trusted, where somebody has checked it."""


class JudgedTally:
    """Counts the judged sentences of a run's episodes."""

    def __init__(self) -> None:
        self._results = 0
        self._counts, self._reasons = Counter[str](), Counter[str]()

    def add(self, reward: float | None, judged: JudgedCounts | None) -> None:
        """Count an episode: its reward, and what a judge decided of it."""
        if reward is None:
            return
        counts = self._counts
        self._results += 1
        counts["reward"] += int(reward)
        if judged is None:
            return
        counts["without_judge"] += judged.without_judge
        counts["if_rejected"] += 0 if judged.unjudged else int(reward)
        if not judged.sentences:
            return
        counts["episodes"] += 1
        counts["unjudged_episodes"] += judged.unjudged > 0
        for name in ("accepted", "rejected", "unjudged"):
            counts[name] += getattr(judged, name)
        for reason, count in judged.reasons.items():
            self._reasons[reason or "the run has no judge: give --judge-model"] += count

    def figures(self, judge: str) -> JudgedFigures | None:
        """What was counted; None if no episode has sentences that count."""
        counts = self._counts
        if not counts["episodes"]:
            return None
        return JudgedFigures(
            episodes=counts["episodes"],
            accepted=counts["accepted"],
            rejected=counts["rejected"],
            unjudged=counts["unjudged"],
            unjudged_episodes=counts["unjudged_episodes"],
            reward_without_judge=counts["without_judge"] / self._results,
            reward=counts["reward"] / self._results,
            reward_if_rejected=counts["if_rejected"] / self._results,
            judge=judge,
            reasons=dict(self._reasons.most_common(_MOST_REASONS)),
        )


def judged_counts(details: RewardRecord | None) -> JudgedCounts | None:
    """What a judge decided of an episode; None if its reward was not worked out in parts."""
    if details is None:
        return None
    sentences = details.judged if "judged" in details.basis else []
    return JudgedCounts(
        without_judge=int(details.without_judge),
        sentences=len(sentences),
        accepted=sum(one.met is True for one in sentences),
        rejected=sum(one.met is False for one in sentences),
        unjudged=sum(one.met is None for one in sentences),
        reasons=dict(Counter(one.reason for one in sentences if one.met is None)),
    )


__all__ = ["JudgedFigures", "JudgedTally", "judged_counts"]
