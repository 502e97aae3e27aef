"""The split of variance finds what was planted, whatever is missing."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from greenroom.analysis.spread_figures import PARTS, Part
from greenroom.analysis.user_spread import (
    Results,
    split_variance,
    spread_of_ranking,
    user_deviation,
)

PLANTED: dict[Part, float] = {
    "task": 0.4,
    "user": 0.15,
    "task_and_user": 0.15,
    "trial": 0.1,
    "residual": 0.2,
}
"""The share of each part."""


def drawn(
    seed: int, *, tasks: int = 60, users: int = 5, trials: int = 4, missing: float = 0.0
) -> Results:
    """Results around a half, with the parts that were planted."""
    generator = np.random.default_rng(seed)
    shapes = {
        "task": (tasks, 1, 1),
        "user": (1, users, 1),
        "task_and_user": (tasks, users, 1),
        "trial": (tasks, 1, trials),
        "residual": (tasks, users, trials),
    }
    values = np.full((tasks, users, trials), 0.5)
    for part, share in PLANTED.items():
        values += generator.normal(0, sqrt(0.2 * share), size=shapes[part])
    kept = generator.random(values.shape) >= missing
    return {(int(i), int(u), int(t)): float(values[i, u, t]) for i, u, t in np.argwhere(kept)}


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_shares_are_found(missing: float) -> None:
    sums = dict.fromkeys(PARTS, 0.0)
    for seed in range(200):
        for one in split_variance(drawn(seed, missing=missing)).parts:
            sums[one.part] += one.variance.value
    for part, planted in PLANTED.items():
        assert sums[part] / sum(sums.values()) == pytest.approx(planted, rel=0.1)


@pytest.mark.slow
def test_planted_shares_of_solved_tasks_are_found() -> None:
    # Chances of 0.5 that tasks and users move; what is left of p (1 - p) is residual.
    generator = np.random.default_rng(6)
    tasks, users = (np.tile([-0.2, 0.2], size // 2) for size in (200, 30))
    solved = generator.random((200, 30, 3)) < 0.5 + tasks.reshape(-1, 1, 1) + users.reshape(-1, 1)
    split = split_variance({cell: float(solved[cell]) for cell in np.ndindex(200, 30, 3)})
    assert split.share_of("task") == pytest.approx(0.04 / 0.25, rel=0.1)
    assert split.share_of("user") == pytest.approx(0.04 / 0.25, rel=0.1)
    assert split.share_of("residual") == pytest.approx(0.17 / 0.25, rel=0.1)


def test_users_with_fewer_trials_hardly_blur_the_split() -> None:
    # Users do not differ here, and one has a quarter of the trials of the other.
    generator = np.random.default_rng(8)
    found: list[float] = []
    for _ in range(40):
        solved = generator.random((40, 2, 4)) < 0.9
        cells = [(i, u, t) for i, u, t in np.ndindex(40, 2, 4) if u == 0 or t == 0]
        split = split_variance({(i, u, t): float(solved[i, u, t]) for i, u, t in cells})
        found.append(next(one.variance.value for one in split.parts if one.part == "user"))
    assert sum(found) / len(found) < 0.003


def test_the_interval_of_the_users_part_is_for_users_like_these() -> None:
    split = split_variance(drawn(7))
    users = next(one.variance for one in split.parts if one.part == "user")
    deviation = split.user_deviation
    ends = (deviation.low**2, deviation.value**2, deviation.high**2)
    assert (users.low, users.value, users.high) == pytest.approx(ends)


def test_no_estimate_is_outside_its_interval() -> None:
    # All trials go alike whoever the user is, and tasks are as alike as they can be.
    results = {
        (task, user, trial): float(trial == task % 2)
        for task in range(10)
        for user in range(3)
        for trial in range(2)
    }
    for one in split_variance(results).parts:
        if one.variance.method != "none":
            assert one.variance.low <= one.variance.value <= one.variance.high


def test_one_large_split_is_close() -> None:
    split = split_variance(drawn(1, tasks=200, users=20))
    for part in ("task", "task_and_user", "trial", "residual"):
        assert split.share_of(part) == pytest.approx(PLANTED[part], rel=0.2)
    assert sum(one.share for one in split.parts) == pytest.approx(1)
    assert (split.tasks, split.users, split.missing) == (200, 20, 0)


def test_without_several_trials_less_is_told_apart() -> None:
    split = split_variance(drawn(2, tasks=300, users=8, trials=1))
    assert [one.part for one in split.parts] == ["task", "user", "residual"]
    assert split.share_of("trial") == 0


def test_users_that_do_not_matter_have_no_share() -> None:
    generator = np.random.default_rng(3)
    results = {
        (task, user, trial): float(generator.random() < 0.5)
        for task in range(50)
        for user in range(4)
        for trial in range(4)
    }
    split = split_variance(results)
    assert split.share_of("user") < 0.02
    assert split.share_of("residual") > 0.9
    assert split.user_deviation.low == 0


def test_results_that_are_all_the_same_say_nothing_of_what_varies() -> None:
    split = split_variance({(task, user, 0): 1.0 for task in range(5) for user in range(3)})
    assert [one.variance.method for one in split.parts] == ["none"] * 5
    assert split.user_deviation.method == "none"


def test_what_is_missing_is_counted() -> None:
    whole = drawn(4, tasks=20, users=3, trials=2)
    some = {key: value for place, (key, value) in enumerate(whole.items()) if place % 7}
    assert split_variance(some).missing == len(whole) - len(some)


def test_too_little_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="three tasks and two users"):
        split_variance({(0, 0, 0): 1.0, (1, 0, 0): 0.0, (2, 0, 0): 0.0})


def test_two_users_say_hardly_anything_of_users_like_them() -> None:
    two = user_deviation([0.5, 0.6], 0.005, 0.95)
    assert two.high == 0.5
    many = user_deviation([0.5, 0.6] * 30, 0.0025, 0.95)
    assert many.high < 0.07
    assert two.low <= two.value <= two.high


def test_the_order_of_two_agents_may_depend_on_the_user() -> None:
    good, poor = [True, True, True, False], [True, False, False, False]
    tasks = range(30)
    one = {name: dict.fromkeys(tasks, good) for name in ("terse", "plain", "chatty")}
    other = {
        "terse": dict.fromkeys(tasks, poor),
        "plain": dict.fromkeys(tasks, good),
        "chatty": dict.fromkeys(tasks, [True] * 4),
    }
    found = spread_of_ranking(one, other)
    assert [round(user.difference.value, 2) for user in found.users] == [-0.5, 0.0, 0.25]
    assert [user.flipped for user in found.users] == [False, False, True]
    assert [user.sure for user in found.users] == [True, False, True]
    assert (found.flips, found.sure_flips) == (pytest.approx(1 / 3), 1)
    assert found.deviation.value == pytest.approx(np.std([-0.5, 0, 0.25], ddof=1))


def test_agents_that_are_even_on_average_differ_by_user() -> None:
    def played(**solved: int) -> dict[str, dict[int, list[bool]]]:
        return {
            user: {task: [trial < count for trial in range(4)] for task in range(30)}
            for user, count in solved.items()
        }

    found = spread_of_ranking(
        played(terse=1, plain=1, chatty=4), played(terse=2, plain=2, chatty=2)
    )
    assert found.difference == pytest.approx(0)
    assert [user.flipped for user in found.users] == [False, False, True]


def test_agents_with_the_same_lead_everywhere_do_not_depend_on_the_user() -> None:
    generator = np.random.default_rng(5)

    def played(chance: float) -> dict[str, dict[int, list[bool]]]:
        return {
            name: {task: (generator.random(4) < chance).tolist() for task in range(80)}
            for name in "abcd"
        }

    found = spread_of_ranking(played(0.4), played(0.7))
    assert found.flips == 0
    assert found.deviation.value < 0.06


def test_a_ranking_takes_two_users() -> None:
    with pytest.raises(ValueError, match="two users"):
        spread_of_ranking({"a": {0: [True]}}, {"b": {0: [True]}})
