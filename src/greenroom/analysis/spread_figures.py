"""The figures of a spread over users. Reports hold them, and load no numbers for that."""

from __future__ import annotations

from typing import Literal

from greenroom.analysis.figures import Estimate, Immutable

Part = Literal["task", "user", "task_and_user", "trial", "residual"]
PARTS: tuple[Part, ...] = ("task", "user", "task_and_user", "trial", "residual")


class VariancePart(Immutable, frozen=True):
    """One part of the variance."""

    part: Part
    variance: Estimate
    share: float
    """Of all parts together."""


class VarianceSplit(Immutable, frozen=True):
    """The variance of results by what it comes from."""

    parts: list[VariancePart]
    """Without several trials, trials count as task, and what suits users as residual."""
    tasks: int
    users: int
    results: int
    missing: int
    """Cells of tasks x users x trials without a result."""
    user_deviation: Estimate
    """The standard deviation of users, with an interval for users like these."""

    def share_of(self, part: Part) -> float:
        """The share of one part; 0 where it was not told apart."""
        return next((one.share for one in self.parts if one.part == part), 0.0)


class UserDifference(Immutable, frozen=True):
    """How far two agents lie apart with one user."""

    user: str
    tasks: int
    baseline: float
    value: float
    difference: Estimate
    p_value: float
    flipped: bool
    """The order is not that over all users."""
    sure: bool
    """The difference with this user is beyond chance: test, corrected for all users, and interval
    agree."""


class RankingSpread(Immutable, frozen=True):
    """How far the ranking of two agents depends on the user."""

    difference: float
    """The mean over users."""
    users: list[UserDifference]
    flips: float
    """The share of users with whom the order is the other one."""
    sure_flips: int
    """Of these, how many are beyond chance."""
    deviation: Estimate
    """The standard deviation of the true difference over users, for users like these."""
