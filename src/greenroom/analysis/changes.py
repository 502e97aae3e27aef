"""Which tasks changed over nightly runs, corrected for many tasks and for looking every night.

**One task.** Its nights are split in two: the last one, or the last two, four, eight, ... up to
half of the window, against those before. Each split is Fisher's exact test of the two counts of
solved trials. The smallest p-value counts, times the number of splits.

**All tasks of a night.** Benjamini and Hochberg's step-up procedure at the night's level. Where no
task changed, the chance of any alarm is at most that level, since tasks are independent. Where some
did, the expected share of false ones among the alarms is at most that.

**Every night.** The level of a night is `FALSE_ALARMS` divided by `NIGHTS`. So the chance of any
false alarm in so many nights in a row is at most `FALSE_ALARMS`, although nights share a window.

What is tested is that all trials of a task have the same chance of success, each independent of the
others. A provider that has bad nights, or a simulated user that changed, is a change as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import exp, lgamma
from typing import Literal

from greenroom.analysis.figures import Immutable
from greenroom.analysis.power import Counts

FALSE_ALARMS = 0.05
"""The chance of any false alarm within `NIGHTS`."""
NIGHTS = 60
LEVEL = FALSE_ALARMS / NIGHTS
"""The level of one night."""
_AS_RARE = 1 + 1e-7
"""Tables whose chances are this close are equally rare, but for rounding."""

Night = Mapping[int, Counts]
"""The trials and the successes of each task."""


class TaskChange(Immutable, frozen=True):
    """A task that is not solved as often as it was."""

    task_index: int
    direction: Literal["better", "worse"]
    nights: int
    """So many nights ago it had changed: 1 is the last one."""
    before_trials: int
    before_successes: int
    trials: int
    """Since then."""
    successes: int
    p_value: float
    """Of the task, corrected for the splits that were tried."""

    @property
    def before_rate(self) -> float:
        """The share of trials that were solved before."""
        return self.before_successes / self.before_trials

    @property
    def rate(self) -> float:
        """The share that was solved since."""
        return self.successes / self.trials


def find_changes(nights: Sequence[Night], *, level: float = LEVEL) -> list[TaskChange]:
    """The tasks that changed, those that are surest first; nights are given oldest first."""
    found = [one for index in sorted(nights[-1]) if (one := _surest(nights, index)) is not None]
    found.sort(key=lambda one: (one.p_value, one.task_index))
    called = 0
    for rank, one in enumerate(found, 1):
        if one.p_value <= level * rank / len(found):
            called = rank
    return found[:called]


def splits(nights: int) -> list[int]:
    """How many of the last nights are set against those before: 1, 2, 4, ... up to half."""
    found = [1]
    while 2 * found[-1] <= nights // 2:
        found.append(2 * found[-1])
    return found if nights > 1 else []


def nights_to_find(trials: int, tasks: int, nights: int, *, level: float = LEVEL) -> int | None:
    """After how many nights a task is found that was always solved and never is any more.

    It is the only one that changed among so many tasks, each with so many trials a night. None if
    it takes more nights than the window can tell apart.
    """
    tried = splits(nights)
    for after in tried:
        before = (nights - after) * trials
        p_value = len(tried) * fisher_p_value((before, before), (after * trials, 0))
        if p_value <= level / tasks:
            return after
    return None


def _surest(nights: Sequence[Night], index: int) -> TaskChange | None:
    """The split of a task that is hardest to explain by chance; None without two sides."""
    tried = list(_split(nights, index))
    if not tried:
        return None
    p_value, after, then, now = min(tried)
    return TaskChange(
        task_index=index,
        direction="better" if now[1] * then[0] > then[1] * now[0] else "worse",
        nights=after,
        before_trials=then[0],
        before_successes=then[1],
        trials=now[0],
        successes=now[1],
        p_value=min(1.0, p_value * len(tried)),
    )


def _split(nights: Sequence[Night], index: int) -> Iterator[tuple[float, int, Counts, Counts]]:
    played = [night.get(index, (0, 0)) for night in nights]
    for after in splits(len(nights)):
        then, now = (
            (sum(trials for trials, _ in side), sum(successes for _, successes in side))
            for side in (played[:-after], played[-after:])
        )
        if then[0] and now[0]:
            yield fisher_p_value(then, now), after, then, now


@lru_cache(maxsize=65536)
def fisher_p_value(first: Counts, second: Counts) -> float:
    """Fisher's exact test, two-sided: are both counts of successes of the same chance?

    The tables with these margins that are no more likely than the one seen, taken together.
    """
    trials, successes = first[0] + second[0], first[1] + second[1]
    lowest, highest = max(0, successes - second[0]), min(first[0], successes)
    every = _log_ways(trials, successes)

    def chance(in_first: int) -> float:
        ways = _log_ways(first[0], in_first) + _log_ways(second[0], successes - in_first)
        return exp(ways - every)

    seen = chance(first[1]) * _AS_RARE
    return min(1.0, sum(one for k in range(lowest, highest + 1) if (one := chance(k)) <= seen))


def _log_ways(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
