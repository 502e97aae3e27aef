from __future__ import annotations

from itertools import combinations
from math import isnan
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis import pass_hat_k, pass_hat_ks


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_it_is_the_share_of_k_trials_that_all_succeed(row: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(row)))
    assert pass_hat_k({0: row}, k) == pytest.approx(mean(map(all, combinations(row, k))))


def test_a_missing_trial_is_no_failure() -> None:
    assert pass_hat_k({0: [True] * 4, 1: [True] * 3}, 3) == 1.0


def test_tasks_with_too_few_trials_are_left_out() -> None:
    assert pass_hat_k({0: [True, False], 1: [False]}, 2) == 0.0
    assert pass_hat_k({0: [True, True], 1: [False]}, 2) == 1.0


def test_no_results_have_no_value() -> None:
    assert isnan(pass_hat_k({}, 1))
    assert isnan(pass_hat_k({0: [True]}, 2))
    assert pass_hat_ks({}) == {}
    assert pass_hat_ks({0: []}) == {}


def test_all_ks_that_every_task_can_be_judged_by() -> None:
    assert pass_hat_ks({0: [True, False, True], 1: [True, True]}) == {
        1: pytest.approx(5 / 6),
        2: pytest.approx(2 / 3),
    }


def test_k_begins_at_1() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_hat_k({0: [True]}, 0)
