from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.figures import Resampling
from greenroom.analysis.paired import (
    difference_interval,
    holm,
    mcnemar_p_value,
    sign_flip_p_value,
)

DIFFERENCES = st.lists(st.fractions(-1, 1, max_denominator=6), max_size=8)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@given(DIFFERENCES)
def test_the_sign_flip_test_counts_all_patterns(differences: list[Fraction]) -> None:
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(total >= seen for total in sums) / len(sums)
    assert sign_flip_p_value(differences) == pytest.approx(expected)


def test_what_cannot_be_computed_is_drawn() -> None:
    awkward = [Fraction(1, prime) for prime in (101, 103, 107, 109, 113, 127, 131, 137)]
    assert sign_flip_p_value(awkward, permutations=40_000) == pytest.approx(2 / 2**8, rel=0.3)
    mixed = [*awkward, *(-fraction for fraction in awkward)]
    assert sign_flip_p_value(mixed) == 1.0


@given(DIFFERENCES.filter(bool))
def test_the_interval_holds_the_difference(differences: list[Fraction]) -> None:
    estimate = difference_interval(differences, Resampling(resamples=50))
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.method == ("exact" if len(set(differences)) == 1 else "bootstrap")


def test_no_difference_on_any_task_is_no_proof_of_none() -> None:
    few, many = (difference_interval([Fraction(0)] * tasks) for tasks in (5, 100))
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
