from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.intervals import (
    SuccessIntervals,
    average_reward,
    binomial_bounds,
    mean_count,
)

COUNTS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1
)


@pytest.mark.slow
@given(COUNTS, st.integers(1, 4))
def test_an_interval_holds_its_figure_and_stays_within_0_and_1(
    counts: list[tuple[int, int]], k: int
) -> None:
    intervals = SuccessIntervals(counts)
    for estimate in (intervals.pass_hat_k(k), intervals.overall_score()):
        if isnan(estimate.value):
            assert estimate.method == "none"
            assert isnan(estimate.low)
        else:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@given(COUNTS)
def test_failures_and_successes_mirror_each_other(counts: list[tuple[int, int]]) -> None:
    def both(rows: list[tuple[int, int]]) -> tuple[float, float, float]:
        rewards = {i: [1.0] * c + [0.0] * (n - c) for i, (n, c) in enumerate(rows)}
        estimate = average_reward(rewards)
        return estimate.value, estimate.low, estimate.high

    value, low, high = both(counts)
    mirrored = both([(n, n - c) for n, c in counts])
    # The end that a figure of 1/2 is nearer to is a matter of rounding.
    if abs(value - 0.5) > 0.02:
        assert mirrored == pytest.approx((1 - value, 1 - high, 1 - low), abs=0.05)


def test_more_confidence_takes_a_wider_interval() -> None:
    counts = [(4, c) for c in (4, 4, 3, 2, 0, 4, 1, 4)]
    widths = [
        (e := SuccessIntervals(counts, c).pass_hat_k(1)).high - e.low
        for c in (0.5, 0.9, 0.95, 0.99)
    ]
    assert widths == sorted(widths)


def test_trials_of_one_task_are_not_as_good_as_tasks() -> None:
    alike = SuccessIntervals([(8, 8)] * 10 + [(8, 0)] * 10).pass_hat_k(1)
    mixed = SuccessIntervals([(8, 4)] * 10 + [(8, 3)] * 5 + [(8, 5)] * 5).pass_hat_k(1)
    assert alike.value == mixed.value == 0.5
    assert alike.high - alike.low > 4 * (mixed.high - mixed.low)


@pytest.mark.parametrize(("successes", "value"), [(4, 1.0), (0, 0.0)])
def test_tasks_that_all_went_alike_have_exact_bounds(successes: int, value: float) -> None:
    estimate = SuccessIntervals([(4, successes)] * 20).pass_hat_k(3)
    low, high = binomial_bounds(20, 20 if successes else 0, 0.95)
    assert (estimate.value, estimate.method) == (value, "exact")
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_a_single_task_is_judged_by_its_trials() -> None:
    intervals = SuccessIntervals([(8, 6)])
    low, high = binomial_bounds(8, 6, 0.95)
    assert (low, high) == (pytest.approx(0.3491, abs=1e-4), pytest.approx(0.9681, abs=1e-4))
    for k in (1, 2, 8):
        estimate = intervals.pass_hat_k(k)
        assert estimate.method == "exact"
        assert estimate.low == pytest.approx(min(low**k, estimate.value))
        assert estimate.high == pytest.approx(high**k)
    assert isnan(intervals.pass_hat_k(9).value)
    rewards = average_reward({3: [1.0] * 6 + [0.0] * 2})
    assert (rewards.value, rewards.low, rewards.high) == (0.75, low, high)


def test_rewards_other_than_0_and_1() -> None:
    assert average_reward({0: [0.5, 0.25]}).method == "none"
    assert average_reward({0: [0.5], 1: [0.5]}).method == "exact"
    assert average_reward({0: [2.0], 1: [2.0]}).method == "none"
    beyond = average_reward({0: [2.0], 1: [-1.0], 2: [3.0]})
    assert beyond.low < -1
    assert beyond.high > 3


def test_counts_without_an_interval() -> None:
    assert mean_count({}).method == "none"
    assert mean_count({0: [4, 5]}).value == 4.5
    assert mean_count({0: [4], 1: [4]}).method == "none"
    assert mean_count({0: [0], 1: [0]}).method == "none"


@pytest.mark.slow
def test_the_mean_of_counts_is_covered() -> None:
    generator = np.random.default_rng(4)
    covered = 0
    for _ in range(300):
        levels = generator.gamma(4, 2, size=30)
        counts = {task: generator.poisson(level, 4).tolist() for task, level in enumerate(levels)}
        estimate = mean_count(counts)
        covered += estimate.low <= 8 <= estimate.high
    assert 0.91 <= covered / 300 <= 0.98


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_agent_is_estimated_rightly(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = [(8, int(c)) for c in generator.binomial(8, 0.8, size=200)]
    intervals = SuccessIntervals(counts, 0.999)
    for k in range(1, 9):
        estimate = intervals.pass_hat_k(k)
        assert estimate.low <= 0.8**k <= estimate.high
        assert estimate.method == "estimated"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "trials", "mean", "likeness"),
    [(20, 4, 0.8, 0.0), (20, 8, 0.95, 0.3), (50, 4, 0.95, 0.3), (115, 4, 0.6, 0.5)],
)
def test_the_truth_about_all_tasks_is_covered(
    tasks: int, trials: int, mean: float, likeness: float
) -> None:
    # Smaller than benchmarks/statistics.py, and so with the width that 300 repetitions leave.
    generator = np.random.default_rng(tasks)
    weight = 1 / likeness - 1 if likeness else 1e9
    a, b = mean * weight, (1 - mean) * weight
    truths = {1: mean, 4: float(np.prod([(a + j) / (a + b + j) for j in range(4)]))}
    covered = dict.fromkeys(truths, 0)
    for _ in range(300):
        successes = generator.binomial(trials, generator.beta(a, b, size=tasks))
        intervals = SuccessIntervals([(trials, int(c)) for c in successes])
        for k, truth in truths.items():
            estimate = intervals.pass_hat_k(k)
            covered[k] += estimate.low <= truth <= estimate.high
    for share in covered.values():
        assert 0.915 <= share / 300 <= 0.99


def test_an_interval_that_doubt_makes_much_wider_is_marked() -> None:
    few = SuccessIntervals([(8, c) for c in (1, 1, 2, 0, 1, 2, 1, 1, 0, 3)]).pass_hat_k(1)
    assert few.cautious
    assert not SuccessIntervals([(8, c) for c in range(1, 8)] * 10).pass_hat_k(1).cautious


def test_a_thousand_trials_give_figures_without_a_warning() -> None:
    intervals = SuccessIntervals([(1042, 521), (1042, 621), (1042, 571)])
    for k in (1, 400, 521, 600, 1042):
        estimate = intervals.pass_hat_k(k)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
