"""The figures of a set of tasks that say how much it asks of an agent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.tasks import REFUSAL

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.tasks import Action

Profile = Mapping[str, float]
"""Figures by name; see FIGURES."""

TRANSFER: Final = "transfer_to_human_agents"

FIGURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "writes": "changes per task",
        "no_writes": "tasks without a change",
        "many_writes": "tasks with three changes or more",
        "actions": "actions per task",
        "outputs": "outputs per task",
        "with_outputs": "tasks with an output",
        "refusals": "tasks with a request that policy forbids",
        "pressure": "tasks with pressure against policy",
        "corrections": "tasks with a correction half-way",
        "transfers": "tasks that end with a person",
        "nothing": "tasks that an agent solves by doing nothing",
    }
)
"""The figures of a profile and what they count."""

TOLERANCE: Final = 0.15
"""By how much of an official figure a figure of "official" tasks may differ from it."""

MEANS: Final = frozenset({"writes", "actions", "outputs"})
"""The figures that are numbers per task; all others are shares of the tasks."""


def profile_tasks(
    domain: Domain, split: str = DEFAULT_SPLIT, indices: Sequence[int] | None = None
) -> Profile:
    """The figures of the tasks of a split.

    Refusals, pressure and corrections are told by the tags of the tasks.
    """
    from greenroom.domains.validation import solved_by_nothing

    tasks = domain.tasks(split)
    chosen = range(len(tasks)) if indices is None else indices
    drawn = [tasks[index] for index in chosen]
    writes = [sum(_writes(domain, action) for action in task.actions) for task in drawn]
    return {
        "writes": _mean(writes),
        "no_writes": _mean(number == 0 for number in writes),
        "many_writes": _mean(number >= 3 for number in writes),
        "actions": _mean(len(task.actions) for task in drawn),
        "outputs": _mean(len(task.outputs) for task in drawn),
        "with_outputs": _mean(bool(task.outputs) for task in drawn),
        "refusals": _mean(REFUSAL in task.tags for task in drawn),
        "pressure": _mean("pressure" in task.tags for task in drawn),
        "corrections": _mean("correction" in task.tags for task in drawn),
        "transfers": _mean(
            any(_hands_over(domain, action) for action in task.actions) for task in drawn
        ),
        "nothing": len(solved_by_nothing(domain, split, chosen)) / max(1, len(drawn)),
    }


def difference(figure: str, made: Profile, official: Profile) -> float:
    """How far a figure is from the official one, as a share of the official one."""
    if made[figure] == official[figure]:
        return 0.0
    return made[figure] / official[figure] - 1 if official[figure] else math.inf


def figures_apart(made: Profile, official: Profile) -> list[str]:
    """The figures that are too far from the official ones."""
    return [name for name in official if abs(difference(name, made, official)) > TOLERANCE]


def shown(figure: str, value: float) -> str:
    """A figure as a table shows it."""
    return f"{value:.2f}" if figure in MEANS else f"{value * 100:.1f} %"


def _mean(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return round(fmean(numbers), 4) if numbers else 0.0


def _writes(domain: Domain, action: Action) -> bool:
    tool = domain.edition.tool(action.party, action.name)
    return tool is not None and tool.writes


def _hands_over(domain: Domain, action: Action) -> bool:
    # In Tau Bench such a call ends the episode; in tau2-bench the user is told first.
    tool = domain.tools.get(action.name)
    return action.name == TRANSFER or (tool is not None and tool.ends_episode)
