from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.power import DifferenceSpread, PowerAnalysis, observed_spread

SPREADS = st.builds(DifferenceSpread, st.floats(0, 0.3), st.floats(0.01, 0.5))
STEADY = PowerAnalysis(DifferenceSpread(0.0, 0.42))


@given(SPREADS, st.integers(8, 300), st.integers(1, 8), st.floats(0.02, 0.3))
def test_more_of_anything_finds_more(
    spread: DifferenceSpread, tasks: int, trials: int, difference: float
) -> None:
    analysis = PowerAnalysis(spread)

    def power(difference: float, tasks: int, trials: int) -> float:
        return analysis.power_to_detect(difference, tasks=tasks, trials=trials)

    here = power(difference, tasks, trials)
    assert 0 <= here <= 1
    assert power(-difference, tasks, trials) == here
    assert power(difference + 0.05, tasks, trials) >= here - 1e-9
    assert power(difference, tasks + 20, trials) >= here - 1e-9
    assert power(difference, tasks, trials + 2) >= here - 1e-9
    several = PowerAnalysis(spread, comparisons=3)
    assert several.power_to_detect(difference, tasks=tasks, trials=trials) <= here + 1e-9


@given(SPREADS, st.floats(0.03, 0.3))
def test_sizes_are_the_smallest_that_do(spread: DifferenceSpread, difference: float) -> None:
    analysis = PowerAnalysis(spread)
    tasks = analysis.tasks_needed(difference, trials=4)
    assert tasks is not None
    assert analysis.power_to_detect(difference, tasks=tasks, trials=4) >= 0.8
    assert analysis.power_to_detect(difference, tasks=tasks - 1, trials=4) < 0.8
    trials = analysis.trials_needed(difference, tasks=50)
    if trials is not None:
        assert analysis.power_to_detect(difference, tasks=50, trials=trials) >= 0.8
        if trials > 1:
            assert analysis.power_to_detect(difference, tasks=50, trials=trials - 1) < 0.8
    smallest = analysis.detectable_difference(tasks=50, trials=4)
    assert analysis.power_to_detect(smallest, tasks=50, trials=4) >= 0.8


def test_trials_do_not_help_against_tasks_that_differ() -> None:
    analysis = PowerAnalysis(DifferenceSpread(0.25, 0.1))
    assert analysis.trials_needed(0.05, tasks=50) is None
    assert analysis.tasks_needed(0.05, trials=4) == pytest.approx(870, rel=0.05)


def test_a_handful_of_tasks_finds_nothing() -> None:
    assert STEADY.power_to_detect(0.9, tasks=5, trials=100) == 0.0
    assert STEADY.power_to_detect(0.9, tasks=6, trials=100) > 0.99
    assert isnan(STEADY.detectable_difference(tasks=1, trials=4))
    assert STEADY.power_to_detect(0.0, tasks=50, trials=4) == pytest.approx(0.05)
    assert STEADY.tasks_needed(0.0, trials=4) is None


def test_the_spread_is_found_again() -> None:
    generator = np.random.default_rng(1)
    first = generator.beta(3, 2, size=4000)
    second = np.clip(first + generator.normal(0.05, 0.1, size=4000), 0, 1)
    pairs = [
        ((4, int(a)), (6, int(b)))
        for a, b in zip(generator.binomial(4, first), generator.binomial(6, second), strict=True)
    ]
    spread, trials = observed_spread(pairs)
    assert trials == pytest.approx(4.8)
    assert spread.between_tasks == pytest.approx(np.var(second - first), abs=0.004)
    within = np.mean(first * (1 - first) + second * (1 - second))
    assert spread.within_tasks == pytest.approx(within, rel=0.03)


def test_what_one_trial_cannot_tell() -> None:
    once = observed_spread([((1, 1), (1, 0)), ((1, 0), (1, 0)), ((1, 1), (1, 1))])[0]
    assert not once.separable
    assert PowerAnalysis(once).trials_needed(0.5, tasks=50) is None
    alike = observed_spread([((4, 4), (4, 4))] * 10)[0]
    assert alike.between_tasks == pytest.approx(0.1)
    assert observed_spread([((4, 4), (4, 2))])[0].between_tasks > 0
