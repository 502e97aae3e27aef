"""How many tasks and trials a comparison of two runs needs, before the second one is played.

What two agents differ by varies from task to task (`power`). Where two runs are there, their
differences show how much. One run shows how often its agent succeeds, and how far its tasks lie
apart; without any run, both are assumed. How far another agent finds the same tasks hard is then
assumed, too: `alike` is the correlation of both agents' chances over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, variance

from greenroom.analysis.figures import Immutable
from greenroom.analysis.power import Counts, DifferenceSpread, PowerAnalysis, trial_noise

SUCCESS = 0.5
LIKENESS = 0.3
ALIKE = 0.7
TRIALS = (1, 2, 4, 8)
"""Sizes are worked out for so many trials of each task."""
MOST_TRIALS = 1000
"""Larger numbers of trials of the same tasks are no answer."""


class TaskSpread(Immutable, frozen=True):
    """What is known, or assumed, of the trials of one agent."""

    success: float
    """The mean chance of success."""
    likeness: float
    """The correlation of trials of one task: 0 if all tasks are equally hard."""
    likeness_assumed: bool = False
    """Each task has one trial only, which says nothing about it."""

    def other(self, difference: float) -> float:
        """The other agent's chance if it lies that far off: the one that takes more to find."""
        ends = (max(0.0, self.success - difference), min(1.0, self.success + difference))
        return max(ends, key=lambda one: one * (1 - one))

    def of_difference(self, alike: float, difference: float) -> DifferenceSpread:
        """How the difference from an agent varies that lies that far off, and is so much alike.

        It solves each task less often by one factor, or fails it less often, but for what tasks
        suit one of the two.
        """
        one, other = self.success, self.other(difference)
        factor = other / one if other < one else (1 - other) / (1 - one)
        varies = self.likeness * one * (1 - one)
        between = varies * (1 + factor**2 - 2 * alike * factor)
        chance = one * (1 - one) + other * (1 - other) - varies * (1 + factor**2)
        return DifferenceSpread(between, chance)


class EpisodePrice(Immutable, frozen=True):
    """What an episode takes."""

    cost: float | None
    """US dollars; None if it is not known, or nothing was bought."""
    seconds: float
    at_once: int
    """How many episodes are played at the same time."""


class ComparisonSize(Immutable, frozen=True):
    """Tasks x trials of two runs that find a difference."""

    tasks: int
    trials: int
    power: float
    """The chance that the difference is called."""
    episodes: int
    """Of one run."""
    cost: float | None = None
    """Of one run, in US dollars."""
    seconds: float | None = None
    """That one run takes."""


def observed_tasks(counts: Sequence[Counts], likeness: float = LIKENESS) -> TaskSpread:
    """What the trials of a run show; `likeness` is for tasks with one trial each.

    A run that always succeeds, or never, counts as if half a trial had gone the other way.
    """
    trials = sum(count for count, _ in counts)
    rates = [successes / count for count, successes in counts]
    success = min(max(fmean(rates), 0.5 / (trials + 1)), (trials + 0.5) / (trials + 1))
    tosses = success * (1 - success)
    repeated = [one for one in counts if one[0] > 1]
    if len(repeated) < 2:
        return TaskSpread(success=success, likeness=likeness, likeness_assumed=True)
    noise = fmean(trial_noise(*one) / one[0] for one in repeated)
    between = variance(successes / count for count, successes in repeated) - noise
    return TaskSpread(success=success, likeness=min(1.0, max(0.0, between / tosses)))


def comparison_sizes(
    analysis: PowerAnalysis,
    difference: float,
    *,
    tasks: int | None = None,
    price: EpisodePrice | None = None,
) -> list[ComparisonSize]:
    """The sizes that find a difference: with as many tasks as it takes, and with those there are.

    The first ones need the fewest episodes.
    """
    found: dict[tuple[int, int], ComparisonSize] = {}
    for trials in TRIALS:
        needed = analysis.tasks_needed(difference, trials=trials)
        if needed is not None:
            found[needed, trials] = _size(analysis, difference, needed, trials, price)
    if tasks is not None:
        repeats = analysis.trials_needed(difference, tasks=tasks)
        if repeats is not None and repeats <= MOST_TRIALS:
            found[tasks, repeats] = _size(analysis, difference, tasks, repeats, price)
    return sorted(found.values(), key=lambda one: (one.episodes, one.trials))


def _size(
    analysis: PowerAnalysis, difference: float, tasks: int, trials: int, price: EpisodePrice | None
) -> ComparisonSize:
    episodes = tasks * trials
    seconds = None
    if price is not None and isfinite(price.seconds):
        # The last ones of a run cannot be shared among more places than there are episodes.
        seconds = price.seconds * -(-episodes // price.at_once)
    return ComparisonSize(
        tasks=tasks,
        trials=trials,
        power=analysis.power_to_detect(difference, tasks=tasks, trials=trials),
        episodes=episodes,
        cost=None if price is None or price.cost is None else price.cost * episodes,
        seconds=seconds,
    )
