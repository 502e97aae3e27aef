"""Tests of one run against another on the same tasks.

Two agents are compared task by task: how hard a task is cancels out in the difference. Tasks are
the units, as they are for intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb, lcm, nan
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from greenroom.analysis import compared, figures
from greenroom.analysis.distributions import half_binomial_cdf
from greenroom.analysis.intervals import TaskBootstrap, constant_bounds, student_interval
from greenroom.analysis.power import Counts

Successes = Mapping[int, Mapping[int, bool]]
"""By task or row, then by trial or repeat."""

LARGEST_LATTICE = 200_000
"""Beyond so many possible sums the distribution is drawn instead of computed."""


def difference_of(
    pairs: Sequence[tuple[Counts, Counts]], k: int, how: figures.Resampling = figures.USUAL
) -> compared.Difference:
    """How far pass^k of two runs lies apart over the tasks with at least k trials in both.

    A pair holds a task's counts in the baseline and in the run.
    """
    judged = [pair for pair in pairs if min(pair[0][0], pair[1][0]) >= k]
    before = [_chance(first, k) for first, _ in judged]
    after = [_chance(second, k) for _, second in judged]
    apart = [high - low for low, high in zip(before, after, strict=True)]
    tasks, found = paired_figures(before, after, apart, how)
    return compared.Difference(**dict(found), k=k, tasks=tasks)


def paired_figures(
    before: Sequence[Fraction | float],
    after: Sequence[Fraction | float],
    apart: Sequence[Fraction],
    how: figures.Resampling = figures.USUAL,
) -> tuple[int, compared.PairedFigure]:
    """How many tasks or rows are paired, and what their values before and after come to."""
    return len(apart), compared.PairedFigure(
        baseline=_mean(before),
        value=_mean(after),
        difference=difference_interval(apart, how),
        p_value=sign_flip_p_value(apart, seed=how.seed),
    )


def difference_interval(
    differences: Sequence[Fraction], how: figures.Resampling = figures.USUAL
) -> figures.Estimate:
    """The mean difference over tasks with its interval, by the paired cluster bootstrap.

    The bootstrap's variance over tasks with Student's quantile: differences are symmetric enough
    for it, and unlike percentiles it does not fall short with few tasks. If all tasks have the same
    difference there is nothing to resample, and the bounds are the exact ones.
    """
    if not differences:
        return figures.NOTHING
    value = float(sum(differences) / len(differences))
    if len(set(differences)) == 1:
        return constant_bounds(value, len(differences), how.confidence, least=-1.0)
    rows = [[float(difference)] for difference in differences]
    bootstrap = TaskBootstrap(rows, how)
    kinds = bootstrap.kinds[:, 0]
    variance = bootstrap.variance([(kinds, np.ones_like(kinds))], len(rows))
    return student_interval(value, variance, len(rows), how.confidence, least=-1.0)


def sign_flip_p_value(
    differences: Sequence[Fraction], *, permutations: int = 20_000, seed: int = 0
) -> float:
    """The permutation test of no difference: each task's difference might have had either sign.

    If the agents do not differ, swapping their names on any task changes nothing, so all patterns
    of signs are equally likely; the p-value is the share of patterns with a mean at least as far
    from 0. Differences are fractions with a common denominator, so that the distribution of the sum
    is computed exactly on whole numbers, task by task; where the denominator is too large for that
    it is drawn, and the pattern that was seen counts as one of the draws.
    """
    denominator = lcm(*(difference.denominator for difference in differences), 1)
    sizes = [int(abs(difference) * denominator) for difference in differences if difference]
    seen = abs(int(sum(differences) * denominator))
    if not sizes:
        return 1.0
    total = sum(sizes)
    if total > LARGEST_LATTICE:
        generator = np.random.default_rng(seed)
        kinds, counts = np.unique(np.array(sizes, dtype=np.float64), return_counts=True)
        heads = generator.binomial(counts, 0.5, size=(permutations, len(kinds)))
        sums = np.abs((2 * heads - counts) @ kinds)
        return float((1 + np.count_nonzero(sums >= seen - 0.5)) / (1 + permutations))
    # chances[i] is the chance that the sizes with a plus add up to i; the sum is 2 i - total.
    chances: NDArray[np.float64] = np.zeros(total + 1)
    chances[0] = 1.0
    for size in sizes:
        shifted = np.zeros_like(chances)
        shifted[size:] = chances[:-size]
        chances = (chances + shifted) / 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[sums >= seen].sum()))


def mcnemar_p_value(only_first: int, only_second: int) -> float:
    """McNemar's exact test on pairs of trials of which one succeeded and the other did not.

    It takes pairs as independent, which trials of one task are only if the agents are equal on
    every task; so it stands beside the test over tasks and decides nothing.
    """
    pairs = only_first + only_second
    return min(1.0, 2 * half_binomial_cdf(min(only_first, only_second), pairs)) if pairs else 1.0


def paired_trials(before: Successes, after: Successes) -> compared.PairedTrials:
    """Successes before and after, and McNemar's test of the pairs."""
    table = Counter(
        (before[index][trial], after[index][trial])
        for index in before.keys() & after.keys()
        for trial in before[index].keys() & after[index].keys()
    )
    return compared.PairedTrials(
        both=table[True, True],
        only_baseline=table[True, False],
        only_run=table[False, True],
        neither=table[False, False],
        p_value=mcnemar_p_value(table[True, False], table[False, True]),
    )


def flipped(before: Successes, after: Successes) -> Iterator[tuple[int, float, float]]:
    """Which tasks or rows mostly succeed on one side only, with both rates of success."""
    for index in sorted(before.keys() & after.keys()):
        if before[index] and after[index]:
            then, now = fmean(before[index].values()), fmean(after[index].values())
            if (then - 0.5) * (now - 0.5) < 0:
                yield index, then, now


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that keep the chance of any false call among all of them."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = largest
    return adjusted


def _chance(counts: Counts, k: int) -> Fraction:
    trials, successes = counts
    return Fraction(comb(successes, k), comb(trials, k))


def _mean(values: Sequence[Fraction | float]) -> float:
    return float(sum(values) / len(values)) if values else nan
