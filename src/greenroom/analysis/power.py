"""What a comparison can find, and what it would take to find more.

The difference between two agents on a task varies for two reasons: tasks differ in which agent
they suit (more trials do not help against that, more tasks do), and trials of a task differ by
chance (both help). With T tasks of n trials the mean difference has the variance

    (between tasks + within tasks / n) / T

and it is called if the sign-flip test says so. From this follow the power for a true difference,
the smallest difference that is found with a given power, and the numbers of trials and tasks that a
difference needs. The variance between tasks is itself uncertain: few tasks that are all alike may
look as if they differed. That no number of trials helps is said only if its lower bound says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, nan, sqrt
from statistics import NormalDist, fmean, harmonic_mean, variance

from greenroom.analysis.distributions import noncentral_student_cdf

USUAL_POWER = 0.8
MOST = 10_000_000
"""Larger numbers of trials or tasks are no answer."""

Counts = tuple[int, int]
"""A task's number of trials, and of successes among them."""


@dataclass(frozen=True, slots=True)
class DifferenceSpread:
    """Why the difference of two agents varies from task to task."""

    between_tasks: float
    """The variance of the true difference over tasks."""
    within_tasks: float
    """The variance that chance adds to the difference of one trial each."""
    separable: bool = True
    """False if tasks have one trial only: all variance is then taken as between tasks."""
    least_between: float = 0.0
    """The variance between tasks is hardly smaller than this: a lower bound at 97.5 %."""

    def of_task(self, trials: float) -> float:
        """The variance of a task's difference with so many trials of each agent."""
        return self.between_tasks + self.within_tasks / trials


def observed_spread(pairs: Sequence[tuple[Counts, Counts]]) -> tuple[DifferenceSpread, float]:
    """The spread that the trials of two agents show, and the number of trials that tasks have.

    The parts are estimated without bias from the variance of the differences and from that of
    trials within tasks; a negative part is 0. If no task shows any difference, the spread is as if
    one of them did: nothing seen does not mean that nothing varies.
    """
    trials = harmonic_mean([count for pair in pairs for count, _ in pair])
    differences = [second[1] / second[0] - first[1] / first[0] for first, second in pairs]
    total = variance(differences) if len(pairs) > 1 else 0.0
    if total < 1e-12:
        return DifferenceSpread(1 / len(pairs), 0.0, separable=False), trials
    repeated = [pair for pair in pairs if min(pair[0][0], pair[1][0]) > 1]
    if not repeated:
        return DifferenceSpread(total, 0.0, separable=False), trials
    within = fmean(trial_noise(*counts) for pair in repeated for counts in pair) * 2
    noise = fmean(trial_noise(*counts) / counts[0] for pair in repeated for counts in pair) * 2
    reach = exp(1.96 * _relative_error(differences, total))
    if total * reach < noise:  # Trials of both runs go alike: by a seed or a cache that they share.
        return DifferenceSpread(0.0, total * trials), trials
    between, surely = (max(0.0, one - noise) for one in (total, total / reach))
    return DifferenceSpread(between, within, least_between=surely), trials


@dataclass(frozen=True, slots=True)
class PowerAnalysis:
    """The power of comparisons whose differences spread like this.

    With several comparisons at once, the level is shared among them (Bonferroni's share: Holm's
    correction finds at least as much).
    """

    spread: DifferenceSpread
    confidence: float = 0.95
    comparisons: int = 1
    power: float = USUAL_POWER
    """The power that is asked for, where sizes are."""

    def power_to_detect(self, difference: float, *, tasks: int, trials: float) -> float:
        """The chance that a true difference of this size is called by `compare_runs`.

        With so few tasks that no pattern of signs is rare enough to be called, it is 0. The test's
        variance is that around 0, not around the mean, which Student's t has; one follows from the
        other.
        """
        level = (1 - self.confidence) / self.comparisons
        normal = NormalDist().inv_cdf(1 - level / 2)
        if tasks <= normal**2 or 0.5 ** (tasks - 1) > level:
            return 0.0
        if difference == 0:
            return level
        error = sqrt(self.spread.of_task(trials) / tasks)
        quantile = normal * sqrt((tasks - 1) / (tasks - normal**2))
        if abs(difference) >= (quantile + 8) * error:
            return 1.0
        shift = abs(difference) / error
        missed = noncentral_student_cdf(tasks - 1, shift, quantile)
        wrong_way = noncentral_student_cdf(tasks - 1, shift, -quantile) if shift < 4 else 0.0
        return 1 - missed + wrong_way

    def detectable_difference(self, *, tasks: int, trials: float) -> float:
        """The smallest true difference that is called with this power; NaN if none up to 1 is."""
        low, high = 0.0, 1.0
        if self.power_to_detect(high, tasks=tasks, trials=trials) < self.power:
            return nan
        while high - low > 1e-5:
            middle = (low + high) / 2
            found = self.power_to_detect(middle, tasks=tasks, trials=trials) >= self.power
            low, high = (low, middle) if found else (middle, high)
        return high

    def trials_needed(self, difference: float, *, tasks: int) -> int | None:
        """How many trials of each of these tasks find a difference; None if no number does."""

        def found(trials: float) -> bool:
            return self.power_to_detect(difference, tasks=tasks, trials=trials) >= self.power

        return _least(found) if self.spread.separable and found(inf) else None

    def more_trials_suffice(self, difference: float, *, tasks: int) -> bool:
        """Whether some number of trials of these tasks may find a difference.

        False only if that is sure: even the least variance between tasks hides it.
        """
        least = DifferenceSpread(self.spread.least_between, 0.0)
        analysis = replace(self, spread=least)
        return analysis.power_to_detect(difference, tasks=tasks, trials=1) >= self.power

    def tasks_needed(self, difference: float, *, trials: float) -> int | None:
        """How many tasks like these find a difference; None if it is too small for any number."""
        return _least(
            lambda tasks: self.power_to_detect(difference, tasks=tasks, trials=trials) >= self.power
        )


def _least(enough: Callable[[int], bool]) -> int | None:
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def trial_noise(trials: int, successes: int) -> float:
    """p (1 - p) of a task with more than one trial, without bias."""
    return successes * (trials - successes) / (trials * (trials - 1))


def _relative_error(differences: Sequence[float], total: float) -> float:
    """How far off their variance may be, as a share of it: at least as far as for normal ones."""
    centre = fmean(differences)
    tails = fmean((one - centre) ** 4 for one in differences) / total**2
    return sqrt(max(2.0, tails - 1) / (len(differences) - 1))
