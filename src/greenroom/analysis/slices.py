"""Slices of a result: the same figure for each group of tasks or rows.

Groups may overlap, since a task can have several tags and tools. Each slice tells how many tasks or
rows are behind its figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import Estimate, Figures
from greenroom.analysis.tally import is_solved
from greenroom.errors import UnknownName
from greenroom.store.records import EpisodeRecord

RUN_SLICES = ("tag", "kind", "tool")
"""What the slices of a run can be made by."""


class Slice(Figures):
    """One group with its figure."""

    group: str
    n: int
    """How many tasks or rows it has."""
    cells: int
    """How many episodes or results are behind the figure."""
    figure: Estimate


def slice_run(episodes: Iterable[EpisodeRecord], by: str) -> list[Slice]:
    """The slices of a run by the tags of tasks, the tools of the ground truth, or kind of failure.

    By tag and tool the figure is pass^1 of the group's tasks. By kind it is the share of episodes
    that failed in this way.
    """
    from greenroom.analysis.intervals import average_reward

    results = [episode for episode in episodes if episode.reward is not None]
    if by == "kind":
        return _by_kind(results)
    if by not in RUN_SLICES:
        raise UnknownName("kind of slice", by, RUN_SLICES)
    groups_of = _tags if by == "tag" else _tools
    return [
        Slice(
            group=group,
            n=len(by_task),
            cells=sum(map(len, by_task.values())),
            figure=average_reward(by_task),
        )
        for group, by_task in _grouped(results, groups_of).items()
    ]


def _by_kind(results: Sequence[EpisodeRecord]) -> list[Slice]:
    from greenroom.analysis.intervals import average_reward

    kinds = [(episode, diagnose(episode)) for episode in results]
    found = dict.fromkeys(diagnosis.kind for _, diagnosis in kinds if diagnosis is not None)
    slices: list[Slice] = []
    for kind in found:
        by_task: dict[int, list[float]] = {}
        for episode, diagnosis in kinds:
            share = float(diagnosis is not None and diagnosis.kind == kind)
            by_task.setdefault(episode.task_index, []).append(share)
        slices.append(
            Slice(
                group=kind,
                n=sum(1 for shares in by_task.values() if any(shares)),
                cells=sum(int(sum(shares)) for shares in by_task.values()),
                figure=average_reward(by_task),
            )
        )
    return sorted(slices, key=lambda one: -one.cells)


def _grouped(
    results: Iterable[EpisodeRecord], groups_of: Callable[[EpisodeRecord], Iterable[str]]
) -> Mapping[str, dict[int, list[float]]]:
    found: dict[str, dict[int, list[float]]] = {}
    for episode in results:
        solved = float(is_solved(episode))
        for group in groups_of(episode):
            found.setdefault(group, {}).setdefault(episode.task_index, []).append(solved)
    return dict(sorted(found.items()))


def _tags(episode: EpisodeRecord) -> list[str]:
    return episode.task.tags or ["(no tag)"]


def _tools(episode: EpisodeRecord) -> list[str]:
    return list(dict.fromkeys(action.name for action in episode.task.actions)) or ["(no tool)"]
