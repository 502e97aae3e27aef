"""How the tasks of two task sets differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from greenroom.domains.content import TASK_FIELDS, task_content

if TYPE_CHECKING:
    from greenroom.domains.tasks import Task

ALL_FIELDS: Final = tuple(TASK_FIELDS)


@dataclass(frozen=True)
class TaskDifference:
    """A task that differs: the fields that do, with both values."""

    name: str
    """Its id, or its place in the split if it has none."""
    places: tuple[int, int]
    fields: Mapping[str, tuple[Any, Any]]
    """Empty where only the hashes tell that the tasks differ."""

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {
            "task": self.name,
            "places": list(self.places),
            "fields": {
                name: {"before": before, "after": after}
                for name, (before, after) in self.fields.items()
            },
        }


@dataclass(frozen=True)
class TasksDifference:
    """Two lists of tasks, paired by their ids, or by their places where one has no ids."""

    equal: tuple[str, ...]
    changed: tuple[TaskDifference, ...]
    removed: tuple[str, ...]
    """The tasks that only the first has."""
    added: tuple[str, ...]
    """The tasks that only the second has."""

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not (self.changed or self.removed or self.added)

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON."""
        return {
            "equal": len(self.equal),
            "changed": [one.to_json() for one in self.changed],
            "removed": list(self.removed),
            "added": list(self.added),
        }


def diff_tasks(
    before: Mapping[int, Task] | Sequence[Task],
    after: Mapping[int, Task] | Sequence[Task],
    fields: Sequence[str] = ALL_FIELDS,
    hashes: tuple[Mapping[int, str], Mapping[int, str]] = ({}, {}),
) -> TasksDifference:
    """Compare tasks field by field. A mapping gives some tasks of a split by their places.

    Where not all fields are known, hashes of both sides by place decide whether tasks are equal.
    """
    one, other = _by_place(before), _by_place(after)
    by_id = _have_ids(one.values()) and _have_ids(other.values())
    first, second = _named(one, by_id=by_id), _named(other, by_id=by_id)
    equal: list[str] = []
    changed: list[TaskDifference] = []
    for name, (place, task) in first.items():
        if name not in second:
            continue
        there, counterpart = second[name]
        hash_before, hash_after = hashes[0].get(place), hashes[1].get(there)
        is_known = hash_before is not None and hash_after is not None
        if is_known and hash_before == hash_after:
            equal.append(name)
            continue
        found = _differing(task, counterpart, fields)
        if found or is_known:
            changed.append(TaskDifference(name, (place, there), found))
        else:
            equal.append(name)
    return TasksDifference(
        equal=tuple(equal),
        changed=tuple(changed),
        removed=tuple(name for name in first if name not in second),
        added=tuple(name for name in second if name not in first),
    )


def changed_lines(before: Any, after: Any) -> list[str]:
    """The lines of a field that differ: `-` before the old ones, `+` before the new ones."""
    old, new = _lines(before), _lines(after)
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind != "equal":
            lines += [f"- {line}" for line in old[a:b]] + [f"+ {line}" for line in new[c:d]]
    return lines


def _by_place(tasks: Mapping[int, Task] | Sequence[Task]) -> Mapping[int, Task]:
    return tasks if isinstance(tasks, Mapping) else dict(enumerate(tasks))


def _have_ids(tasks: Iterable[Task]) -> bool:
    ids = [task.id for task in tasks]
    return None not in ids and len(set(ids)) == len(ids)


def _named(tasks: Mapping[int, Task], *, by_id: bool) -> dict[str, tuple[int, Task]]:
    return {str(task.id) if by_id else str(place): (place, task) for place, task in tasks.items()}


def _differing(one: Task, other: Task, fields: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    old, new = task_content(one), task_content(other)
    return {name: (old[name], new[name]) for name in fields if _text(old[name]) != _text(new[name])}


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    if isinstance(value, list):
        return [_line(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return [
            f"{name}: {line}"
            for name, item in fields.items()
            if item
            for line in (_lines(item) if isinstance(item, list) else [_line(item)])
        ]
    return [] if value is None else [_line(value)]


def _line(item: Any) -> str:
    match item:
        case str():
            return item
        case {"name": str(name), "kwargs": kwargs, **rest}:
            arguments = ", ".join(f"{key}={_text(value)}" for key, value in kwargs.items())
            party = "" if rest.get("party") == "agent" else f"{rest.get('party')}: "
            compared = rest.get("compared")
            more = "" if compared is None else f", compared: {', '.join(compared) or 'nothing'}"
            if "expected" in rest:
                more = f" is {_text(rest['expected'])}"
            return f"{party}{name}({arguments}){more}"
        case _:
            return _text(item)


def _text(value: Any) -> str:
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(value, default=_plain, option=options).decode()


def _plain(value: Any) -> Any:
    return dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else str(value)


__all__ = ["ALL_FIELDS", "TaskDifference", "TasksDifference", "changed_lines", "diff_tasks"]
