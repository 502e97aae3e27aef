"""Whether intervals hold and tests call as often as they say, where that was hard to get right."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from greenroom.analysis.intervals import Floats, share_interval
from greenroom.analysis.paired import sign_flip_p_value

pytestmark = pytest.mark.slow
REPETITIONS = 1000


def chances(
    generator: np.random.Generator, shape: tuple[int, int], mean: float, likeness: float
) -> Floats:
    weight = 1 / likeness - 1 if likeness else 1e9
    return generator.beta(mean * weight, (1 - mean) * weight, size=shape)


@pytest.mark.parametrize(
    ("tasks", "trials", "mean", "likeness"),
    [
        (20, 4, 0.02, 0.6),
        (50, 8, 0.05, 0.6),
        (20, 8, 0.3, 0.6),
        (20, 8, 0.3, 0.3),
        (200, 8, 0.05, 0.3),
        (10, 4, 0.1, 0.3),
        (115, 8, 0.3, 0.1),
        (20, 4, 0.95, 0.3),
    ],
)
@pytest.mark.parametrize("k", [1, 4])
def test_the_truth_is_covered(
    tasks: int, trials: int, mean: float, likeness: float, k: int
) -> None:
    generator = np.random.default_rng(tasks)
    table = np.array([comb(count, k) / comb(trials, k) for count in range(trials + 1)])
    drawn = chances(generator, (REPETITIONS, tasks), mean, likeness)
    weight = 1 / likeness - 1
    truth = float(np.prod([(mean * weight + j) / (weight + j) for j in range(k)]))
    covered = 0
    for values in table[generator.binomial(trials, drawn)]:
        # The bootstrap's variance of a mean, without its own noise.
        variance = float(np.var(values, ddof=1)) / tasks if np.ptp(values) else float("nan")
        found = share_interval(float(values.mean()), variance, values, 0.95)
        covered += found.low <= truth <= found.high
    assert covered / REPETITIONS >= 0.92


def differences(
    tasks: int, trials: int, mean: float, likeness: float, shared: float, rise: float = 0.0
) -> Iterator[NDArray[np.float64]]:
    """Differences of tasks, of which this share are equally hard for both agents."""
    generator = np.random.default_rng(tasks * trials)
    shape = (REPETITIONS, tasks)
    before = chances(generator, shape, mean, likeness)
    afresh = chances(generator, shape, mean, likeness)
    after = np.where(generator.random(shape) < shared, before, afresh)
    after += (1 - after) * rise / (1 - mean)
    yield from (generator.binomial(trials, after) - generator.binomial(trials, before)) / trials


def called(found: Iterator[NDArray[np.float64]]) -> float:
    return sum(sign_flip_p_value(one.tolist()) <= 0.05 for one in found) / REPETITIONS


@pytest.mark.parametrize("trials", [1, 4, 8])
@pytest.mark.parametrize("tasks", [8, 20, 115])
@pytest.mark.parametrize(
    ("mean", "likeness", "shared"), [(0.5, 0.0, 1.0), (0.8, 0.3, 1.0), (0.8, 0.3, 0.5)]
)
def test_equal_agents_are_rarely_called_different(
    tasks: int, trials: int, mean: float, likeness: float, shared: float
) -> None:
    assert called(differences(tasks, trials, mean, likeness, shared)) <= 0.065


def test_true_differences_are_found_as_often_as_by_tests_of_normal_means() -> None:
    assert called(differences(115, 1, 0.97, 0.0, 1.0, rise=0.02)) >= 0.12
    assert called(differences(20, 4, 0.8, 0.0, 1.0, rise=0.1)) >= 0.35
