from __future__ import annotations

import numpy as np
import pytest

from greenroom.analysis.paired import sign_flip_p_value
from greenroom.analysis.power import PowerAnalysis
from greenroom.analysis.sizes import (
    EpisodePrice,
    TaskSpread,
    comparison_sizes,
    observed_tasks,
)
from tests.analysis.test_simulations import chances


def test_a_run_says_how_far_its_tasks_lie_apart() -> None:
    generator = np.random.default_rng(1)
    weight = 1 / 0.3 - 1
    chances = generator.beta(0.7 * weight, 0.3 * weight, size=2000)
    found = observed_tasks([(4, int(count)) for count in generator.binomial(4, chances)])
    assert found.success == pytest.approx(0.7, abs=0.02)
    assert found.likeness == pytest.approx(0.3, abs=0.03)
    assert not found.likeness_assumed


def test_one_trial_each_says_nothing_of_the_likeness() -> None:
    found = observed_tasks([(1, 1), (1, 0), (1, 1), (1, 1)], likeness=0.4)
    assert (found.success, found.likeness, found.likeness_assumed) == (0.75, 0.4, True)


def test_a_run_that_always_succeeds_may_fail() -> None:
    assert observed_tasks([(4, 4)] * 5).success == pytest.approx(20.5 / 21)
    assert observed_tasks([(4, 0)] * 5).success == pytest.approx(0.5 / 21)


def test_agents_that_are_alike_differ_by_chance_alone() -> None:
    known = TaskSpread(success=0.5, likeness=0.4)
    for alike, between in ((1.0, 0.0), (0.0, 0.2)):
        spread = known.of_difference(alike, 0.0)
        assert spread.between_tasks == pytest.approx(between)
        assert spread.within_tasks == pytest.approx(0.3)


@pytest.mark.parametrize(("success", "other"), [(0.8, 0.7), (0.2, 0.3), (0.5, 0.4), (0.98, 0.88)])
def test_the_difference_is_planned_for_the_way_that_takes_more(
    success: float, other: float
) -> None:
    known = TaskSpread(success=success, likeness=0.0)
    assert known.other(0.1) == pytest.approx(other)
    within = success * (1 - success) + other * (1 - other)
    assert known.of_difference(0.7, 0.1).within_tasks == pytest.approx(within)


def test_the_fewest_episodes_come_first() -> None:
    analysis = PowerAnalysis(TaskSpread(success=0.5, likeness=0.3).of_difference(0.7, 0.1))
    price = EpisodePrice(cost=0.5, seconds=10, at_once=8)
    sizes = comparison_sizes(analysis, 0.1, tasks=115, price=price)
    assert [one.episodes for one in sizes] == sorted(one.episodes for one in sizes)
    assert {one.trials for one in sizes} >= {1, 2, 4, 8}
    for one in sizes:
        assert one.power >= 0.8
        assert one.cost == one.episodes / 2
        assert one.seconds == 10 * -(-one.episodes // 8)
        fewer = analysis.power_to_detect(0.1, tasks=one.tasks - 1, trials=one.trials)
        assert fewer < 0.8 or one.tasks == 115


def test_few_tasks_may_not_do_in_any_number_of_trials() -> None:
    analysis = PowerAnalysis(TaskSpread(success=0.5, likeness=0.6).of_difference(0.5, 0.05))
    assert all(one.tasks != 20 for one in comparison_sizes(analysis, 0.05, tasks=20))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("success", "likeness", "alike"), [(0.45, 0.0, 1.0), (0.8, 0.3, 0.7), (0.8, 0.6, 1.0)]
)
def test_the_difference_is_found_as_often_as_was_planned(
    success: float, likeness: float, alike: float
) -> None:
    known = TaskSpread(success=success, likeness=likeness)
    analysis = PowerAnalysis(known.of_difference(alike, 0.1))
    size = next(one for one in comparison_sizes(analysis, 0.1) if one.trials == 4)
    generator = np.random.default_rng(2)
    called = 0
    for _ in range(500):
        first, afresh = (chances(generator, (1, size.tasks), success, likeness) for _ in "12")
        second = np.where(generator.random((1, size.tasks)) < alike, first, afresh)
        second += (1 - second) * 0.1 / (1 - success) if success < 0.5 else -second * 0.1 / success
        solved = [generator.binomial(4, one.ravel()).tolist() for one in (first, second)]
        apart = [(now - then) / 4 for then, now in zip(*solved, strict=True)]
        called += sign_flip_p_value(apart) <= 0.05
    assert called / 500 == pytest.approx(0.8, abs=0.06)
