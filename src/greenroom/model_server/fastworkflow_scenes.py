"""How far FastWorkflow's agent has got with a task, told from the form it is asked with.

What was done stands in the agent's trajectory and in the summaries of earlier turns, which the
script writes itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import orjson

from greenroom.domains.actions import RESPOND, Action
from greenroom.model_server.commands import exact_command, is_loose, loose_command
from greenroom.model_server.dspy_forms import Form, json_object
from greenroom.model_server.plans import deed

EXECUTE: Final = "execute_workflow_query"
ASK: Final = "ask_user"

_SAID = "The user said: "
_GIVEN = "Command given: "
_ASKED = "The agent asked: "
_ANSWERED = "The agent answered: "
_EARLIER_TURN = re.compile(r"^conversation summary: ", re.MULTILINE)
_NOT_UNDERSTOOD = re.compile(
    "PARAMETER EXTRACTION ERROR|Intent clarification needs the user|Ambiguous intent error"
    "|couldn't determine which available command|Terminate immediately!"
)
"""How FastWorkflow says that it did not carry out what it was asked in words."""


@dataclass(frozen=True, slots=True)
class Use:
    """A tool that the agent used, and what came of it."""

    tool: str
    arguments: Mapping[str, Any]
    observation: str = ""

    @property
    def command(self) -> str:
        """The command, if it was one."""
        return str(self.arguments.get("command", "")) if self.tool == EXECUTE else ""


@dataclass(frozen=True)
class Scene:
    """An agent's plan, and what has become of it so far."""

    actions: tuple[Action, ...]
    uses: tuple[Use, ...]
    history: str = ""
    """What the agent is told of earlier turns."""
    commands: str = ""
    """The list of commands that the agent has, if it was given one."""
    by_command: bool = True
    """Tools are reached through FastWorkflow's commands, not by their own names."""

    @cached_property
    def left(self) -> tuple[Action, ...]:
        """What is still to be done, in order."""
        left = [action for action in self.actions if self.can_do(action)]
        for turn in self.earlier_turns:
            _drop_first(left, [_was_said(action, turn) for action in left])
        for command in self._commands_given:
            _drop_first(left, [command in _wordings(action) for action in left])
        for use in self.uses:
            used = deed(use.tool, use.arguments)
            _drop_first(left, [deed(action.name, action.kwargs) == used for action in left])
        return tuple(left)

    @property
    def next(self) -> Action | None:
        """What is to be done now; None if that is to say something, or nothing is left."""
        return self.left[0] if self.left and not _speaks(self.left[0]) else None

    @property
    def words(self) -> str | None:
        """What is to be said now: the next thing planned, or the last once again."""
        if self.next:
            return None
        planned = [*self.left[:1], *filter(_speaks, reversed(self.actions))]
        return str(planned[0].kwargs["content"]) if planned else None

    @property
    def earlier_turns(self) -> list[str]:
        """What is told of the turns that ended with an answer."""
        return _EARLIER_TURN.split(self.history)[1:]

    @property
    def has_asked(self) -> bool:
        """Whether the agent has asked the user something before it answered."""
        return _ASKED in self.history or any(use.tool == ASK for use in self.uses)

    def can_do(self, action: Action) -> bool:
        """Whether the agent has a command for an action: not every workflow has one to think."""
        if _speaks(action) or not self.by_command:
            return True
        if not self.commands:
            return action.name != "think"
        listed = rf"^- (?:\w+/)?{re.escape(action.name)}\b"
        return re.search(listed, self.commands, re.MULTILINE) is not None

    def has_given(self, command: str) -> bool:
        """Whether a command was ever given, whatever came of it."""
        return command in self._told or any(use.command == command for use in self.uses)

    @property
    def _told(self) -> list[str]:
        lines = self.history.splitlines()
        return [line.removeprefix(_GIVEN) for line in lines if line.startswith(_GIVEN)]

    @property
    def _commands_given(self) -> Iterator[str]:
        yield from self._told
        for use in self.uses:
            if use.command and _was_understood(use.command, use.observation):
                yield use.command


def read_scene(form: Form, given: Mapping[str, str], actions: tuple[Action, ...]) -> Scene:
    """The scene that a form describes."""
    told = ("user_query", "user_response", "previous_turn_summaries")
    tools = form.wanted.get("next_tool_name")
    return Scene(
        actions=actions,
        uses=tuple(_uses(given)),
        history="\n".join(given[name] for name in told if name in given),
        commands=form.before,
        by_command=tools is None or f"'{EXECUTE}'" in tools.type,
    )


def all_given(form: Form) -> dict[str, str]:
    """What a form gives, with the fields of the agent's that are packed into one of its own."""
    given = dict(form.given)
    for packed in ("agent_inputs", "agent_trajectory"):
        for name, value in json_object(given.get(packed, "")).items():
            given.setdefault(name, value if isinstance(value, str) else _json(value))
    return given


def summary_of(said: str, records: str, answer: str) -> str:
    """A turn in words, from which `Scene` can tell what was done in it."""
    lines = [_SAID + said]
    for record in _records(records):
        command, question = record.get("command"), record.get("agent_query")
        if isinstance(command, str) and _was_understood(command, str(record.get("response"))):
            lines.append(_GIVEN + command)
        if isinstance(question, str):
            lines.append(_ASKED + question)
    return "\n".join([*lines, _ANSWERED + answer])


def _was_understood(command: str, observation: str) -> bool:
    """Whether a command counts as given; one by its exact name does, even if it was turned down."""
    return not is_loose(command) or not _NOT_UNDERSTOOD.search(observation)


def _wordings(action: Action) -> tuple[str, str]:
    return exact_command(action), loose_command(action)


def _was_said(action: Action, turn: str) -> bool:
    """Whether words were said in a turn; one in which nothing was done is told without them."""
    if not _speaks(action):
        return False
    return _ANSWERED not in turn or f"{_ANSWERED}{action.kwargs['content']}" in turn


def _speaks(action: Action) -> bool:
    return action.name == RESPOND


def _uses(given: Mapping[str, str]) -> Iterator[Use]:
    for name, tool in given.items():
        number = name.removeprefix("tool_name_")
        if number != name:
            arguments = json_object(given.get(f"tool_args_{number}", ""))
            yield Use(tool, arguments, given.get(f"observation_{number}", ""))


def _records(text: str) -> Iterator[dict[str, Any]]:
    try:
        records: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    for record in cast("list[Any]", records) if isinstance(records, list) else []:
        if isinstance(record, dict):
            yield cast("dict[str, Any]", record)


def _drop_first(actions: list[Action], are_meant: Iterable[bool]) -> None:
    place = next((place for place, is_meant in enumerate(are_meant) if is_meant), None)
    if place is not None:
        del actions[place]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
