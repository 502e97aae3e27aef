"""What it takes to find a difference: from stored runs, or from assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from greenroom.analysis.counts import counted_episodes
from greenroom.analysis.figures import CONFIDENCE, Immutable
from greenroom.analysis.power import USUAL_POWER, Counts, PowerAnalysis, observed_spread
from greenroom.analysis.sizes import (
    ALIKE,
    LIKENESS,
    SUCCESS,
    ComparisonSize,
    EpisodePrice,
    TaskSpread,
    comparison_sizes,
    observed_tasks,
)
from greenroom.analysis.tally import SOLVED, Tally, reward_of
from greenroom.errors import InputError
from greenroom.reports.run_tally import compared_run
from greenroom.reports.task_sets import check_same_tasks
from greenroom.reports.texts import plural
from greenroom.store import RunRecord, Store

_FEWEST_TASKS = 2


class Sizes(Immutable, frozen=True):
    """Tasks x trials that find a difference between two runs, and what they take."""

    detect: float
    """The true difference in pass^1 that is to be found."""
    power: float
    """The chance that it is called, at least."""
    false_calls: float
    """The chance that equal agents are called different, at most."""
    measured: list[str]
    """What was taken from runs, in sentences."""
    assumed: list[str]
    """What was assumed, in sentences."""
    between_tasks: float
    """The variance of the true difference over tasks."""
    within_tasks: float
    """The variance that chance adds to the difference of one trial each."""
    tasks: int | None
    """The tasks that there are; None if that was not said."""
    price: EpisodePrice | None
    """What an episode takes; None where no run says so."""
    sizes: list[ComparisonSize]
    """The fewest episodes first."""
    no_trials_suffice: bool
    """No number of trials of the tasks that there are finds it."""


@dataclass(frozen=True)
class _Played:
    """A run, as far as sizes depend on it."""

    run: RunRecord
    counts: dict[int, Counts]
    price: EpisodePrice


def comparison_plan(
    store: Store,
    names: Sequence[str],
    *,
    detect: float,
    power: float = USUAL_POWER,
    false_calls: float = 1 - CONFIDENCE,
    success: float | None = None,
    likeness: float | None = None,
    alike: float | None = None,
    tasks: int | None = None,
    at_once: int | None = None,
) -> Sizes:
    """What finds a difference: measured in up to two runs, assumed where they do not say."""
    runs = [_played(store.runs.find(name), store, at_once) for name in names]
    _check(runs, success, likeness, alike)
    measured: list[str] = []
    assumed: list[str] = []
    shared: list[int] = []
    if len(runs) == 2:
        check_same_tasks([one.run for one in runs])
        shared = sorted(runs[0].counts.keys() & runs[1].counts.keys())
        if len(shared) < _FEWEST_TASKS:
            raise InputError(f"{names[0]} and {names[1]} have too few tasks in common to plan by.")
        pairs = [(runs[0].counts[index], runs[1].counts[index]) for index in shared]
        spread, trials = observed_spread(pairs)
        measured.append(
            f"How far {names[0]} and {names[1]} lie apart on {plural(len(shared), 'task')}."
        )
        if not spread.separable:
            assumed.append(
                "Tasks have one trial each: all that varies is put down to tasks."
                if trials == 1
                else "The runs lie as far apart on each task: it is as if one task differed."
            )
        elif trials < 2:
            assumed.append("Few tasks have several trials, so what varies is roughly known.")
    else:
        known = _tasks_of(runs, success, likeness, measured, assumed)
        if detect > max(known.success, 1 - known.success):
            raise InputError(
                f"An agent that solves {100 * known.success:.3g} % of trials cannot be surpassed, "
                f"or fallen short of, by {detect:g}: --detect a smaller difference."
            )
        likely = ALIKE if alike is None else alike
        spread = known.of_difference(likely, detect)
        assumed.append(
            f"The other agent solves {100 * known.other(detect):.3g} % of trials: of more and less "
            "that which takes more to find."
        )
        assumed.append(
            f"The chances of both agents have a correlation of {likely:g} over tasks (--alike)."
        )
    if runs:
        tasks = tasks or len(shared or runs[0].counts)
    price = runs[-1].price if runs else None
    if price is not None:
        measured.append(_price_sentence(runs[-1].run.name, price, at_once))
    analysis = PowerAnalysis(spread, confidence=1 - false_calls, power=power)
    sizes = comparison_sizes(analysis, detect, tasks=tasks, price=price)
    return Sizes(
        detect=detect,
        power=power,
        false_calls=false_calls,
        measured=measured,
        assumed=assumed,
        between_tasks=spread.between_tasks,
        within_tasks=spread.within_tasks,
        tasks=tasks,
        price=price,
        sizes=sizes,
        no_trials_suffice=tasks is not None and not any(one.tasks == tasks for one in sizes),
    )


def _check(
    runs: Sequence[_Played], success: float | None, likeness: float | None, alike: float | None
) -> None:
    if len(runs) > 2:
        raise InputError("--from takes one run, or two whose difference is looked at.")
    if runs and success is not None:
        raise InputError("--success is for planning without --from: the run says how often.")
    if len(runs) == 2 and not (likeness is None and alike is None):
        raise InputError("Two runs say how far they are alike: leave out --alike and --likeness.")


def _tasks_of(
    runs: Sequence[_Played],
    success: float | None,
    likeness: float | None,
    measured: list[str],
    assumed: list[str],
) -> TaskSpread:
    likely = LIKENESS if likeness is None else likeness
    if not runs:
        often = SUCCESS if success is None else success
        assumed.append(f"One agent solves {100 * often:.3g} % of trials (--success).")
        assumed.append(_likeness_sentence(likely))
        return TaskSpread(success=often, likeness=likely)
    (one,) = runs
    found = observed_tasks(list(one.counts.values()), likely)
    episodes = sum(trials for trials, _ in one.counts.values())
    said = (
        f"{one.run.name} solved {100 * found.success:.3g} % of {plural(episodes, 'episode')} of "
        f"{plural(len(one.counts), 'task')}"
    )
    if found.likeness_assumed:
        assumed.append(_likeness_sentence(likely))
    elif likeness is not None:
        raise InputError("--likeness is not needed: the run has several trials of its tasks.")
    else:
        said += f"; trials of one task have a correlation of {found.likeness:.2f}"
    measured.append(f"{said}.")
    return found


def _likeness_sentence(likeness: float) -> str:
    return f"Trials of one task have a correlation of {likeness:g} (--likeness)."


def _played(run: RunRecord, store: Store, at_once: int | None) -> _Played:
    counted = compared_run(counted_episodes(store, run.id)).compared(run)
    tally = counted.counted()
    counts = _counts(tally)
    if len(counts) < _FEWEST_TASKS:
        raise InputError(
            f"{run.name} has results of {plural(len(counts), 'task')}: too few to plan by."
        )
    played = tally.played
    cost = tally.cost(played)
    return _Played(
        run,
        counts,
        EpisodePrice(
            cost=None if cost is None else cost / len(played),
            seconds=sum(one.seconds for one in played) / len(played),
            at_once=at_once or _at_once(run.config),
        ),
    )


def _counts(tally: Tally) -> dict[int, Counts]:
    found: dict[int, Counts] = {}
    for index, trials in tally.rows.items():
        rewards = [reward for one in trials.values() if (reward := reward_of(one)) is not None]
        if rewards:
            found[index] = len(rewards), sum(reward >= SOLVED for reward in rewards)
    return found


def _at_once(config: dict[str, Any]) -> int:
    return max(1, int(config.get("max_concurrency") or 1))


def _price_sentence(name: str, price: EpisodePrice, at_once: int | None) -> str:
    cost = "no known cost" if price.cost is None else f"${price.cost:.4g}"
    seconds = f"{price.seconds:.3g} s" if isfinite(price.seconds) else "an unknown time"
    said = f"An episode of {name} took {cost} and {seconds}"
    places = f"{price.at_once:,} at the same time"
    return f"{said}; {places}{' are asked for' if at_once else ' were played'}."
