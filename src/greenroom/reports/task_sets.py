"""Runs of different task sets: how the sets differ, and the tasks that are equal in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from greenroom.analysis.counts import CountedEpisode
from greenroom.errors import InputError
from greenroom.reports.texts import plural
from greenroom.store import RunRecord, TaskSetRecord
from greenroom.util.json_values import as_dict

_PARTS = ("database", "policy", "tools", "documents")


def place_of(run: RunRecord) -> str:
    """What a run was played on, in words."""
    digest = f" (hash {run.task_set.hash[:12]})" if run.task_set is not None else ""
    without = f" without {plural(len(run.excluded), 'task')}" if run.excluded else ""
    name = f"{run.pack.get('name')} {run.pack.get('version')}"
    return f"{run.env} {run.task_split} of {name}{without}{digest}"


class DifferentTasks(InputError):
    """Runs of different task sets; `told` says how the tasks that are equal can be compared."""

    def __init__(self, differences: str, equal: int) -> None:
        self.differences = differences
        self.equal = equal
        super().__init__(self.told("--equal-tasks"))

    def told(self, option: str) -> str:
        """The whole text, with the name that the option has where it is read."""
        if not self.equal:
            return f"{self.differences} No task is equal in both."
        are, those = ("is", "it") if self.equal == 1 else ("are", "those")
        found = f"{plural(self.equal, 'task')} {are} equal in both"
        return f"{self.differences} {found}: compare {those} with {option}."


def check_same_tasks(runs: Sequence[RunRecord]) -> None:
    """Refuse runs of different task sets, and say how they differ and what can be compared."""
    first = runs[0]
    for run in runs[1:]:
        differences = how_they_differ(first, run)
        if not differences:
            continue
        where = f"'{first.name}' was played on {place_of(first)}, '{run.name}' on {place_of(run)}"
        if first.task_set is None or run.task_set is None:
            raise InputError(f"{where}: their tasks cannot be paired.")
        told = f"{where}. Different: {', '.join(differences)}."
        raise DifferentTasks(told, len(equal_tasks(first, run)))


def how_they_differ(one: RunRecord, other: RunRecord) -> list[str]:
    """What differs between the task sets of two runs, in words; nothing for the same set."""
    if one.task_set is None or other.task_set is None:
        # Without hashes, only what the packs say of themselves is known.
        same = _named(one) == _named(other)
        return [*([] if same else ["the packs"]), *_differing_options(one, other)]
    differences: list[str] = []
    if one.env != other.env:
        differences.append("the domain")
    if one.task_set.tasks != other.task_set.tasks:
        equal = len(equal_tasks(one, other))
        larger = max(one, other, key=lambda run: len(run.task_indices) - equal)
        unpaired, count = len(larger.task_indices) - equal, len(larger.task_indices)
        differences.append(f"{unpaired} of {plural(count, 'task')}")
    differences += [f"the {part}" for part in _differing_parts(one.task_set, other.task_set)]
    return differences + _differing_options(one, other)


def equal_tasks(one: RunRecord, other: RunRecord) -> dict[int, int]:
    """The tasks that are equal in both: the index in the second run, and that in the first."""
    if one.env != other.env or one.task_set is None or other.task_set is None:
        return {}
    places: dict[str, list[int]] = {}
    for index, mark in zip(one.task_indices, one.task_set.task_hashes, strict=False):
        places.setdefault(mark, []).append(index)
    pairs: dict[int, int] = {}
    for index, mark in zip(other.task_indices, other.task_set.task_hashes, strict=False):
        there = places.get(mark)
        if there:
            # Two equal tasks of a set keep their places where they can.
            own = index if index in there else there[0]
            there.remove(own)
            pairs[index] = own
    return pairs


@dataclass(frozen=True)
class EqualTasks:
    """Runs reduced to the tasks that are equal in all of them, numbered as in the first."""

    runs: Sequence[RunRecord]
    places: Sequence[Mapping[int, int]]
    notes: Sequence[str]

    @property
    def count(self) -> int:
        """How many tasks are equal."""
        return len(self.places[0])

    def episodes(
        self, run: RunRecord, counted: Iterable[CountedEpisode]
    ) -> Iterator[CountedEpisode]:
        """The episodes of a run's equal tasks, from all of its episodes."""
        places = self.places[[one.id for one in self.runs].index(run.id)]
        for episode in counted:
            index = places.get(episode.summary.task_index)
            if index is not None:
                yield replace(episode, summary=replace(episode.summary, task_index=index))


def only_equal_tasks(runs: Sequence[RunRecord]) -> EqualTasks:
    """Reduce runs to their equal tasks; raises InputError if there are none."""
    first, rest = runs[0], runs[1:]
    pairs = [equal_tasks(first, run) for run in rest]
    common = set(first.task_indices).intersection(*(set(one.values()) for one in pairs))
    if not common:
        raise InputError(
            f"No task is equal in {' and '.join(run.name for run in runs)}: there is nothing to "
            "compare."
        )
    kept = [index for index in first.task_indices if index in common]
    places = [
        {index: index for index in kept},
        *({own: there for own, there in one.items() if there in common} for one in pairs),
    ]
    notes = [
        f"Task sets differ: {first.name} was played on {place_of(first)}, {run.name} on "
        f"{place_of(run)}. Different: {', '.join(differences)}. Only the "
        f"{plural(len(kept), 'equal task')} of {len(first.task_indices)} and "
        f"{len(run.task_indices)} count here."
        for run in rest
        if (differences := how_they_differ(first, run))
    ]
    reduced = [run.model_copy(update={"task_indices": kept}) for run in runs]
    return EqualTasks(reduced, places, notes)


def _named(run: RunRecord) -> tuple[object, ...]:
    return run.env, run.task_split, run.pack.get("name"), run.pack.get("version")


def _differing_parts(one: TaskSetRecord, other: TaskSetRecord) -> list[str]:
    return [part for part in _PARTS if getattr(one, part) != getattr(other, part)]


def _differing_options(one: RunRecord, other: RunRecord) -> list[str]:
    """The domain's options that differ: a search of one's own changes no hash of the data."""
    first, second = (as_dict(run.config.get("env_options")) for run in (one, other))
    return [
        f"the option {name} ({first.get(name, 'its default')} and "
        f"{second.get(name, 'its default')})"
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    ]


__all__ = [
    "DifferentTasks",
    "EqualTasks",
    "check_same_tasks",
    "equal_tasks",
    "how_they_differ",
    "only_equal_tasks",
    "place_of",
]
