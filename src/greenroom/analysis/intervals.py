"""Intervals for figures of a run: how far from the truth chance may have put them.

What is estimated is the figure for the population that the tasks were drawn from, not for these
tasks alone: trials of one task resemble each other, so tasks are the units that are resampled.
An agent that solves 20 tasks in all of 8 trials has been seen on 20 tasks, not 160.

**The cluster bootstrap with an effective number of tasks** (method "bootstrap"). Resampling tasks
gives the figure's variance. The plain percentile bootstrap then reads the interval off the
resamples; with few tasks or figures near 0 or 1 that covers the truth far less often than it says
(81 % instead of 95 % for 20 unlike tasks x 8 trials at 0.95). Here the variance becomes a design
effect, the ratio to the variance of as many coin tosses. The tasks divided by it are the effective
number of tosses, and the interval is Clopper and Pearson's for that number (Korn and Graubard's
method for surveys). It keeps within 0 and 1 and is as skewed as shares are. Where few tasks tell
anything (all others are at the end that the figure is near), their variance is hardly known and
mostly too small. The design effect is therefore drawn towards 1, whole tasks tossed as coins; all
the way if one task tells everything. `benchmarks/statistics.py` measures the coverage.

**Exact bounds** (method "exact") where there is nothing to resample. If T tasks all show the same
value c, the chance q that a task shows it is at least (alpha/2)^(1/T), or T in a row would have
been less likely than alpha/2; the mean is then within q c and q c + (1 - q), values being in 0..1.
For c = 1 this is Clopper and Pearson's bound for tasks as units. A single task says nothing of
other tasks: its interval is Clopper and Pearson's for its own chance p over its trials, raised to
the power of k for pass^k, and speaks of that task only.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp, inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from greenroom.analysis.distributions import beta_quantile, student_quantile
from greenroom.analysis.figures import NOTHING, USUAL, Estimate, Resampling, without_interval

DOUBT = 1.25
"""How fast doubt about the variance falls with the tasks that tell something. Found by simulation:
a larger power covers unlike tasks too rarely, a smaller one makes scores of like rows too wide."""
OVERALL_KS = (1, 2, 3, 4)

Floats = NDArray[np.float64]


class TaskBootstrap:
    """Resamples of tasks, as how often each kind of task is drawn.

    Tasks with the same row of numbers are interchangeable, so that only kinds are drawn: a
    multinomial over a handful of kinds instead of over all tasks.
    """

    def __init__(self, rows: Sequence[Sequence[float]], how: Resampling) -> None:
        table = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
        self.kinds, counts = np.unique(table, axis=0, return_counts=True)
        generator = np.random.default_rng(how.seed)
        self._weights: Floats = generator.multinomial(
            len(rows), counts / len(rows), size=how.resamples
        ).astype(np.float64)

    def variance(self, ratios: Iterable[tuple[Floats, Floats]], tasks: int) -> float:
        """The variance of a figure that is the mean of ratios of sums over tasks.

        Each ratio is given by its numerator and denominator per kind of task. The factor is the
        usual one for a variance from few units; resamples without any denominator are no figure.
        """
        parts: list[Floats] = []
        for above, below in ratios:
            with np.errstate(divide="ignore", invalid="ignore"):
                parts.append((self._weights @ above) / (self._weights @ below))
        figures: Floats = np.mean(parts, axis=0)
        figures = figures[np.isfinite(figures)]
        if figures.size < 2 or tasks < 2:
            return nan
        return float(np.var(figures)) * tasks / (tasks - 1)


class SuccessIntervals:
    """pass^k and the overall score of tasks with their trials, with intervals."""

    def __init__(self, counts: Sequence[tuple[int, int]], how: Resampling = USUAL) -> None:
        """Take each task's number of trials, and how many of them succeeded."""
        self._counts = [(trials, successes) for trials, successes in counts if trials > 0]
        self._confidence = how.confidence
        self._bootstrap = TaskBootstrap(self._counts, how) if self._counts else None

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
        if self._bootstrap is None or not deepest:
            return NOTHING
        per_k = [[_chance(c, n, k) for n, c in self._counts if n >= k] for k in ks]
        value = float(np.mean([np.mean(chances) for chances in per_k]))
        if len(deepest) == 1:
            return self._single_task(value, deepest[0], ks)
        per_task: Floats = np.array(
            [sum(_chance(c, n, k) for k in ks) / len(ks) for n, c in deepest], dtype=np.float64
        )
        if np.ptp(per_task) == 0:
            return constant_bounds(value, len(deepest), self._confidence)
        kinds = self._bootstrap.kinds.astype(int).tolist()
        ratios = [
            (
                np.array([_chance(c, n, k) if n >= k else 0.0 for n, c in kinds]),
                np.array([float(n >= k) for n, _ in kinds]),
            )
            for k in ks
        ]
        variance = self._bootstrap.variance(ratios, len(deepest))
        return share_interval(value, variance, per_task, self._confidence)

    def _single_task(self, value: float, counts: tuple[int, int], ks: Sequence[int]) -> Estimate:
        low, high = binomial_bounds(*counts, self._confidence)
        low, high = (float(np.mean([end**k for k in ks])) for end in (low, high))
        return Estimate(value=value, low=min(value, low), high=max(value, high), method="exact")


def average_reward(rewards: Mapping[int, Sequence[float]], how: Resampling = USUAL) -> Estimate:
    """The mean reward of all episodes, tasks being the units that are resampled."""
    sums, value = _sums(rewards)
    if not sums:
        return NOTHING
    confidence = how.confidence
    means = np.array([total / count for count, total in sums])
    bounded = all(0 <= reward <= 1 for row in rewards.values() for reward in row)
    if len(sums) == 1:
        count, total = int(sums[0][0]), sums[0][1]
        if not all(reward in (0, 1) for row in rewards.values() for reward in row):
            return without_interval(value)
        low, high = binomial_bounds(count, round(total), confidence)
        return Estimate(value=value, low=low, high=high, method="exact")
    if np.ptp(means) == 0:
        return constant_bounds(value, len(sums), confidence) if bounded else without_interval(value)
    variance = _variance(sums, how)
    if bounded:
        return share_interval(value, variance, means, confidence)
    return student_interval(value, variance, len(sums), confidence)


def mean_count(counts: Mapping[int, Sequence[int]], how: Resampling = USUAL) -> Estimate:
    """The mean of a count such as steps over all episodes, tasks being the units.

    The cluster bootstrap's variance with Student's quantile, on the scale of logarithms since
    counts are positive and skewed to the right. One task alone, or tasks that do not differ, give
    no interval.
    """
    sums, value = _sums(counts)
    variance = _variance(sums, how) if len(sums) > 1 and value > 0 else nan
    if isnan(variance) or variance <= 0:
        return without_interval(value)
    reach = student_quantile(len(sums) - 1, (1 + how.confidence) / 2) * sqrt(variance) / value
    high = exp(log(value) + reach) if reach < 50 else inf
    return _bootstrapped(value, exp(log(value) - reach), high)


def _sums(by_task: Mapping[int, Sequence[float]]) -> tuple[list[tuple[float, float]], float]:
    """The number and the sum of each task's values, and the mean of all of them."""
    sums = [(float(len(row)), float(sum(row))) for row in by_task.values() if row]
    mean = sum(total for _, total in sums) / sum(count for count, _ in sums) if sums else nan
    return sums, mean


def _variance(sums: Sequence[tuple[float, float]], how: Resampling) -> float:
    bootstrap = TaskBootstrap(sums, how)
    return bootstrap.variance([(bootstrap.kinds[:, 1], bootstrap.kinds[:, 0])], len(sums))


def _bootstrapped(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, method="bootstrap")


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
    effect = variance * tasks / tosses
    effect += (1 - effect) * telling**-DOUBT
    low, high = binomial_bounds(tasks / effect, value * tasks / effect, confidence)
    return _bootstrapped(value, min(value, low), max(value, high))


def student_interval(
    value: float, variance: float, tasks: int, confidence: float, *, least: float = -inf
) -> Estimate:
    """The figure and so many standard errors to both sides, by Student's quantile."""
    reach = student_quantile(tasks - 1, (1 + confidence) / 2) * sqrt(variance)
    return _bootstrapped(value, max(least, value - reach), min(-least, value + reach))


def constant_bounds(
    value: float, tasks: int, confidence: float, *, least: float = 0.0, most: float = 1.0
) -> Estimate:
    """The exact bounds for the mean if all tasks show the same value between least and most."""
    share = ((1 - confidence) / 2) ** (1 / tasks)
    low, high = (share * value + (1 - share) * end for end in (least, most))
    return Estimate(value=value, low=low, high=high, method="exact")


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
