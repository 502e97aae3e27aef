from __future__ import annotations

from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis import paired
from greenroom.analysis.figures import Resampling
from greenroom.analysis.paired import (
    difference_interval,
    holm,
    mcnemar_p_value,
    sign_flip_p_value,
)

DIFFERENCES = st.lists(st.integers(-6, 6).map(lambda sixths: sixths / 6), max_size=8)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@given(st.lists(st.floats(-1, 1).filter(lambda one: abs(one) > 0.2), min_size=10, max_size=12))
def test_the_sign_flip_test_is_close_to_counting_all_patterns(differences: list[float]) -> None:
    seen = abs(sum(differences))
    signs = np.array(list(product((1, -1), repeat=len(differences))))
    sums = np.abs(signs @ np.array(differences))
    # Patterns as far off as the one seen count by half: the p-value knows no steps.
    counted = np.mean(sums > seen + 1e-9) + np.mean(np.abs(sums - seen) <= 1e-9) / 2
    assert sign_flip_p_value(differences) == pytest.approx(counted, abs=0.06)


def test_one_trial_each_is_mcnemars_test_without_correction() -> None:
    p_value = sign_flip_p_value([1.0] * 10 + [-1.0] * 2 + [0.0] * 40)
    assert p_value == pytest.approx(erfc(sqrt((10 - 2) ** 2 / 12 / 2)))


@pytest.mark.parametrize("tasks", range(1, 12))
def test_no_p_value_is_below_that_of_the_rarest_pattern(tasks: int) -> None:
    assert sign_flip_p_value([0.5] * tasks) >= 2 / 2**tasks
    assert (sign_flip_p_value([0.5] * tasks) <= 0.05) == (tasks > 5)


@given(DIFFERENCES.filter(bool))
def test_the_interval_holds_the_difference(differences: list[float]) -> None:
    estimate = difference_interval(differences, Resampling(resamples=50))
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.method == ("exact" if np.ptp(differences) == 0 else "bootstrap")


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


def test_many_different_differences_have_the_interval_of_the_bootstrap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = [((number * 7919) % 2503) / 2503 - 0.45 for number in range(2_503)]
    quick = difference_interval(differences)
    monkeypatch.setattr(paired, "_MOST_KINDS", len(differences))
    whole = difference_interval(differences)
    assert quick.value == whole.value
    assert quick.low == pytest.approx(whole.low, abs=0.001)
    assert quick.high == pytest.approx(whole.high, abs=0.001)
