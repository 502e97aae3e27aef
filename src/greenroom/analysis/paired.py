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
from numpy.typing import NDArray

from greenroom.analysis import compared, figures
from greenroom.analysis.distributions import half_binomial_cdf
from greenroom.analysis.intervals import constant_bounds, share_interval, student_interval
from greenroom.analysis.power import Counts

Successes = Mapping[int, Mapping[int, bool]]
"""By task or row, then by trial or repeat."""

_MOST_PARTS = 840
"""Steps in the largest difference: enough for up to 8 trials of each task."""
_FEW_DIFFERING, _MANY_TASKS = 4, 20
_MOST_STEPS = 1_000_000
"""Beyond so many, sums are as good as normal."""
_ALIKE = 1e-9
"""Differences that are closer than this are the same, but for rounding."""


def difference_of(
    pairs: Sequence[tuple[Counts, Counts]],
    k: int,
    confidence: float = figures.CONFIDENCE,
    comparisons: int = 1,
) -> compared.Difference:
    """How far pass^k of two runs lies apart over the tasks with at least k trials in both.

    A pair holds a task's counts in the baseline and in the run.
    """
    judged = [pair for pair in pairs if min(pair[0][0], pair[1][0]) >= k]
    before = [_chance(first, k) for first, _ in judged]
    after = [_chance(second, k) for _, second in judged]
    found = paired_figures(before, after, confidence, comparisons)
    return compared.Difference(**dict(found), k=k, tasks=len(judged))


def paired_figures(
    before: Sequence[float],
    after: Sequence[float],
    confidence: float = figures.CONFIDENCE,
    comparisons: int = 1,
) -> compared.PairedFigure:
    """What the values of tasks or rows come to before and after, and how far that lies apart.

    Several comparisons at once share the level at which they may be said to be equal.
    """
    apart = [high - low for low, high in zip(before, after, strict=True)]
    return compared.PairedFigure(
        baseline=fmean(before) if before else nan,
        value=fmean(after) if after else nan,
        difference=difference_interval(apart, confidence),
        p_value=sign_flip_p_value(apart),
        within=max(map(abs, equivalence_bounds(apart, confidence, comparisons))),
    )


def difference_interval(
    differences: Sequence[float], confidence: float = figures.CONFIDENCE
) -> figures.Estimate:
    """The mean difference over tasks with its interval.

    The end towards 0 is Student's, by which no difference is called that the test does not call,
    or hardly ever. Beyond the figure, where few tasks differ, differences are skewed, and Student's
    end falls short: there it is that of rises and falls as shares, where that reaches further. If
    all tasks have the same difference, the bounds are the exact ones.
    """
    if not differences:
        return figures.NOTHING
    value, units = fmean(differences), len(differences)
    if max(differences) - min(differences) < _ALIKE:
        return constant_bounds(value, units, confidence, least=-1.0)
    variance = float(np.var(differences, ddof=1)) / units
    found = student_interval(value, variance, units, confidence, least=-1.0)
    low, high = _skewed_bounds(differences, confidence)
    ends = {"low": min(found.low, low)} if value <= 0 else {}
    ends |= {"high": max(found.high, high)} if value >= 0 else {}
    return found.model_copy(update=ends)


def equivalence_bounds(
    differences: Sequence[float], confidence: float = figures.CONFIDENCE, comparisons: int = 1
) -> tuple[float, float]:
    """What the true difference is not below and not above, by two one-sided tests.

    Where both lie within a margin, the two are equal within it. That is said wrongly in at most the
    share that confidence leaves, shared among all comparisons made at once.
    """
    if not differences:
        return nan, nan
    both = 1 - 2 * (1 - confidence) / comparisons
    if max(differences) - min(differences) < _ALIKE:
        found = constant_bounds(fmean(differences), len(differences), both, least=-1.0)
        return found.low, found.high
    return _skewed_bounds(differences, both)


def _skewed_bounds(differences: Sequence[float], confidence: float) -> tuple[float, float]:
    """Bounds of a mean difference that are as skewed as differences are.

    Rises and falls are shares of their own, each with its interval. The difference of the two has
    the bounds of Zou and Donner's method (variances recovered from limits). Where no task falls,
    the bound of those that might is as if they fell by as much as tasks rise.
    """
    apart = np.asarray(differences, dtype=np.float64)
    rises, falls = np.maximum(apart, 0.0), np.maximum(-apart, 0.0)
    size = float((apart**2).sum() / np.abs(apart).sum())
    up, down = (_part(values, size, confidence) for values in (rises, falls))
    spread = sqrt(float(np.var(rises)) * float(np.var(falls)))
    likeness = max(-1.0, -up.value * down.value / spread) if spread > 0 else 0.0

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one * one + other * other - 2 * likeness * one * other))

    value = up.value - down.value
    low = value - reach(up.value - up.low, down.high - down.value)
    return max(-1.0, low), min(1.0, value + reach(up.high - up.value, down.value - down.low))


def _part(values: NDArray[np.float64], size: float, confidence: float) -> figures.Estimate:
    units = len(values)
    if not values.any():
        return constant_bounds(0.0, units, confidence, most=size)
    variance = float(np.var(values, ddof=1)) / units
    return share_interval(float(values.mean()), variance, values, confidence)


def sign_flip_p_value(differences: Sequence[float]) -> float:
    """The sign-flip test of no difference: each task's difference might have had either sign.

    If the agents do not differ, swapping their names on any task changes nothing. All patterns of
    signs are counted; of those whose sum is as far from 0 as the one seen, half (the mid-p-value).
    With one trial of each task this is McNemar's mid-p test. The normal distribution in place of
    counting calls equal agents different in up to 5.5 %, and counting all that are as far off in
    far fewer than 5 %. Where four tasks of many differ, all of them one way, the normal
    distribution calls that: how many differ is chance, too, and 5 % holds over all their numbers.
    No p-value is below that of the rarest pattern, all tasks on one side.
    """
    signed = np.asarray(differences, dtype=np.float64)
    signed = signed[np.abs(signed) > _ALIKE]
    if not signed.size:
        return 1.0
    normal = erfc(abs(float(signed.sum())) / sqrt(float((signed**2).sum())) / sqrt(2))
    steps = _whole_steps(signed)
    chance = normal if steps is None else _share_of_patterns(steps)
    if signed.size <= _FEW_DIFFERING and len(differences) >= _MANY_TASKS:
        chance = min(chance, normal)
    return max(chance, 0.5 ** (len(differences) - 1))


def _whole_steps(signed: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Differences as whole multiples of a step; None if there are too many to count patterns."""
    shares = signed / np.abs(signed).max()
    kinds = np.unique(np.abs(shares))
    if kinds.size * signed.size > _MOST_STEPS:
        return None
    parts = np.arange(1, _MOST_PARTS + 1)
    multiples = np.outer(parts, kinds)
    whole = (np.abs(multiples - np.rint(multiples)) < _ALIKE * _MOST_PARTS).all(axis=1)
    # Without a common step they are rounded to a small one.
    steps = np.rint(shares * (parts[whole][0] if whole.any() else _MOST_PARTS)).astype(np.int64)
    return steps if kinds.size * int(np.abs(steps).sum()) <= _MOST_STEPS else None


def _share_of_patterns(steps: NDArray[np.int64]) -> float:
    """The share of all patterns of signs whose sum is further from 0, and half of those as far.

    The chances of all sums come from their characteristic function, a product of cosines.
    """
    sizes, counts = np.unique(np.abs(steps), return_counts=True)
    most, seen = int(np.abs(steps).sum()), abs(int(steps.sum()))
    points = 1 << (2 * most + 1).bit_length()
    angles = np.arange(points // 2 + 1) * (2 * np.pi / points)
    transform = np.ones(angles.size)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        transform *= np.cos(angles * size) ** count
    chances = np.fft.irfft(transform, n=points)
    further = 2 * float(chances[seen + 1 : most + 1].sum())
    return max(0.0, further + float(chances[seen]) * (1.0 if seen else 0.5))


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
