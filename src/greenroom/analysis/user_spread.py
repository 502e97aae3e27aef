"""How much of what an agent achieves depends on the task, on the user and on chance.

The same tasks are played with several users, each in several trials. A result is then the sum of
five parts that vary independently:

    task            tasks differ in how hard they are
    user            users differ in how well agents get on with them
    task and user   some users make some tasks harder
    trial           what trials of a task have in common whoever the user is, by a seed, say
    residual        the rest: chance

Each part is estimated from the mean product of two results, of which the pairs share one thing or
another: two results of one task with different users and trials have the task in common, and
nothing else. No cell has to be there, and none of the estimates is biased by cells that are
missing at random. Results are taken as distances from their middle: where one user has more of
them than another, plain products come to the same on average and scatter several times as far.
Estimates below 0 are 0. Uncertainty is the jackknife's, over groups of tasks, but for the users:
they are few, and their interval is that of a variance of so few values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import NormalDist, fmean, variance

import numpy as np
from numpy.typing import NDArray

from greenroom.analysis.distributions import student_quantile
from greenroom.analysis.figures import CONFIDENCE, Estimate, without_interval
from greenroom.analysis.spread_figures import (
    PARTS,
    Part,
    RankingSpread,
    UserDifference,
    VariancePart,
    VarianceSplit,
)

Results = Mapping[tuple[int, int, int], float]
"""A result from 0 to 1 by task, user and trial."""

MOST_VARIANCE = 0.25
"""Of what lies between 0 and 1."""
_GROUPS = 50
FEWEST_TASKS = 3
"""A split over fewer tasks says nothing."""


class _Moments:
    """Mean products of pairs of results, from sums over groups."""

    def __init__(self, tasks: Codes, users: Codes, trials: Codes, values: Values) -> None:
        cells = _joined(tasks, users)
        values = values - _middle(cells, users, values)
        single = float(values @ values), float(len(values))
        all_pairs = float(values.sum()) ** 2, float(len(values)) ** 2
        task, user = _squares(tasks, values), _squares(users, values)
        cell = _squares(cells, values)
        trial = _squares(_joined(tasks, trials), values)
        self.one = _ratio(single)
        self.task_user = _ratio(_less(cell, single))
        self.task_trial = _ratio(_less(trial, single))
        self.task = _ratio(_plus(_less(_less(task, cell), trial), single))
        self.user = _ratio(_less(user, cell))
        self.none = _ratio(_plus(_less(_less(all_pairs, task), user), cell))

    def parts(self) -> dict[Part, float]:
        """The variance of each part, which may be below 0."""
        total = self.one - self.none
        user = self.user - self.none
        if np.isnan(self.task):  # One trial each: pairs with a task in common share the trial, too.
            task = self.task_trial - self.none
            return {"task": task, "user": user, "residual": total - task - user}
        task = self.task - self.none
        trial = self.task_trial - self.task
        both = self.task_user - self.task - user
        rest = total - task - user - trial - both
        return {
            "task": task,
            "user": user,
            "task_and_user": both,
            "trial": trial,
            "residual": rest,
        }


Codes = NDArray[np.int64]
Values = NDArray[np.float64]
_Sum = tuple[float, float]
"""A sum of products, and of how many pairs."""


def split_variance(results: Results, confidence: float = CONFIDENCE) -> VarianceSplit:
    """Split the variance of results over tasks, users and trials.

    It takes at least two users and three tasks. Results that are all the same have no intervals:
    they do not say what would vary.
    """
    tasks, users, trials, values = _coded(results)
    sizes = [int(one.max()) + 1 if len(one) else 0 for one in (tasks, users, trials)]
    if sizes[0] < FEWEST_TASKS or sizes[1] < 2:
        raise ValueError("a split takes at least three tasks and two users")
    missing = sizes[0] * sizes[1] * sizes[2] - len(values)
    counts = {"tasks": sizes[0], "users": sizes[1], "results": len(values), "missing": missing}
    if np.ptp(values) == 0:
        alike = without_interval(0.0)
        same = [VariancePart(part=part, variance=alike, share=0.0) for part in PARTS]
        return VarianceSplit(parts=same, user_deviation=alike, **counts)
    whole = _Moments(tasks, users, trials, values).parts()
    groups = min(_GROUPS, sizes[0])
    left = [
        _Moments(tasks[kept], users[kept], trials[kept], values[kept]).parts()
        for kept in (tasks % groups != group for group in range(groups))
    ]
    reach = student_quantile(groups - 1, (1 + confidence) / 2)
    found: dict[Part, Estimate] = {}
    for part, value in whole.items():
        without = [one[part] for one in left if part in one]
        error = sqrt((groups - 1) / groups * sum((one - fmean(without)) ** 2 for one in without))
        found[part] = Estimate(
            value=min(MOST_VARIANCE, max(0.0, value)),
            low=min(MOST_VARIANCE, max(0.0, value - reach * error)),
            high=min(MOST_VARIANCE, max(0.0, value + reach * error)),
            method="estimated",
        )
    total = sum(one.value for one in found.values())
    means = [float(values[users == user].mean()) for user in range(sizes[1])]
    deviation = user_deviation(means, found["user"].value, confidence)
    # Other tasks would not tell how far other users lie apart.
    ends = {"low": deviation.low**2, "high": deviation.high**2, "method": deviation.method}
    found["user"] = found["user"].model_copy(update=ends)
    return VarianceSplit(
        parts=[
            VariancePart(part=part, variance=one, share=one.value / total if total else 0.0)
            for part, one in found.items()
        ],
        user_deviation=deviation,
        **counts,
    )


def user_deviation(means: Sequence[float], value: float, confidence: float) -> Estimate:
    """The standard deviation of users like these: few users say little about it.

    The means of users vary by more than users do: by chance, too. Their variance has the interval
    of a variance of normal values; what chance adds to it is taken off both ends.
    """
    degrees = len(means) - 1
    seen = variance(means)
    if seen == 0:
        return without_interval(0.0)
    chance = max(0.0, seen - value)
    tail = (1 - confidence) / 2
    low, high = (degrees * seen / _chi_square(degrees, share) for share in (1 - tail, tail))
    ends = (sqrt(min(MOST_VARIANCE, max(0.0, end - chance))) for end in (low, high))
    low, high = ends
    middle = sqrt(value)
    return Estimate(value=middle, low=min(low, middle), high=max(high, middle), method="estimated")


def _chi_square(degrees: int, share: float) -> float:
    """The quantile by Wilson and Hilferty; so close to 0 that it says nothing, for one degree."""
    step = 2 / (9 * degrees)
    root = 1 - step + NormalDist().inv_cdf(share) * sqrt(step)
    return degrees * max(root, 1e-4) ** 3


def _joined(first: Codes, second: Codes) -> Codes:
    return first * (int(second.max()) + 1) + second


def _coded(results: Results) -> tuple[Codes, Codes, Codes, Values]:
    """The task, the user and the trial of each result, counted from 0, and the results."""
    keys = np.array(sorted(results), dtype=np.int64).reshape(-1, 3)
    values = np.array([results[int(i), int(u), int(t)] for i, u, t in keys], dtype=np.float64)
    tasks, users, trials = (np.unique(keys[:, place], return_inverse=True)[1] for place in range(3))
    return tasks, users, trials, values


def _middle(cells: Codes, users: Codes, values: Values) -> float:
    """The mean over users of the mean over their tasks: all users count alike."""
    counts = np.bincount(cells)
    there = np.flatnonzero(counts)
    means = np.bincount(cells, weights=values)[there] / counts[there]
    of_users = there % (int(users.max()) + 1)
    tasks = np.bincount(of_users)
    sums = np.bincount(of_users, weights=means)
    return float(np.mean(sums[tasks > 0] / tasks[tasks > 0]))


def _squares(groups: Codes, values: Values) -> _Sum:
    """All products within groups, each value's own square among them."""
    sums, counts = np.bincount(groups, weights=values), np.bincount(groups).astype(np.float64)
    return float(sums @ sums), float(counts @ counts)


def _less(one: _Sum, other: _Sum) -> _Sum:
    return one[0] - other[0], one[1] - other[1]


def _plus(one: _Sum, other: _Sum) -> _Sum:
    return one[0] + other[0], one[1] + other[1]


def _ratio(one: _Sum) -> float:
    return one[0] / one[1] if one[1] > 0.5 else float("nan")


# Two agents


def spread_of_ranking(
    baseline: Mapping[str, Mapping[int, Sequence[bool]]],
    other: Mapping[str, Mapping[int, Sequence[bool]]],
    confidence: float = CONFIDENCE,
) -> RankingSpread:
    """Compare two agents user by user; results are by user and task, a list of trials each."""
    from greenroom.analysis.paired import holm, paired_figures

    names = [name for name in baseline if name in other]
    if len(names) < 2:
        raise ValueError("a ranking over users takes two users that both agents have")
    apart: dict[tuple[int, int, int], float] = {}
    found: list[tuple[str, int, float, float, Estimate, float]] = []
    for place, name in enumerate(names):
        common = sorted(
            task for task, trials in baseline[name].items() if trials and other[name].get(task)
        )
        before = [fmean(baseline[name][task]) for task in common]
        after = [fmean(other[name][task]) for task in common]
        one = paired_figures(before, after, confidence)
        found.append((name, len(common), one.baseline, one.value, one.difference, one.p_value))
        apart |= {
            (task, place, 0): high - low
            for task, low, high in zip(common, before, after, strict=True)
        }
    corrected = holm([one[-1] for one in found])
    apart_by_user = [difference.value for *_, difference, _ in found]
    overall = fmean(apart_by_user)
    order = _order(overall, apart_by_user)
    users = [
        UserDifference(
            user=name,
            tasks=tasks,
            baseline=then,
            value=now,
            difference=difference,
            p_value=p_value,
            flipped=difference.value * order < 0,
            sure=p <= 1 - confidence and difference.low * difference.high > 0,
        )
        for (name, tasks, then, now, difference, p_value), p in zip(found, corrected, strict=True)
    ]
    return RankingSpread(
        difference=overall,
        users=users,
        flips=fmean(one.flipped for one in users),
        sure_flips=sum(one.flipped and one.sure for one in users),
        deviation=_deviation(apart, apart_by_user, confidence),
    )


def _order(overall: float, by_user: Sequence[float]) -> int:
    """Which agent is ahead over all users: 1 for the other one, -1 for the baseline.

    If they are even on average, the order is that with most users.
    """
    if abs(overall) < 1e-9:
        return 1 if sum(one > 0 for one in by_user) >= sum(one < 0 for one in by_user) else -1
    return 1 if overall > 0 else -1


def _deviation(apart: Results, means: Sequence[float], confidence: float) -> Estimate:
    if len({task for task, _, _ in apart}) < FEWEST_TASKS:
        return without_interval(None)
    value = max(0.0, _Moments(*_coded(apart)).parts()["user"])
    return user_deviation(means, value, confidence)
