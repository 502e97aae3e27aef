"""Sentences of tasks that a judge decides about, counted apart from the rest of the reward."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from greenroom.analysis.figures import Immutable
from greenroom.store.records import EpisodeRecord

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


class JudgedTally:
    """Counts the judged sentences of a run's episodes."""

    def __init__(self) -> None:
        self._results = 0
        self._counts, self._reasons = Counter[str](), Counter[str]()

    def add(self, episode: EpisodeRecord) -> None:
        """Count an episode."""
        if episode.reward is None:
            return
        details, counts = episode.details, self._counts
        self._results += 1
        counts["reward"] += int(episode.reward)
        if details is None:
            return
        counts["without_judge"] += int(details.without_judge)
        counts["if_rejected"] += 0 if details.unjudged else int(episode.reward)
        if "judged" not in details.basis or not details.judged:
            return
        counts["episodes"] += 1
        counts["unjudged_episodes"] += details.unjudged > 0
        for one in details.judged:
            names = {True: "accepted", False: "rejected", None: "unjudged"}
            counts[names[one.met]] += 1
            if one.met is None:
                self._reasons[one.reason or "the run has no judge: give --judge-model"] += 1

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


__all__ = ["JudgedFigures", "JudgedTally"]
