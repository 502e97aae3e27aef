"""Our distributions and assignments against scipy's, and against what can be worked out by hand."""

from __future__ import annotations

from importlib import import_module
from math import comb, inf, isnan, pi, tan
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from greenroom.analysis.alignment import least_assignment
from greenroom.analysis.distributions import (
    beta_quantile,
    half_binomial_cdf,
    incomplete_beta,
    noncentral_student_cdf,
    student_quantile,
)

special: Any = import_module("scipy.special")

EXACT = 1e-9
shares = st.one_of(
    st.sampled_from([1e-5, 0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995]),
    st.floats(1e-6, 1 - 1e-6),
)
counts = st.one_of(st.integers(1, 50), st.integers(1, 100_000))


def close(value: float) -> Any:
    return pytest.approx(float(value), rel=EXACT, abs=EXACT)


@given(counts, counts, shares)
def test_beta(a: int, b: int, share: float) -> None:
    x = beta_quantile(a, b, share)
    assert x == close(special.betaincinv(a, b, share))
    assert incomplete_beta(a, b, x) == close(special.betainc(a, b, x))


@given(st.one_of(st.integers(1, 100), st.integers(1, 10_000_000)), shares)
def test_student(degrees: int, share: float) -> None:
    assert student_quantile(degrees, share) == close(special.stdtrit(degrees, share))


@given(st.integers(1, 3000), st.data())
def test_coins(trials: int, data: st.DataObject) -> None:
    heads = data.draw(st.integers(0, trials))
    assert half_binomial_cdf(heads, trials) == close(special.bdtr(heads, trials, 0.5))


@given(
    st.one_of(st.integers(4, 100), st.integers(4, 10_000_000)),
    st.floats(0, 14),
    st.floats(-8, 14),
)
def test_noncentral_student(degrees: int, shift: float, value: float) -> None:
    expected = special.nctdtr(degrees, shift, value)
    assume(not isnan(expected))  # scipy gives up far out on the other side
    assert noncentral_student_cdf(degrees, shift, value) == close(expected)


def test_what_can_be_worked_out_by_hand() -> None:
    assert student_quantile(1, 1e-5) == close(-1 / tan(pi * 1e-5))
    assert student_quantile(7, 0.5) == student_quantile(70, 0.5) == 0.0
    assert beta_quantile(1, 1, 0.3) == close(0.3)
    assert beta_quantile(5, 1, 0.3) == close(0.3**0.2)
    assert (beta_quantile(2, 3, 0.0), beta_quantile(2, 3, 1.0)) == (0.0, 1.0)
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)
    assert half_binomial_cdf(3, 10) == close(sum(comb(10, k) for k in range(4)) / 2**10)
    assert [half_binomial_cdf(k, 4) for k in (-1, 4, 5)] == [0.0, 1.0, 1.0]
    assert noncentral_student_cdf(5, 0.0, 0.0) == close(0.5)
    assert noncentral_student_cdf(9, 0.0, student_quantile(9, 0.975)) == close(0.975)


costs = st.one_of(st.sampled_from([0.0, 0.1, 1.0, 2.0, inf]), st.floats(0, 5))


@given(
    st.integers(0, 6).flatmap(
        lambda columns: st.lists(
            st.lists(costs, min_size=columns, max_size=columns), min_size=1, max_size=6
        )
    )
)
def test_the_least_assignment(rows: list[list[float]]) -> None:
    # A column of its own for each row, as a last resort.
    table = [[*row, *([3.0] * len(rows))] for row in rows]
    chosen = least_assignment(table)
    assert len(set(chosen)) == len(rows)
    optimum = import_module("scipy.optimize").linear_sum_assignment(table)[1].tolist()
    assert total(table, chosen) == close(total(table, optimum))


def total(table: list[list[float]], columns: list[int]) -> float:
    return sum(row[column] for row, column in zip(table, columns, strict=True))


def test_equal_columns_are_taken_in_order() -> None:
    assert least_assignment([[1.0] * 4] * 3) == [0, 1, 2]
    assert least_assignment([]) == []
