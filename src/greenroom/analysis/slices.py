"""Slices of a result: the same figure for each group of tasks or rows.

Groups may overlap, since a task can have several tags and tools. Each slice tells how many tasks or
rows are behind its figure.
"""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import Estimate, Immutable
from greenroom.analysis.tally import is_solved
from greenroom.errors import UnknownName
from greenroom.store.records import EpisodeRecord

RUN_SLICES = ("tag", "kind", "tool")
"""What the slices of a run can be made by."""

Groups = dict[str, dict[int, list[float]]]
"""The values of each group, by task."""


class Slice(Immutable, frozen=True):
    """One group with its figure."""

    group: str
    n: int
    """How many tasks or rows it has."""
    cells: int
    """How many episodes or results are behind the figure."""
    figure: Estimate


def check_slices(names: Iterable[str]) -> None:
    """Raise UnknownName for what the slices of a run cannot be made by."""
    for name in names:
        if name not in RUN_SLICES:
            raise UnknownName("kind of slice", name, RUN_SLICES)


def slice_run(episodes: Iterable[EpisodeRecord], by: str) -> list[Slice]:
    """The slices of a run by the tags of tasks, the tools of the ground truth, or kind of failure.

    By tag and tool the figure is pass^1 of the group's tasks. By kind it is the share of episodes
    that failed in this way.
    """
    from greenroom.analysis.intervals import average_reward

    check_slices([by])
    results = (episode for episode in episodes if episode.reward is not None)
    slices: list[Slice] = []
    for group, by_task in (_by_kind(results) if by == "kind" else _grouped(results, by)).items():
        # The figure of a kind is of all episodes, those without such a failure included.
        members = [[one for one in row if one or by != "kind"] for row in by_task.values()]
        slices.append(
            Slice(
                group=group,
                n=sum(map(bool, members)),
                cells=sum(map(len, members)),
                figure=average_reward(by_task),
            )
        )
    return sorted(slices, key=lambda one: -one.cells) if by == "kind" else slices


def _by_kind(results: Iterable[EpisodeRecord]) -> Groups:
    """For each kind of failure, whether each episode failed so."""
    kinds = [(one.task_index, why.kind if (why := diagnose(one)) else None) for one in results]
    found: Groups = {kind: {} for _, kind in kinds if kind is not None}
    for kind, by_task in found.items():
        for task_index, own in kinds:
            by_task.setdefault(task_index, []).append(float(own == kind))
    return found


def _grouped(results: Iterable[EpisodeRecord], by: str) -> Groups:
    """For each tag or tool, whether each of its episodes was solved."""
    found: Groups = {}
    for episode in results:
        for group in _tags(episode) if by == "tag" else _tools(episode):
            by_task = found.setdefault(group, {})
            by_task.setdefault(episode.task_index, []).append(float(is_solved(episode)))
    return dict(sorted(found.items()))


def _tags(episode: EpisodeRecord) -> list[str]:
    return episode.task.tags or ["(no tag)"]


def _tools(episode: EpisodeRecord) -> list[str]:
    return list(dict.fromkeys(action.name for action in episode.task.actions)) or ["(no tool)"]
