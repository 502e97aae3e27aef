"""Which tasks changed: the exact test, the promise about false alarms, and what is found."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.changes import (
    FALSE_ALARMS,
    LEVEL,
    NIGHTS,
    Night,
    find_changes,
    fisher_p_value,
    nights_to_find,
    splits,
)
from greenroom.analysis.power import Counts

WINDOW = 14
TASKS, TRIALS = 40, 4
PERIODS = 60


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    trials = draw(st.integers(1, 40))
    return trials, draw(st.integers(0, trials))


@given(counts(), counts())
def test_fishers_test_is_exact(first: Counts, second: Counts) -> None:
    successes, trials = first[1] + second[1], first[0] + second[0]
    every = comb(trials, successes)
    chances = [
        Fraction(comb(first[0], k) * comb(second[0], successes - k), every)
        for k in range(successes + 1)
        if successes - k <= second[0]
    ]
    seen = Fraction(comb(first[0], first[1]) * comb(second[0], second[1]), every)
    expected = sum(one for one in chances if one <= seen)
    assert fisher_p_value(first, second) == pytest.approx(float(expected), rel=1e-9)


def test_splits_leave_at_least_half_of_the_nights_before() -> None:
    assert [splits(nights) for nights in (1, 2, 3, 4, 15, 16)] == [
        [],
        [1],
        [1],
        [1, 2],
        [1, 2, 4],
        [1, 2, 4, 8],
    ]


def played(generator: np.random.Generator, chances: np.ndarray, nights: int) -> list[Night]:
    table = generator.binomial(TRIALS, chances, size=(nights, len(chances)))
    return [{index: (TRIALS, int(n)) for index, n in enumerate(row)} for row in table]


def alarmed(nights: list[Night], level: float) -> bool:
    """Whether any of the last 60 nights raises an alarm."""
    return any(
        find_changes(nights[last - WINDOW : last + 1], level=level)
        for last in range(WINDOW, WINDOW + NIGHTS)
    )


@pytest.mark.slow
def test_equal_nights_keep_the_promise_about_false_alarms() -> None:
    generator = np.random.default_rng(1)
    false, uncorrected = 0, 0
    for period in range(PERIODS):
        chances = generator.beta(1.2, 0.6, size=TASKS)
        nights = played(generator, chances, WINDOW + NIGHTS)
        false += alarmed(nights, LEVEL)
        if period < 10:
            uncorrected += alarmed(nights, 0.05 * TASKS)
    assert false / PERIODS <= FALSE_ALARMS
    # Every task at the usual level every night: that cries wolf in all periods.
    assert uncorrected == 10


@pytest.mark.parametrize(("before", "since", "within"), [(0.95, 0.1, 4), (0.1, 0.95, 4)])
def test_a_planted_change_of_one_task_is_found_soon(
    before: float, since: float, within: int
) -> None:
    generator = np.random.default_rng(2)
    found, wrong = 0, 0
    for _ in range(PERIODS):
        chances = generator.beta(1.2, 0.6, size=TASKS)
        chances[7] = before
        nights = played(generator, chances, WINDOW)
        chances[7] = since
        nights += played(generator, chances, within)
        changes = find_changes(nights[-WINDOW - 1 :])
        called = {one.task_index: one for one in changes}
        wrong += bool(called.keys() - {7})
        if 7 in called:
            found += 1
            assert called[7].direction == ("worse" if since < before else "better")
            assert (called[7].rate < called[7].before_rate) == (since < before)
    assert found >= 0.95 * PERIODS
    assert wrong == 0


def test_what_can_be_found_is_told() -> None:
    after = nights_to_find(2, TASKS, WINDOW + 1)
    assert after == 4
    others: dict[int, Counts] = dict.fromkeys(range(1, TASKS), (2, 1))
    always: list[Night] = [{0: (2, 2), **others}] * (WINDOW + 1)
    never: list[Night] = [{0: (2, 0), **others}] * after
    assert [one.task_index for one in find_changes([*always[after:], *never])] == [0]
    assert find_changes([*always[2:], *never[:2]]) == []
    assert nights_to_find(TRIALS, TASKS, WINDOW + 1) == 1
    assert nights_to_find(1, 1000, 3) is None


def test_tasks_without_two_sides_are_left_out() -> None:
    nights: list[Night] = [{0: (400, 400)}, {0: (400, 0), 1: (400, 0)}]
    (found,) = find_changes(nights)
    assert (found.task_index, found.nights, found.direction) == (0, 1, "worse")
    assert find_changes([{0: (400, 400)}, {1: (400, 0)}]) == []
    assert find_changes([{0: (400, 400)}]) == []
