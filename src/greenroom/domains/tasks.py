"""Tasks with their ground-truth actions, and the selection of tasks to play."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, TypeAdapter, ValidationError

from greenroom.errors import DataError, InputError
from greenroom.trajectories import RESPOND, STOP, Basis, Party

if TYPE_CHECKING:
    from pathlib import Path


T = TypeVar("T")

Arguments = Mapping[str, Any]

REFUSAL: Final = "refusal"
"""The tag of tasks whose user asks for something that the policy forbids."""


_Kwargs = Annotated[Arguments, Field(validation_alias=AliasChoices("kwargs", "arguments"))]


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name with its arguments, or `respond` with a text for the user."""

    name: str
    kwargs: _Kwargs = field(default_factory=dict[str, Any])
    party: Party = "agent"
    id: str | None = None
    compared: tuple[str, ...] | None = None
    """The arguments that have to agree, where calls are compared; None compares those given."""
    aside: str = field(default="", compare=False)
    """What the agent wrote along with the call; the user does not see it."""
    joined: bool = field(default=False, compare=False)
    """The call stands in the same message as the one before it."""

    def to_json(self) -> dict[str, Any]:
        """The action as pack files store it."""
        optional = {
            "party": None if self.party == "agent" else self.party,
            "id": self.id,
            "compared": None if self.compared is None else list(self.compared),
        }
        return {"name": self.name, "kwargs": dict(self.kwargs)} | {
            key: value for key, value in optional.items() if value is not None
        }


@dataclass(frozen=True, slots=True)
class Assertion:
    """A function of a party that has to give the expected answer when the episode is over."""

    name: str
    kwargs: _Kwargs = field(default_factory=dict[str, Any])
    party: Party = "agent"
    expected: bool = True
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SetUpCall:
    """A function or tool of a party that is called before the conversation begins."""

    name: str
    kwargs: _Kwargs = field(default_factory=dict[str, Any])
    party: Party = "agent"


@dataclass(frozen=True)
class InitialState:
    """How a task's worlds differ from the pack's when the conversation begins."""

    agent_data: Mapping[str, Any] | None = None
    """Merged deeply into the agent's database."""
    user_data: Mapping[str, Any] | None = None
    calls: tuple[SetUpCall, ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()
    """What was said and done before, as the source writes it."""
    past_calls: tuple[Action, ...] = ()
    """The calls within `messages`."""
    past_texts: tuple[str, ...] = ()
    """What the agent said in `messages`."""


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
    assertions: tuple[Assertion, ...] = ()
    judged: tuple[str, ...] = ()
    """Sentences about the conversation that a judge decides about."""
    basis: tuple[Basis, ...] = ("database", "outputs")
    """The parts that make up the reward."""
    initial: InitialState | None = None
    user_tools: tuple[str, ...] | None = None
    """The tools that the user is told about; None stands for all of the domain's."""
    documents: tuple[str, ...] = ()
    """Documents of the knowledge base that the task needs."""
    ticket: str | None = None
    """The task for an agent that works without a user."""
    raw: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """The record in the task's source, as it was read."""

    @cached_property
    def unscored_count(self) -> int:
        """How many criteria of the source Greenroom does not score."""
        return sum(len(criteria) for criteria in self.unscored.values())

    def to_json(self) -> dict[str, Any]:
        """The task as pack files store it."""
        record: dict[str, Any] = {
            "user_id": self.user_id,
            "instruction": self.instruction,
            "actions": [action.to_json() for action in self.actions],
            "outputs": list(self.outputs),
        }
        optional = {
            "annotator": self.annotator,
            "id": self.id,
            "tags": list(self.tags),
            "unscored": {kind: list(texts) for kind, texts in self.unscored.items()},
            "assertions": [asdict(assertion) for assertion in self.assertions],
            "judged": list(self.judged),
            "initial": None if self.initial is None else asdict(self.initial),
            "documents": list(self.documents),
            "ticket": self.ticket,
        }
        if self.user_tools is not None:
            record["user_tools"] = list(self.user_tools)
        # Of a task without criteria nothing counts, which is not the default.
        if self.basis != ("database", "outputs"):
            record["basis"] = list(self.basis)
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


def task_name(index: int, task: Task) -> str:
    """A task for people: its place in the split, and its own id where it says more.

    >>> task_name(4, Task(id="task_012"))
    '4 (task_012)'
    """
    return str(index) if task.id in (None, str(index)) else f"{index} ({task.id})"


def task_places(tasks: Sequence[Task], names: Sequence[int | str]) -> list[int]:
    """The places of tasks in their split. A number is a place, a text is an id, or `id:` and one.

    >>> task_places([Task(id="7"), Task(id="b")], [0, "b", "id:7"])
    [0, 1, 0]
    """
    places = {task.id: index for index, task in enumerate(tasks)}
    found: list[int] = []
    for name in names:
        wanted = name.removeprefix("id:") if isinstance(name, str) else name
        if isinstance(wanted, str) and wanted not in places:
            known = [task.id for task in tasks if task.id is not None]
            close = get_close_matches(wanted, known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise InputError(
                f"This split has no task with the id '{wanted}'.{hint} "
                + ("'greenroom tasks list' shows its ids." if known else "Give places, from 0.")
            )
        found.append(places[wanted] if isinstance(wanted, str) else wanted)
    return found


def task_known(tasks: Sequence[Task], name: int | str) -> bool:
    """Whether a split has a task at this place, or with this id.

    >>> [task_known([Task(id="b")], name) for name in (0, 1, "b", "id:b", "0")]
    [True, False, True, True, False]
    """
    if isinstance(name, int):
        return 0 <= name < len(tasks)
    wanted = name.removeprefix("id:")
    return any(task.id == wanted for task in tasks)


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
    "REFUSAL",
    "RESPOND",
    "STOP",
    "Action",
    "Arguments",
    "Assertion",
    "Basis",
    "InitialState",
    "Party",
    "SetUpCall",
    "Task",
    "parse_tasks",
    "respond",
    "select_tasks",
    "task_known",
    "task_name",
    "task_places",
]
