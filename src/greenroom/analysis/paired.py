"""Tests of one run against another on the same tasks.

Two agents are compared task by task: how hard a task is cancels out in the difference. Tasks are
the units, as they are for intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import comb, erfc, nan, sqrt
from statistics import fmean

import numpy as np

from greenroom.analysis import compared, figures
from greenroom.analysis.distributions import half_binomial_cdf
from greenroom.analysis.intervals import TaskBootstrap, constant_bounds, student_interval
from greenroom.analysis.power import Counts

Successes = Mapping[int, Mapping[int, bool]]
"""By task or row, then by trial or repeat."""

_MOST_KINDS = 2_000
_ALIKE = 1e-9
"""Differences that are closer than this are the same, but for rounding."""


def difference_of(
    pairs: Sequence[tuple[Counts, Counts]], k: int, how: figures.Resampling = figures.USUAL
) -> compared.Difference:
    """How far pass^k of two runs lies apart over the tasks with at least k trials in both.

    A pair holds a task's counts in the baseline and in the run.
    """
    judged = [pair for pair in pairs if min(pair[0][0], pair[1][0]) >= k]
    before = [_chance(first, k) for first, _ in judged]
    after = [_chance(second, k) for _, second in judged]
    found = paired_figures(before, after, how)
    return compared.Difference(**dict(found), k=k, tasks=len(judged))


def paired_figures(
    before: Sequence[float],
    after: Sequence[float],
    how: figures.Resampling = figures.USUAL,
) -> compared.PairedFigure:
    """What the values of tasks or rows come to before and after, and how far that lies apart."""
    apart = [high - low for low, high in zip(before, after, strict=True)]
    return compared.PairedFigure(
        baseline=fmean(before) if before else nan,
        value=fmean(after) if after else nan,
        difference=difference_interval(apart, how),
        p_value=sign_flip_p_value(apart),
    )


def difference_interval(
    differences: Sequence[float], how: figures.Resampling = figures.USUAL
) -> figures.Estimate:
    """The mean difference over tasks with its interval, by the paired cluster bootstrap.

    The bootstrap's variance over tasks with Student's quantile: differences are symmetric enough
    for it, and unlike percentiles it does not fall short with few tasks. If all tasks have the same
    difference there is nothing to resample, and the bounds are the exact ones.
    """
    if not differences:
        return figures.NOTHING
    value = fmean(differences)
    if max(differences) - min(differences) < _ALIKE:
        return constant_bounds(value, len(differences), how.confidence, least=-1.0)
    units = len(differences)
    if len(set(differences)) > _MOST_KINDS:
        # With so many the bootstrap gives what a formula gives, and takes much longer.
        variance = float(np.var(differences, ddof=1)) / units
    else:
        bootstrap = TaskBootstrap([[difference] for difference in differences], how)
        kinds = bootstrap.kinds[:, 0]
        variance = bootstrap.variance([(kinds, np.ones_like(kinds))], units)
    return student_interval(value, variance, units, how.confidence, least=-1.0)


def sign_flip_p_value(differences: Sequence[float]) -> float:
    """The sign-flip test of no difference: each task's difference might have had either sign.

    If the agents do not differ, swapping their names on any task changes nothing. The sum of the
    differences then has the mean 0 and the variance of the sum of their squares, and is near to
    normal. With one trial of each task this is McNemar's test without correction. Counting all
    patterns of signs instead takes the patterns as given that chance has left open: it calls equal
    agents different in far fewer than 5 % where few tasks differ, and misses as many true
    differences. No p-value is below that of the rarest pattern, all tasks on one side.
    """
    spread = sqrt(sum(difference * difference for difference in differences))
    if spread == 0:
        return 1.0
    chance = erfc(abs(sum(differences)) / spread / sqrt(2))
    return max(chance, 0.5 ** (len(differences) - 1))


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


def _chance(counts: Counts, k: int) -> float:
    trials, successes = counts
    return comb(successes, k) / comb(trials, k)
