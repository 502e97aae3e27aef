"""Slices of a result: the same figure for each group of tasks or rows.

Groups may overlap, since a task can have several tags and tools. Each slice tells how many tasks or
rows are behind its figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import Estimate, Immutable
from greenroom.analysis.tally import EpisodeLike, is_solved
from greenroom.errors import UnknownName
from greenroom.store.outcomes import FailureKind
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


@dataclass(frozen=True, slots=True)
class SlicedEpisode:
    """What the slices of a run are made from: small enough to be kept for every episode."""

    task_index: int
    solved: bool
    kind: FailureKind | None
    """How it failed, if it did."""
    tags: tuple[str, ...]
    tools: tuple[str, ...]
    """Of the ground truth."""

    @classmethod
    def of(
        cls,
        episode: EpisodeLike,
        kind: FailureKind | None,
        tags: Sequence[str],
        tools: Sequence[str],
    ) -> SlicedEpisode:
        """An episode with a result, how it failed, and its task's tags and tools."""
        return cls(
            task_index=episode.task_index,
            solved=is_solved(episode),
            kind=kind,
            tags=_shared(tuple(tags) or ("(no tag)",)),
            tools=_shared(tuple(tools) or ("(no tool)",)),
        )


@lru_cache(maxsize=4096)
def _shared(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Episodes of a task share their texts."""
    return texts


def wanted_tools(episode: EpisodeRecord) -> list[str]:
    """The tools of the ground truth, each once."""
    return list(dict.fromkeys(action.name for action in episode.task.actions))


def slice_run(episodes: Iterable[EpisodeRecord], by: str) -> list[Slice]:
    """The slices of a run by the tags of tasks, the tools of the ground truth, or kind of failure.

    By tag and tool the figure is pass^1 of the group's tasks. By kind it is the share of episodes
    that failed in this way.
    """
    sliced: list[SlicedEpisode] = []
    for one in episodes:
        if one.reward is not None:
            why = diagnose(one)
            kind = None if why is None else why.kind
            sliced.append(SlicedEpisode.of(one, kind, one.task.tags, wanted_tools(one)))
    return slices_of(sliced, by)


def slices_of(episodes: Sequence[SlicedEpisode], by: str) -> list[Slice]:
    """The same from what was kept of the episodes with a result."""
    from greenroom.analysis.intervals import average_reward

    check_slices([by])
    slices: list[Slice] = []
    for group, by_task in (_by_kind(episodes) if by == "kind" else _grouped(episodes, by)).items():
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


def _by_kind(episodes: Sequence[SlicedEpisode]) -> Groups:
    """For each kind of failure, whether each episode failed so."""
    found: Groups = {one.kind: {} for one in episodes if one.kind is not None}
    for kind, by_task in found.items():
        for one in episodes:
            by_task.setdefault(one.task_index, []).append(float(one.kind == kind))
    return found


def _grouped(episodes: Iterable[SlicedEpisode], by: str) -> Groups:
    """For each tag or tool, whether each of its episodes was solved."""
    found: Groups = {}
    for one in episodes:
        for group in one.tags if by == "tag" else one.tools:
            found.setdefault(group, {}).setdefault(one.task_index, []).append(float(one.solved))
    return dict(sorted(found.items()))
