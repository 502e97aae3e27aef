"""Tasks with their ground-truth actions, and the selection of tasks to play."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, TypeAdapter, ValidationError

from greenroom.errors import DataError, InputError
from greenroom.trajectories import RESPOND, STOP

if TYPE_CHECKING:
    from pathlib import Path


T = TypeVar("T")

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name with its arguments, or `respond` with a text for the user."""

    name: str
    kwargs: Annotated[Arguments, Field(validation_alias=AliasChoices("kwargs", "arguments"))] = (
        field(default_factory=dict[str, Any])
    )


def respond(content: str) -> Action:
    """The action that says `content` to the user."""
    return Action(RESPOND, {"content": content})


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(_text)]
"""A text that task files may also write as a number."""


@dataclass(frozen=True)
class Task:
    """An instruction for the user, ground-truth actions, and outputs that the agent must say."""

    instruction: str = ""
    """`tasks validate` reports a missing instruction together with every other problem."""
    actions: tuple[Action, ...] = ()
    outputs: tuple[_Text, ...] = ()
    user_id: str = ""
    annotator: _Text | None = None
    id: _Text | None = None
    """The task's id in its source, if it has one."""
    tags: tuple[_Text, ...] = ()
    """What sort of task it is; reports can show figures by tag."""
    unscored: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Criteria of the source that Greenroom does not score, by kind."""

    @cached_property
    def unscored_count(self) -> int:
        """How many criteria of the source Greenroom does not score."""
        return sum(len(criteria) for criteria in self.unscored.values())

    def to_json(self) -> dict[str, Any]:
        """The task as pack files store it."""
        record: dict[str, Any] = {
            "user_id": self.user_id,
            "instruction": self.instruction,
            "actions": [{"name": a.name, "kwargs": dict(a.kwargs)} for a in self.actions],
            "outputs": list(self.outputs),
        }
        optional = {
            "annotator": self.annotator,
            "id": self.id,
            "tags": list(self.tags),
            "unscored": {kind: list(texts) for kind, texts in self.unscored.items()},
        }
        return record | {key: value for key, value in optional.items() if value}


_tasks = TypeAdapter(tuple[Task, ...])


def parse_tasks(records: Any, source: Path | str) -> tuple[Task, ...]:
    """Parse the JSON of a task file, older spellings included."""
    return validated(_tasks, records, source)


def validated(adapter: TypeAdapter[T], value: Any, source: Path | str) -> T:
    """The content of a file as a type; raise DataError with the first problem."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise DataError(f"{source}: {place}: {first['msg']}.") from error


def select_tasks(
    count: int,
    *,
    task_ids: Sequence[int] | None = None,
    start_index: int = 0,
    end_index: int = -1,
    shuffle_seed: int | None = None,
) -> list[int]:
    """Indices of the tasks to play: the given ids, or a range; -1 as the end means all.

    >>> select_tasks(5, start_index=1, end_index=4)
    [1, 2, 3]
    >>> select_tasks(5, task_ids=[4, 0])
    [4, 0]
    """
    if task_ids:
        chosen = list(dict.fromkeys(task_ids))
        outside = [index for index in chosen if not 0 <= index < count]
        if outside:
            raise InputError(
                f"There is no task {outside[0]}: this split has the tasks 0 to {count - 1}."
            )
    else:
        end = count if end_index == -1 else end_index
        if not 0 <= start_index < end <= count:
            raise InputError(
                f"The range {start_index} to {end_index} is not within the {count} tasks of this "
                "split: use 0 <= start < end, or -1 as the end for all."
            )
        chosen = list(range(start_index, end))
    if shuffle_seed is not None:
        random.Random(shuffle_seed).shuffle(chosen)  # noqa: S311
    return chosen


__all__ = [
    "RESPOND",
    "STOP",
    "Action",
    "Arguments",
    "Task",
    "parse_tasks",
    "respond",
    "select_tasks",
]
