"""Intervals for figures of a run: how far from the truth chance may have put them.

What is estimated is the figure for the population that the tasks were drawn from, not for these
tasks alone: trials of one task resemble each other, so tasks are the units.
An agent that solves 20 tasks in all of 8 trials has been seen on 20 tasks, not 160.

**An effective number of tasks** (method "estimated"). How far tasks lie apart gives the figure's
variance, which becomes a design effect: the ratio to the variance of as many coin tosses. The tasks
divided by it are the effective number of tosses, and the interval is Clopper and Pearson's for that
number (Korn and Graubard's method for surveys). It keeps within 0 and 1 and is as skewed as shares
are. Where few tasks tell anything (all others are at the end that the figure is near), their
variance is hardly known and mostly too small. The design effect is therefore drawn towards 1, whole
tasks tossed as coins; all the way if one task tells everything. The plain percentile bootstrap does
nothing of this: it holds the truth in 81 % instead of 95 % for 20 unlike tasks x 8 trials at 0.95.
`benchmarks/statistics.py` measures the coverage.

**Exact bounds** (method "exact") where all tasks are alike. If T tasks all show the same
value c, the chance q that a task shows it is at least (alpha/2)^(1/T), or T in a row would have
been less likely than alpha/2; the mean is then within q c and q c + (1 - q), values being in 0..1.
For c = 1 this is Clopper and Pearson's bound for tasks as units. A single task says nothing of
other tasks: its interval is Clopper and Pearson's for its own chance p over its trials, raised to
the power of k for pass^k, and speaks of that task only.

**Cautious intervals.** Shares near 0 and 1 take few values, and no interval can be exact there.
These are on the safe side: they hold the truth more often than they say, and are marked.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp, inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from greenroom.analysis.distributions import beta_quantile, student_quantile
from greenroom.analysis.figures import CONFIDENCE, NOTHING, Estimate, without_interval

DOUBT = 1.25
"""How fast doubt about the variance falls with the tasks that tell something. Found by simulation:
a larger power covers unlike tasks too rarely, a smaller one makes scores of like rows too wide."""
FEW_TOSSES = 5
"""With fewer effective successes, or failures, an interval is on the safe side."""
MUCH_DRAWN = 1.5
"""So is one whose variance doubt has raised to this many times what the tasks show."""
OVERALL_KS = (1, 2, 3, 4)

Floats = NDArray[np.float64]


class SuccessIntervals:
    """pass^k and the overall score of tasks with their trials, with intervals."""

    def __init__(self, counts: Sequence[tuple[int, int]], confidence: float = CONFIDENCE) -> None:
        """Take each task's number of trials, and how many of them succeeded."""
        self._counts = [(trials, successes) for trials, successes in counts if trials > 0]
        self._confidence = confidence

    @property
    def most_trials(self) -> int:
        """The largest k that any task can be judged by."""
        return max((trials for trials, _ in self._counts), default=0)

    def pass_hat_k(self, k: int) -> Estimate:
        """pass^k over the tasks with at least k trials."""
        return self._mean_pass_hat([k])

    def overall_score(self) -> Estimate:
        """The mean of pass^1 to pass^4; NaN if no task has 4 trials."""
        return self._mean_pass_hat(OVERALL_KS)

    def _mean_pass_hat(self, ks: Sequence[int]) -> Estimate:
        deepest = [counts for counts in self._counts if counts[0] >= max(ks)]
        if not deepest:
            return NOTHING
        judged: list[tuple[Floats, NDArray[np.bool_]]] = []
        for k in ks:
            has = np.array([trials >= k for trials, _ in self._counts])
            shares = [_chance(c, n, k) if n >= k else 0.0 for n, c in self._counts]
            judged.append((np.array(shares, dtype=np.float64), has))
        value = float(np.mean([shares[has].mean() for shares, has in judged]))
        if len(deepest) == 1:
            return self._single_task(value, deepest[0], ks)
        overall = judged[-1][1]
        per_task = np.mean([shares for shares, _ in judged], axis=0)[overall]
        if np.ptp(per_task) == 0:
            return constant_bounds(value, len(deepest), self._confidence)
        # What each task adds to the figure's distance from the truth, for each k that it has.
        parts = [(shares - shares[has].mean()) * has / has.sum() for shares, has in judged]
        variance = _variance(np.mean(parts, axis=0), len(deepest))
        return share_interval(value, variance, per_task, self._confidence)

    def _single_task(self, value: float, counts: tuple[int, int], ks: Sequence[int]) -> Estimate:
        low, high = binomial_bounds(*counts, self._confidence)
        low, high = (float(np.mean([end**k for k in ks])) for end in (low, high))
        return _exact(value, min(value, low), max(value, high))


def average_reward(
    rewards: Mapping[int, Sequence[float]], confidence: float = CONFIDENCE
) -> Estimate:
    """The mean of all rewards or scores with its interval; tasks or rows are the units."""
    counts, totals, value = _sums(rewards)
    if not len(counts):
        return NOTHING
    means = totals / counts
    bounded = all(0 <= reward <= 1 for row in rewards.values() for reward in row)
    if len(counts) == 1:
        if not all(reward in (0, 1) for row in rewards.values() for reward in row):
            return without_interval(value)
        low, high = binomial_bounds(int(counts[0]), round(totals[0]), confidence)
        return _exact(value, low, high)
    if np.ptp(means) == 0:
        return (
            constant_bounds(value, len(counts), confidence) if bounded else without_interval(value)
        )
    variance = _ratio_variance(counts, totals, value)
    if bounded:
        return share_interval(value, variance, means, confidence)
    return student_interval(value, variance, len(counts), confidence)


def mean_count(counts: Mapping[int, Sequence[int]], confidence: float = CONFIDENCE) -> Estimate:
    """The mean of a count such as steps over all episodes, tasks being the units.

    Student's quantile on the scale of logarithms, since counts are positive and skewed to the
    right. One task alone, or tasks that do not differ, give no interval.
    """
    sizes, totals, value = _sums(counts)
    units = len(sizes)
    variance = _ratio_variance(sizes, totals, value) if units > 1 and value > 0 else nan
    if isnan(variance) or variance <= 0:
        return without_interval(value)
    reach = student_quantile(units - 1, (1 + confidence) / 2) * sqrt(variance) / value
    high = exp(log(value) + reach) if reach < 50 else inf
    return _estimated(value, exp(log(value) - reach), high)


def _sums(by_task: Mapping[int, Sequence[float]]) -> tuple[Floats, Floats, float]:
    """The number and the sum of each task's values, and the mean of all of them."""
    rows = [row for row in by_task.values() if row]
    counts = np.array([len(row) for row in rows], dtype=np.float64)
    totals = np.array([sum(row) for row in rows], dtype=np.float64)
    return counts, totals, float(totals.sum() / counts.sum()) if rows else nan


def _ratio_variance(counts: Floats, totals: Floats, value: float) -> float:
    return _variance((totals - value * counts) / counts.sum(), len(counts))


def _variance(added: Floats, units: int) -> float:
    """The variance of a figure, from what each unit adds to its distance from the truth.

    The factor is the usual one for a variance from few units.
    """
    return float((added**2).sum()) * units / (units - 1)


def _estimated(value: float, low: float, high: float, *, cautious: bool = False) -> Estimate:
    return Estimate(value=value, low=low, high=high, method="estimated", cautious=cautious)


def _exact(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, method="exact", cautious=True)


def share_interval(value: float, variance: float, values: Floats, confidence: float) -> Estimate:
    """Clopper and Pearson's interval for the effective number of tasks.

    Values are those of the tasks, 0 to 1.
    """
    tasks = len(values)
    tosses = value * (1 - value)
    if isnan(variance) or tosses <= 0:
        return constant_bounds(value, tasks, confidence)
    distances = 1 - values if value > 0.5 else values
    distances = distances / distances.max()  # squares of very small chances would be 0
    telling = float(distances.sum() ** 2 / (distances**2).sum())
    shown = variance * tasks / tosses
    effect = shown + (1 - shown) * telling**-DOUBT
    effective = tasks / effect
    low, high = binomial_bounds(effective, value * effective, confidence)
    few = effective * min(value, 1 - value) < FEW_TOSSES
    cautious = few or effect > MUCH_DRAWN * shown
    return _estimated(value, min(value, low), max(value, high), cautious=cautious)


def student_interval(
    value: float, variance: float, tasks: int, confidence: float, *, least: float = -inf
) -> Estimate:
    """The figure and so many standard errors to both sides, by Student's quantile."""
    reach = student_quantile(tasks - 1, (1 + confidence) / 2) * sqrt(variance)
    return _estimated(value, max(least, value - reach), min(-least, value + reach))


def constant_bounds(
    value: float, tasks: int, confidence: float, *, least: float = 0.0, most: float = 1.0
) -> Estimate:
    """The exact bounds for the mean if all tasks show the same value between least and most."""
    share = ((1 - confidence) / 2) ** (1 / tasks)
    low, high = (share * value + (1 - share) * end for end in (least, most))
    return _exact(value, low, high)


def binomial_bounds(trials: float, successes: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for the chance of success."""
    tail = (1 - confidence) / 2
    failures = trials - successes
    low = beta_quantile(successes, failures + 1, tail) if successes else 0.0
    high = beta_quantile(successes + 1, failures, 1 - tail) if failures else 1.0
    return low, high


def _chance(successes: int, trials: int, k: int) -> float:
    return _chances(successes, trials)[k - 1]


@lru_cache(maxsize=2048)
def _chances(successes: int, trials: int) -> Sequence[float]:
    """C(c, k) / C(n, k) for every k: each count follows from the one before, without rounding."""
    found = array("d")
    ways = of = 1
    for k in range(1, trials + 1):
        ways, of = ways * (successes - k + 1) // k, of * (trials - k + 1) // k
        found.append(ways / of)
    return found
