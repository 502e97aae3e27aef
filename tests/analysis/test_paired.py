from __future__ import annotations

from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.paired import (
    difference_interval,
    equivalence_bounds,
    holm,
    mcnemar_p_value,
    sign_flip_p_value,
)

DIFFERENCES = st.lists(st.integers(-6, 6).map(lambda sixths: sixths / 6), max_size=8)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def counted(differences: list[float]) -> float:
    """All patterns of signs, one by one; those as far off as the one seen count by half."""
    signs = np.array(list(product((1, -1), repeat=len(differences))))
    sums, seen = np.abs(signs @ np.array(differences)), abs(sum(differences))
    return float(np.mean(sums > seen + 1e-9) + np.mean(np.abs(sums - seen) <= 1e-9) / 2)


@given(st.lists(st.floats(-1, 1).filter(lambda one: abs(one) > 0.2), min_size=10, max_size=12))
def test_the_sign_flip_test_is_close_to_counting_all_patterns(differences: list[float]) -> None:
    assert sign_flip_p_value(differences) == pytest.approx(counted(differences), abs=0.02)


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(-n, n).map(lambda i: i / n))))
def test_it_counts_all_patterns_of_whole_steps(differences: list[float]) -> None:
    differences = differences[:12]
    expected = max(counted(differences), 0.5 ** (len(differences) - 1)) if any(differences) else 1.0
    assert sign_flip_p_value(differences) == pytest.approx(expected)


def test_one_trial_each_is_mcnemars_mid_p_test() -> None:
    p_value = sign_flip_p_value([1.0] * 10 + [-1.0] * 2 + [0.0] * 40)
    assert p_value == pytest.approx(2 * (12 + 1 + 66 / 2) / 2**12)


@pytest.mark.parametrize("tasks", range(1, 12))
def test_no_p_value_is_below_that_of_the_rarest_pattern(tasks: int) -> None:
    assert sign_flip_p_value([0.5] * tasks) >= 2 / 2**tasks
    assert (sign_flip_p_value([0.5] * tasks) <= 0.05) == (tasks > 5)


@given(DIFFERENCES.filter(bool))
def test_the_interval_holds_the_difference(differences: list[float]) -> None:
    estimate = difference_interval(differences)
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.method == ("exact" if np.ptp(differences) == 0 else "estimated")


def test_no_difference_on_any_task_is_no_proof_of_none() -> None:
    few, many = (difference_interval([0.0] * tasks) for tasks in (5, 100))
    assert few.low == -few.high < -0.5
    assert -0.05 < many.low == -many.high < 0


def test_no_tasks() -> None:
    assert difference_interval([]).method == "none"
    assert sign_flip_p_value([]) == 1.0


def test_mcnemar() -> None:
    assert mcnemar_p_value(0, 0) == 1.0
    assert mcnemar_p_value(5, 5) == 1.0
    assert mcnemar_p_value(1, 9) == mcnemar_p_value(9, 1) == pytest.approx(22 / 1024)


@given(P_VALUES)
def test_holm_never_finds_more(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    assert min(adjusted) == min(1.0, min(p_values) * len(p_values))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_differences_without_a_common_step_are_nearly_normal() -> None:
    generator = np.random.default_rng(3)
    for count in (40, 3_000):
        differences = generator.normal(0.1, 1, size=count)
        spread = sqrt(float((differences**2).sum()))
        normal = erfc(abs(float(differences.sum())) / spread / sqrt(2))
        assert sign_flip_p_value(differences.tolist()) == pytest.approx(normal, abs=0.01)


@given(DIFFERENCES.filter(bool))
def test_runs_are_equal_within_what_their_difference_may_be(differences: list[float]) -> None:
    low, high = equivalence_bounds(differences)
    assert -1 <= low <= np.mean(differences) + 1e-9
    assert np.mean(differences) - 1e-9 <= high <= 1
    wider = equivalence_bounds(differences, comparisons=3)
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12


def test_few_tasks_never_show_that_runs_are_equal() -> None:
    few, many = ([0.25, -0.25] + [0.0] * (tasks - 2) for tasks in (10, 400))
    assert max(map(abs, equivalence_bounds(few))) > 0.1
    assert max(map(abs, equivalence_bounds(many))) < 0.01
