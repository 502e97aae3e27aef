# ruff: noqa: A005 (it is always imported as benchmarks.statistics)
"""Whether the statistics keep what they promise: coverage, false calls and power, by simulation.

The truth is known here because the agents are made up. Tasks are drawn from a population in which
the chance of success has a beta distribution with a mean and a likeness, which is the correlation
of trials of one task (0: all tasks are equally hard); trials are drawn from that chance. What is to
be covered is the population's E[p^k]. Over 1,000 repetitions, chance alone moves a share by 0.7
points (a coverage of 95 %) to 1.6 points (a power of 50 %) either way.

The naive way beside ours is the percentile bootstrap for coverage, and for calls a test that takes
all trials as independent, which trials of one task are not.

These settings are those of the documentation; `benchmarks.statistics_grid` looks everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.measures import Measure
from greenroom.analysis.comparison import EQUAL_WITHIN
from greenroom.analysis.intervals import SuccessIntervals
from greenroom.analysis.paired import difference_interval, difference_of, sign_flip_p_value
from greenroom.analysis.power import PowerAnalysis, observed_spread
from greenroom.analysis.sizes import TaskSpread, comparison_sizes
from greenroom.analysis.spread_figures import Part
from greenroom.analysis.user_spread import split_variance
from greenroom.analysis.verdicts import verdict_of

REPETITIONS = 1000
RESAMPLES = 1000
SETTINGS = (
    # tasks, trials, mean, likeness
    (20, 4, 0.8, 0.0),
    (20, 4, 0.95, 0.3),
    (20, 8, 0.95, 0.5),
    (50, 4, 0.5, 0.3),
    (50, 8, 0.8, 0.1),
    (50, 8, 0.95, 0.0),
    (115, 4, 0.6, 0.5),
    (115, 4, 0.95, 0.3),
    (200, 8, 0.8, 0.0),
    (200, 8, 0.8, 0.3),
    (20, 4, 0.02, 0.6),
    (20, 8, 0.3, 0.3),
    (20, 8, 0.3, 0.6),
    (50, 8, 0.05, 0.6),
)
PAIRED_SETTINGS = (
    # tasks, trials, mean, likeness, share of tasks that are as hard for one agent as for the other,
    # and the rise that is to be found
    (20, 4, 0.8, 0.0, 1.0, 0.1),
    (20, 8, 0.8, 0.3, 0.5, 0.1),
    (50, 4, 0.6, 0.3, 0.8, 0.1),
    (115, 1, 0.6, 0.3, 1.0, 0.1),
    (115, 1, 0.97, 0.0, 1.0, 0.02),
    (115, 4, 0.6, 0.5, 0.5, 0.1),
    (115, 8, 0.8, 0.3, 1.0, 0.05),
)
PLANNED_SETTINGS = (
    # mean, likeness, how much alike both agents are, and the difference that is to be found
    (0.05, 0.3, 0.7, 0.05),
    (0.3, 0.0, 1.0, 0.1),
    (0.5, 0.3, 0.7, 0.1),
    (0.5, 0.3, 1.0, 0.2),
    (0.8, 0.3, 0.7, 0.1),
    (0.8, 0.6, 0.7, 0.1),
    (0.9, 0.3, 0.7, 0.05),
    (0.95, 0.6, 0.7, 0.05),
)
Setting = tuple[int, int, float, float, float, float]

Floats = NDArray[np.float64]


def steady_agent() -> Iterator[Measure]:
    """An agent with p = 0.8 everywhere, over 200 tasks x 8 trials: pass^k beside p^k."""
    successes = np.random.default_rng(1).binomial(8, 0.8, size=200)
    intervals = SuccessIntervals([(8, int(count)) for count in successes])
    held = 0
    for k in range(1, 9):
        estimate = intervals.pass_hat_k(k)
        held += estimate.low <= 0.8**k <= estimate.high
    first, last = intervals.pass_hat_k(1), intervals.pass_hat_k(8)
    yield Measure(
        "p = 0.8, 200 tasks x 8 trials: intervals that hold p^k, k = 1 to 8",
        f"pass^1 {first.value:.3f}, pass^8 {last.value:.3f}",
        f"p {0.8:.3f}, p^8 {0.8**8:.3f}",
        held,
        " of 8",
        at_least=8,
    )


def coverage() -> Iterator[Measure]:
    """How often the 95 % interval of pass^1 and pass^4 holds the truth about all tasks."""
    for number, (tasks, trials, mean, likeness) in enumerate(SETTINGS):
        generator = np.random.default_rng(number)
        truths = {k: true_pass_hat(mean, likeness, k) for k in (1, 4)}
        covered, naive = dict.fromkeys(truths, 0), dict.fromkeys(truths, 0)
        for _ in range(REPETITIONS):
            counts = generator.binomial(trials, chances(generator, tasks, mean, likeness)).tolist()
            intervals = SuccessIntervals([(trials, count) for count in counts])
            for k, truth in truths.items():
                estimate = intervals.pass_hat_k(k)
                covered[k] += estimate.low <= truth <= estimate.high
                low, high = percentile_interval(generator, counts, trials, k)
                naive[k] += low <= truth <= high
        for k in truths:
            share = 100 * covered[k] / REPETITIONS
            yield Measure(
                f"95 % interval of pass^{k} holds the truth, {tasks} tasks x {trials} trials, "
                f"p {mean}, likeness {likeness}",
                f"{share:.1f} %",
                f"{100 * naive[k] / REPETITIONS:.1f} %",
                share,
                " %",
                at_least=93.0,
            )


def false_calls() -> Iterator[Measure]:
    """How often two equally good agents are reported as different."""
    for setting in PAIRED_SETTINGS:
        called, naive, _ = calls(setting, equal=True)
        yield Measure(
            f"Equal agents called different, {describe(setting)}",
            f"{called:.1f} %",
            f"{naive:.1f} %",
            called,
            " %",
            at_most=6.0,
        )


def power() -> Iterator[Measure]:
    """How often a true difference is found, compared with the stated power."""
    for setting in PAIRED_SETTINGS:
        called, naive, stated = calls(setting)
        yield Measure(
            f"Difference of {setting[-1]:.2f} found, less the power stated, {describe(setting)}",
            f"{called:.1f} % found, {stated:.1f} % stated",
            f"{naive:.1f} % found",
            abs(called - stated),
            " points",
            # Where only a handful of tasks differ, they say little about the power.
            at_most=5.0 if setting[-1] >= 0.05 else 12.0,
        )


def planned_power() -> Iterator[Measure]:
    """Whether planned sizes find the difference as often as was planned."""
    found: list[float] = []
    for number, (mean, likeness, alike, detect) in enumerate(PLANNED_SETTINGS):
        spread = TaskSpread(success=mean, likeness=likeness).of_difference(alike, detect)
        factor = 1 - detect / max(mean, 1 - mean)
        for size in comparison_sizes(PowerAnalysis(spread), detect):
            generator = np.random.default_rng([number, size.trials])
            called = 0
            for _ in range(REPETITIONS):
                before, afresh = (chances(generator, size.tasks, mean, likeness) for _ in "12")
                after = np.where(generator.random(size.tasks) < alike, before, afresh)
                after = after * factor if mean >= 0.5 else 1 - (1 - after) * factor
                first, second = (generator.binomial(size.trials, one) for one in (before, after))
                apart = ((second - first) / size.trials).tolist()
                interval = difference_interval(apart)
                outside = interval.low > 0 or interval.high < 0
                called += outside and sign_flip_p_value(apart) <= 0.05
            found.append(100 * called / REPETITIONS)
    yield Measure(
        f"Differences found by {len(found)} sizes that were planned for 80 % power",
        f"{min(found):.1f} to {max(found):.1f} %",
        "80 %",
        min(found),
        " % at least",
        at_least=75.0,
    )


def chances(generator: np.random.Generator, tasks: int, mean: float, likeness: float) -> Floats:
    """The success chances of tasks drawn from the population."""
    if likeness == 0:
        return np.full(tasks, mean)
    weight = 1 / likeness - 1
    return generator.beta(mean * weight, (1 - mean) * weight, size=tasks)


def true_pass_hat(mean: float, likeness: float, k: int) -> float:
    """E[p^k] in the population."""
    if likeness == 0:
        return mean**k
    weight = 1 / likeness - 1
    return prod((mean * weight + drawn) / (weight + drawn) for drawn in range(k))


def percentile_interval(
    generator: np.random.Generator, counts: list[int], trials: int, k: int
) -> tuple[float, float]:
    """The plain percentile bootstrap over tasks."""
    occurring = np.bincount(counts, minlength=trials + 1)
    values = [
        prod((count - drawn) / (trials - drawn) for drawn in range(k))
        for count in range(trials + 1)
    ]
    weights = generator.multinomial(len(counts), occurring / len(counts), size=RESAMPLES)
    figures = np.sort(weights @ np.array(values)) / len(counts)
    return float(figures[round(0.025 * RESAMPLES)]), float(figures[round(0.975 * RESAMPLES) - 1])


def calls(setting: Setting, *, equal: bool = False) -> tuple[float, float, float]:
    """The percentages of repetitions called, called by the naive test, and stated as power."""
    tasks, trials, mean, likeness, shared, rise = setting
    generator = np.random.default_rng(tasks + trials)
    called = naive = stated = 0.0
    for _ in range(REPETITIONS):
        before = chances(generator, tasks, mean, likeness)
        afresh = chances(generator, tasks, mean, likeness)
        after = np.where(generator.random(tasks) < shared, before, afresh)
        after = after + (1 - after) * (not equal) * rise / (1 - mean)  # by just this much
        first, second = generator.binomial(trials, before), generator.binomial(trials, after)
        pairs = [((trials, int(a)), (trials, int(b))) for a, b in zip(first, second, strict=True)]
        found = difference_of(pairs, 1)
        called += verdict_of(found, found.p_value, EQUAL_WITHIN, 0.95) in ("better", "worse")
        spread, repeated = observed_spread(pairs)
        stated += PowerAnalysis(spread).power_to_detect(rise, tasks=tasks, trials=repeated)
        pooled = (found.value + found.baseline) / 2
        error = sqrt(2 * pooled * (1 - pooled) / (tasks * trials))
        naive += abs(found.value - found.baseline) > 1.96 * error
    percent = 100 / REPETITIONS
    return called * percent, naive * percent, stated * percent


def describe(setting: Setting) -> str:
    """A setting as text."""
    tasks, trials, mean, likeness, shared, _ = setting
    return (
        f"{tasks} tasks x {trials} trials, p {mean}, likeness {likeness}, "
        f"{100 * shared:.0f} % of tasks equally hard"
    )


PLANTED: dict[Part, float] = {
    "task": 0.4,
    "user": 0.15,
    "task_and_user": 0.15,
    "trial": 0.1,
    "residual": 0.2,
}


def variance_split() -> Iterator[Measure]:
    """Planted shares of task, user, both, trial and residual, found again."""
    for missing in (0.0, 0.3):
        found = dict.fromkeys(PLANTED, 0.0)
        for seed in range(REPETITIONS):
            for one in split_variance(planted(seed, missing)).parts:
                found[one.part] += one.variance.value
        total = sum(found.values())
        off = max(abs(found[part] / total / share - 1) for part, share in PLANTED.items())
        yield Measure(
            f"Shares of variance, planted and found, {100 * missing:.0f} % of episodes missing",
            ", ".join(f"{part} {found[part] / total:.3f}" for part in PLANTED),
            ", ".join(f"{share:.3f}" for share in PLANTED.values()),
            100 * off,
            " % off at most",
            at_most=10.0,
        )


def planted(seed: int, missing: float) -> dict[tuple[int, int, int], float]:
    """Results of 60 tasks, 5 users and 4 trials with the planted parts."""
    generator = np.random.default_rng(seed)
    shape = (60, 5, 4)
    varies: dict[Part, tuple[int, int, int]] = {
        "task": (60, 1, 1),
        "user": (1, 5, 1),
        "task_and_user": (60, 5, 1),
        "trial": (60, 1, 4),
        "residual": shape,
    }
    values = np.full(shape, 0.5)
    for part, size in varies.items():
        values += generator.normal(0, sqrt(0.2 * PLANTED[part]), size=size)
    there = np.argwhere(generator.random(shape) >= missing).tolist()
    return {(task, user, trial): float(values[task, user, trial]) for task, user, trial in there}
