"""Tasks that are left out by name: of a new run, or of a look at a stored one.

They are named by an audit (`greenroom tasks audit -o audit.json`), by a list in a file, or by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from greenroom.analysis.counts import CountedEpisode
from greenroom.errors import InputError
from greenroom.reports.texts import plural
from greenroom.store import EpisodeRecord, ExcludedTask, RunRecord
from greenroom.util.files import read_regular

AUDIT: Final = "greenroom.task_audit"
"""The `kind` of an audit's file."""

_LISTED: Final = 12


@dataclass(frozen=True)
class Exclusion:
    """A task that is to be left out, as it was named."""

    name: int | str
    """Its place in the split, or its id."""
    why: tuple[str, ...] = ()
    hash: str = ""
    """Of its content when it was audited."""
    source: str = ""


def read_exclusions(given: Sequence[int | str]) -> list[Exclusion]:
    """The tasks that places, ids and files name; each once."""
    found: dict[int | str, Exclusion] = {}
    for name in given:
        if isinstance(name, str) and _is_file(name):
            for one in _read_file(Path(name)):
                found.setdefault(one.name, one)
        else:
            found.setdefault(name, Exclusion(name))
    return list(found.values())


def _is_file(name: str) -> bool:
    path = Path(name)
    if path.is_file():
        return True
    if path.suffix in (".json", ".txt") or "/" in name:
        raise InputError(f"--exclude-tasks: there is no file {name}.")
    return False


def _read_file(path: Path) -> list[Exclusion]:
    try:
        text = read_regular(path).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text: {error}.") from error
    if path.suffix == ".txt":
        return [
            Exclusion(_name(word), source=path.name)
            for line in text.splitlines()
            for word in line.partition("#")[0].replace(",", " ").split()
        ]
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}.") from error
    if isinstance(value, list):
        return [_listed(item, place, path) for place, item in enumerate(cast("list[Any]", value))]
    match value:
        case {"kind": str(kind), "findings": [*findings]} if kind == AUDIT:
            return list(_audited(findings, path))
        case _:
            raise InputError(
                f"{path} is neither an audit ('greenroom tasks audit -o FILE') nor a list of tasks."
            )


def _name(word: str) -> int | str:
    return int(word) if word.isdecimal() else word


def _listed(item: Any, place: int, path: Path) -> Exclusion:
    if isinstance(item, bool) or not isinstance(item, (int, str)):
        raise InputError(f"{path}: entry {place} should be a task's place or id, not {item!r}.")
    return Exclusion(item, source=path.name)


def _audited(findings: Sequence[Any], path: Path) -> Iterator[Exclusion]:
    kinds: dict[int, list[str]] = {}
    hashes: dict[int, str] = {}
    for place, item in enumerate(findings):
        match item:
            case {"task_id": int(index), "kind": str(kind), "hash": str(mark)}:
                kinds.setdefault(index, []).append(kind)
                hashes[index] = mark
            case _:
                raise InputError(f"{path}: finding {place} needs task_id, kind and hash.")
    for index, found in kinds.items():
        yield Exclusion(index, tuple(dict.fromkeys(found)), hashes[index], path.name)


def check_hash(one: Exclusion, index: int, found: str) -> None:
    """Raise where a task is another than the one that was audited."""
    if one.hash and found and one.hash != found:
        raise InputError(
            f"{one.source} was made of other tasks: task {index} had the hash {one.hash} there, "
            f"and has {found} here. Audit these tasks: greenroom tasks audit -o {one.source}"
        )


def without_tasks(run: RunRecord, given: Sequence[int | str]) -> RunRecord:
    """A stored run as if it had been played without some tasks; the store keeps it as it is."""
    more: list[ExcludedTask] = []
    known = _hashes(run)
    for one in read_exclusions(given):
        if isinstance(one.name, str):
            raise InputError(
                f"A stored run knows its tasks by their places, and '{one.name}' is an id: exclude "
                "places, or the tasks of an audit."
            )
        check_hash(one, one.name, known.get(one.name, ""))
        more.append(excluded_task(one, one.name, None, ""))
    return narrowed(run, more)


def narrowed(run: RunRecord, excluded: Sequence[ExcludedTask]) -> RunRecord:
    """A run without the tasks of a list, beside those that it has left out itself."""
    known = _hashes(run)
    more = [
        one.model_copy(update={"hash": known.get(one.task_index, "")})
        for one in excluded
        if one.task_index in known
    ]
    if not more:
        return run
    left_out = {one.task_index for one in more}
    kept = [index for index in run.task_indices if index not in left_out]
    if not kept:
        raise InputError(f"Without the excluded tasks, nothing is left of '{run.name}'.")
    both = [*run.excluded, *more]
    changes: dict[str, Any] = {
        "task_indices": kept,
        "excluded": both,
        "config": run.config | {"exclude_tasks": sorted(one.task_index for one in both)},
    }
    if run.task_set is not None:
        hashes = [known[index] for index in kept] if run.task_set.task_hashes else []
        changes["task_set"] = run.task_set.without(both).model_copy(update={"task_hashes": hashes})
    return run.model_copy(update=changes)


def _hashes(run: RunRecord) -> dict[int, str]:
    """The hashes of a run's tasks by their places; empty texts where they are not known."""
    kept = [] if run.task_set is None else run.task_set.task_hashes
    return dict.fromkeys(run.task_indices, "") | dict(zip(run.task_indices, kept, strict=False))


def excluded_task(one: Exclusion, index: int, task_id: str | None, mark: str) -> ExcludedTask:
    """What is kept of a task that is left out."""
    return ExcludedTask(
        task_index=index, task_id=task_id, hash=mark, why=list(one.why), source=one.source
    )


def of_run(run: RunRecord, episodes: Iterator[EpisodeRecord]) -> Iterator[EpisodeRecord]:
    """The stored episodes of a run, without those of tasks that are excluded."""
    left_out = {one.task_index for one in run.excluded}
    return (one for one in episodes if one.task_index not in left_out) if left_out else episodes


def counted_of_run(run: RunRecord, counted: Iterable[CountedEpisode]) -> Iterable[CountedEpisode]:
    """What was counted of a run's episodes, without those of tasks that are excluded."""
    left_out = {one.task_index for one in run.excluded}
    kept = (one for one in counted if one.summary.task_index not in left_out)
    return kept if left_out else counted


def exclusion_words(excluded: Sequence[ExcludedTask]) -> Iterator[str]:
    """What is excluded, by what and why, in a sentence; nothing where nothing is."""
    if not excluded:
        return
    sources = " and ".join(dict.fromkeys(one.source or "by hand" for one in excluded))
    by = sources if sources == "by hand" else f"by {sources}"
    listed = [_one(task) for task in excluded[:_LISTED]]
    more = len(excluded) - len(listed)
    listed += [f"and {more} more"] if more else []
    are = "is" if len(excluded) == 1 else "are"
    yield (
        f"{plural(len(excluded), 'task')} {are} excluded {by}: {', '.join(listed)}. Figures of the "
        "full set are of other tasks."
    )


def _one(task: ExcludedTask) -> str:
    own = "" if task.task_id in (None, str(task.task_index)) else f" {task.task_id}"
    why = f" ({', '.join(task.why)})" if task.why else ""
    return f"{task.task_index}{own}{why}"


__all__ = [
    "AUDIT",
    "Exclusion",
    "check_hash",
    "counted_of_run",
    "excluded_task",
    "exclusion_words",
    "narrowed",
    "of_run",
    "read_exclusions",
    "without_tasks",
]
