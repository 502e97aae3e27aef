"""Whether intervals and comparisons keep their word everywhere: a grid of simulations.

Every cell has a number of tasks, of trials, a mean chance of success and a likeness of the trials
of one task; what is drawn is as in `benchmarks.statistics`. Each cell is played 1,000 times. A
cell that is beyond its limit is played afresh, 10,000 times, and misses its limit if it is still
beyond it by more than 2.6 standard errors, which is 0.6 points at 5 %. Of 200 cells that lie on
their limit, one would look so by chance.

**Intervals** hold the truth in 92 to 99 % of repetitions. Where they hold it more often, at least
half of them have to be marked as cautious.

**Equal agents** are called different in at most 5 %: with the same chances on every task, with half
of the tasks as hard for one as for the other, and with episodes that break only where one of the
agents would have failed.

**Power** is compared with a z-test of the same differences of tasks, the critical value of which is
raised until its own false calls are at most 5 % in each cell with so many tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.measures import Measure
from benchmarks.statistics import chances, true_pass_hat
from greenroom.analysis.comparison import EQUAL_WITHIN, ComparedRun, compare_runs
from greenroom.analysis.figures import Estimate
from greenroom.analysis.intervals import SuccessIntervals
from greenroom.analysis.paired import (
    difference_interval,
    equivalence_bounds,
    sign_flip_p_value,
)
from greenroom.store import EpisodeRecord, Outcome, TaskRecord

TASKS = (10, 20, 50, 115)
TRIALS = (1, 2, 4, 8)
MEANS = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
LIKENESSES = (0.0, 0.3, 0.6)
REPETITIONS = 1_000
MOST_REPETITIONS = 10_000
_ERRORS = 2.6
_Z_BATCHES = 5
_SOME_MEANS = (0.05, 0.3, 0.5, 0.9, 0.98)
_BROKEN = 0.3
"""The share of failing trials that break."""

Integers = NDArray[np.int64]


class Place(NamedTuple):
    """A cell of the grid."""

    tasks: int
    trials: int
    mean: float
    likeness: float

    def generator(self, *more: int) -> np.random.Generator:
        """The random numbers of this cell."""
        drawn = (self.tasks, self.trials, round(100 * self.mean), round(10 * self.likeness))
        return np.random.default_rng([*drawn, *more])

    def chances(self, generator: np.random.Generator) -> NDArray[np.float64]:
        """The chances of its tasks in 1,000 repetitions."""
        size = REPETITIONS * self.tasks
        found = chances(generator, size, self.mean, self.likeness)
        return found.reshape(REPETITIONS, self.tasks)


def places() -> Iterator[Place]:
    """All cells."""
    for place in product(TASKS, TRIALS, MEANS, LIKENESSES):
        yield Place(*place)


class Count(NamedTuple):
    """How often something happened."""

    times: int
    of: int

    @property
    def share(self) -> float:
        """In per cent."""
        return 100 * self.times / self.of

    def beyond(self, limit: float, errors: float = 0.0) -> float:
        """How far it is above a limit in per cent, by more than so many standard errors."""
        return self.share - limit - errors * sqrt(limit * (100 - limit) / self.of)

    def below(self, limit: float, errors: float = 0.0) -> float:
        """How far it is below a limit, by more than so many standard errors."""
        return limit - self.share - errors * sqrt(limit * (100 - limit) / self.of)


def settled(play: Callable[[int], int], limit: float, *, least: bool = False) -> Count:
    """Play a cell; if it is not within its limit, so often that chance hardly moves it."""
    count = Count(play(0), REPETITIONS)
    if (count.below(limit) if least else count.beyond(limit)) <= 0:
        return count
    # The first batch, which was picked for what it came to, does not count.
    batches = range(1, 1 + MOST_REPETITIONS // REPETITIONS)
    return Count(sum(map(play, batches)), MOST_REPETITIONS)


# Intervals


@lru_cache(maxsize=200_000)
def _interval(trials: int, k: int, occurring: tuple[int, ...]) -> Estimate:
    counts = [(trials, solved) for solved, tasks in enumerate(occurring) for _ in range(tasks)]
    return SuccessIntervals(counts).pass_hat_k(k)


class Covered(NamedTuple):
    """What intervals did in a cell."""

    held: int
    marked: int


def _covered(place: Place, k: int, batch: int) -> Covered:
    generator = place.generator(batch)
    truth = true_pass_hat(place.mean, place.likeness, k)
    held = marked = 0
    for row in generator.binomial(place.trials, place.chances(generator)):
        occurring = tuple(np.bincount(row, minlength=place.trials + 1).tolist())
        found = _interval(place.trials, k, occurring)
        held += found.low <= truth <= found.high
        marked += found.cautious
    return Covered(held, marked)


def grid_coverage() -> Iterator[Measure]:
    """Coverage of the 95 % interval of pass^1 and pass^4 over the grid."""
    for k in (1, 4):
        cells = [place for place in places() if place.trials >= k]
        low, high, wide, missed = 100.0, 0.0, 0, 0
        for place in cells:

            def held(batch: int, place: Place = place, k: int = k) -> int:
                return _covered(place, k, batch).held

            first = _covered(place, k, 0)
            count = Count(first.held, REPETITIONS)
            if count.below(92) > 0:
                count = settled(held, 92, least=True)
                missed += count.below(92, _ERRORS) > 0
            elif count.beyond(99) > 0:
                if first.marked >= REPETITIONS / 2:
                    wide += 1
                else:
                    count = settled(held, 99)
                    missed += count.beyond(99, _ERRORS) > 0
            low, high = min(low, count.share), max(high, count.share)
        yield Measure(
            f"95 % interval of pass^{k}: cells of {len(cells)} with the truth held in less than "
            "92 %, or in more than 99 % and not marked",
            f"{low:.1f} to {high:.1f} %, {wide} cells wider and marked",
            "",
            missed,
            " cells",
            at_most=0,
        )


# Comparisons


@lru_cache(maxsize=500_000)
def _p_value(trials: int, occurring: tuple[int, ...]) -> float:
    apart = [(at - trials) / trials for at, tasks in enumerate(occurring) for _ in range(tasks)]
    return sign_flip_p_value(apart)


def _called(apart: Integers, trials: int) -> bool:
    occurring = tuple(np.bincount(apart + trials, minlength=2 * trials + 1).tolist())
    if _p_value(trials, occurring) > 0.05:
        return False
    found = difference_interval((apart / trials).tolist())
    return found.low > 0 or found.high < 0


def _differences(place: Place, batch: int, shared: float, rise: float = 0.0) -> Integers:
    """What two agents differ by on each task, in trials: a row for each repetition."""
    generator = place.generator(batch, round(10 * shared), 1)
    before, afresh = place.chances(generator), place.chances(generator)
    after = np.where(generator.random(before.shape) < shared, before, afresh)
    if rise > 0:
        after = after + (1 - after) * rise / (1 - place.mean)
    elif rise < 0:
        after = after * (1 + rise / place.mean)
    return generator.binomial(place.trials, after) - generator.binomial(place.trials, before)


def grid_false_calls() -> Iterator[Measure]:
    """Equal agents that are called different, over the grid."""
    for shared in (1.0, 0.5):
        # Where all tasks are equally hard, no task suits one agent more than the other.
        cells = [place for place in places() if place.likeness or shared == 1]

        def called(place: Place, batch: int, shared: float = shared) -> int:
            rows = _differences(place, batch, shared)
            return sum(_called(row, place.trials) for row in rows)

        name = f"Equal agents called different, {100 * shared:.0f} % of tasks equally hard"
        yield _false_calls(name, cells, called)
    yield _false_calls(
        f"Equal agents called different, {100 * _BROKEN:.0f} % of what one of them fails breaks",
        [Place(tasks, 4, mean, 0.3) for tasks in TASKS[:3] for mean in (0.1, 0.5, 0.9)],
        _called_though_broken,
    )


def _false_calls(name: str, cells: list[Place], called: Callable[[Place, int], int]) -> Measure:
    most, missed = 0.0, 0
    for place in cells:

        def play(batch: int, place: Place = place) -> int:
            return called(place, batch)

        count = settled(play, 5)
        most = max(most, count.share)
        missed += count.beyond(5, _ERRORS) > 0
    return Measure(
        f"{name}: cells of {len(cells)} with more than 5 %",
        f"{most:.1f} % at most",
        "",
        missed,
        " cells",
        at_most=0,
    )


def _called_though_broken(place: Place, batch: int) -> int:
    generator = place.generator(batch, 2)
    called = 0
    for row in place.chances(generator):
        runs: list[ComparedRun] = []
        for label, broken in (("A", 0.0), ("B", _BROKEN)):
            drawn: NDArray[np.float64] = generator.random((place.trials, place.tasks))
            solved = drawn < row
            breaks = ~solved & (generator.random((place.trials, place.tasks)) < broken)
            episodes = [
                _episode(task, trial, bool(solved[trial, task]), bool(breaks[trial, task]))
                for trial in range(place.trials)
                for task in range(place.tasks)
            ]
            runs.append(ComparedRun(label, episodes, range(place.tasks), place.trials))
        called += compare_runs(runs).comparisons[0].verdict in ("better", "worse")
    return called


@lru_cache(maxsize=10_000)
def _episode(task: int, trial: int, solved: bool, broken: bool) -> EpisodeRecord:
    outcome: Outcome = "success" if solved else "failure"
    return EpisodeRecord(
        task_index=task,
        trial=trial,
        outcome="infrastructure_error" if broken else outcome,
        reward=None if broken else float(solved),
        task=TaskRecord(instruction=""),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


# Power and equivalence


def grid_power() -> Iterator[Measure]:
    """How often true differences are found, beside a z-test that keeps to 5 % in every cell."""
    less, cells, ours, theirs = 0.0, 0, 0.0, 0.0
    for tasks in TASKS:
        of_tasks = [one for one in places() if one.tasks == tasks]
        critical = max(map(_critical, of_tasks))
        for place in (one for one in of_tasks if one.mean in _SOME_MEANS):
            rows = _differences(place, 0, 1.0, _worth_finding(place))
            found = 100 * np.mean([_called(row, place.trials) for row in rows])
            by_z = 100 * np.mean(_z_values(rows) > critical)
            cells, ours, theirs = cells + 1, ours + found, theirs + by_z
            less = max(less, float(by_z - found))
    yield Measure(
        f"True differences found in {cells} cells, less than by a z-test with false calls in 5 %",
        f"{ours / cells:.1f} % on average",
        f"{theirs / cells:.1f} %",
        less,
        " points at most",
        at_most=1.0,
    )


def _worth_finding(place: Place) -> float:
    """A difference that some half of the comparisons find."""
    rise = 2.2 * sqrt(2 * place.mean * (1 - place.mean) / (place.tasks * place.trials))
    return rise if place.mean + rise < 0.99 else -min(rise, 0.9 * place.mean)


def _z_values(rows: Integers) -> NDArray[np.float64]:
    apart = rows.astype(np.float64)
    error = apart.std(axis=1, ddof=1) / sqrt(apart.shape[1])
    mean = np.abs(apart.mean(axis=1))
    least = np.where(mean > 0, np.inf, 0.0)
    # Rounded: values on the same step are one value.
    found: NDArray[np.float64] = np.divide(mean, error, out=least, where=error > 0)
    return np.round(found, 7)


def _critical(place: Place) -> float:
    """The usual critical value, raised until at most 5 % of equal agents are above it."""
    batches = [_z_values(_differences(place, batch, 1.0)) for batch in range(_Z_BATCHES)]
    values = np.concatenate(batches)
    for value in np.unique(np.append(values, 1.96)):
        if value >= 1.96 and np.mean(values > value) <= 0.05:
            return float(value)
    raise AssertionError("no value is above the largest one")


def grid_equivalence() -> Iterator[Measure]:
    """Agents that are just not equal within the margin, said to be so."""
    cells = [
        place for place in places() if place.trials in (1, 8) and place.mean in (0.1, 0.5, 0.95)
    ]
    most, missed = 0.0, 0
    for place in cells:
        rise = EQUAL_WITHIN if place.mean < 0.95 else -EQUAL_WITHIN

        def play(batch: int, place: Place = place, rise: float = rise) -> int:
            rows = _differences(place, batch, 1.0, rise) / place.trials
            bounds = (_bounds(tuple(sorted(row))) for row in rows.tolist())
            return sum(max(-low, high) <= EQUAL_WITHIN for low, high in bounds)

        count = settled(play, 5)
        most = max(most, count.share)
        missed += count.beyond(5, _ERRORS) > 0
    yield Measure(
        f"Agents {100 * EQUAL_WITHIN:.0f} points apart said to be equal within that: cells of "
        f"{len(cells)} with more than 5 %",
        f"{most:.1f} % at most",
        "",
        missed,
        " cells",
        at_most=0,
    )


@lru_cache(maxsize=200_000)
def _bounds(apart: tuple[float, ...]) -> tuple[float, float]:
    return equivalence_bounds(apart)
