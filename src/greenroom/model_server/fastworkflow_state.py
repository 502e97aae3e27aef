"""What FastWorkflow's agent has done in a task, read from the form of its request.

The agent's trajectory and the summaries of earlier turns say what is done. The script writes those
summaries itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import orjson

from greenroom.domains.tasks import RESPOND, Action
from greenroom.model_server.dspy_forms import Form, json_object, plain_text
from greenroom.model_server.fastworkflow_commands import exact_command, is_loose, loose_command
from greenroom.model_server.planned_actions import action_key
from greenroom.util.json_values import as_dict, as_list

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
"""How FastWorkflow says that it did not carry out a command in words."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the agent used, and its observation."""

    tool: str
    arguments: Mapping[str, Any]
    observation: str = ""

    @property
    def command(self) -> str:
        """The command, if it was one."""
        return str(self.arguments.get("command", "")) if self.tool == EXECUTE else ""


@dataclass(frozen=True)
class AgentState:
    """An agent's planned actions, and what it did so far."""

    actions: tuple[Action, ...]
    uses: tuple[ToolUse, ...]
    history: str = ""
    """What the agent is told of earlier turns."""
    commands: str = ""
    """The list of commands that the agent has, if it was given one."""
    by_command: bool = True
    """Tools are reached through FastWorkflow's commands, not by their own names."""

    @cached_property
    def left(self) -> tuple[Action, ...]:
        """The actions that are still to do, in order."""
        left = [action for action in self.actions if self.can_do(action)]
        for turn in self.earlier_turns:
            _drop_first(left, [_was_said(action, turn) for action in left])
        for command in self._commands_given:
            _drop_first(left, [command in _wordings(action) for action in left])
        for use in self.uses:
            used = action_key(use.tool, use.arguments)
            _drop_first(left, [action_key(action.name, action.kwargs) == used for action in left])
        return tuple(left)

    @property
    def next(self) -> Action | None:
        """The next tool call; None if the agent speaks next or is done."""
        return self.left[0] if self.left and not _speaks(self.left[0]) else None

    @property
    def words(self) -> str | None:
        """What the agent says next: the planned text, or the last one again."""
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
        """Whether the agent asked the user a question before its answer."""
        return _ASKED in self.history or any(use.tool == ASK for use in self.uses)

    def can_do(self, action: Action) -> bool:
        """Whether the agent has a command for an action; some workflows have none for `think`."""
        if _speaks(action) or not self.by_command:
            return True
        if not self.commands:
            return action.name != "think"
        listed = rf"^- (?:\w+/)?{re.escape(action.name)}\b"
        return re.search(listed, self.commands, re.MULTILINE) is not None

    def has_given(self, command: str) -> bool:
        """Whether a command was given, with any result."""
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


def read_state(form: Form, given: Mapping[str, str], actions: tuple[Action, ...]) -> AgentState:
    """The state that a form describes."""
    told = ("user_query", "user_response", "previous_turn_summaries")
    tools = form.wanted.get("next_tool_name")
    return AgentState(
        actions=actions,
        uses=tuple(_uses(given)),
        history="\n".join(given[name] for name in told if name in given),
        commands=form.before,
        by_command=tools is None or f"'{EXECUTE}'" in tools.type,
    )


def all_given(form: Form) -> dict[str, str]:
    """The given fields of a form, with the agent's fields that one of them packs as JSON."""
    given = dict(form.given)
    for packed in ("agent_inputs", "agent_trajectory"):
        for name, value in json_object(given.get(packed, "")).items():
            given.setdefault(name, plain_text(value))
    return given


def summary_of(said: str, records: str, answer: str) -> str:
    """The summary of a turn, in a form that `AgentState` reads back."""
    lines = [_SAID + said]
    for record in _records(records):
        command, question = record.get("command"), record.get("agent_query")
        if isinstance(command, str) and _was_understood(command, str(record.get("response"))):
            lines.append(_GIVEN + command)
        if isinstance(question, str):
            lines.append(_ASKED + question)
    return "\n".join([*lines, _ANSWERED + answer])


def _was_understood(command: str, observation: str) -> bool:
    """Whether a command counts as given; one by its exact name does, even if it was refused."""
    return not is_loose(command) or not _NOT_UNDERSTOOD.search(observation)


def _wordings(action: Action) -> tuple[str, str]:
    return exact_command(action), loose_command(action)


def _was_said(action: Action, turn: str) -> bool:
    """Whether the text was said in a turn; a summary without actions leaves it out."""
    if not _speaks(action):
        return False
    return _ANSWERED not in turn or f"{_ANSWERED}{action.kwargs['content']}" in turn


def _speaks(action: Action) -> bool:
    return action.name == RESPOND


def _uses(given: Mapping[str, str]) -> Iterator[ToolUse]:
    for name, tool in given.items():
        number = name.removeprefix("tool_name_")
        if number != name:
            arguments = json_object(given.get(f"tool_args_{number}", ""))
            yield ToolUse(tool, arguments, given.get(f"observation_{number}", ""))


def _records(text: str) -> Iterator[dict[str, Any]]:
    try:
        records = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    yield from map(as_dict, as_list(records))


def _drop_first(actions: list[Action], are_meant: Iterable[bool]) -> None:
    place = next((place for place, is_meant in enumerate(are_meant) if is_meant), None)
    if place is not None:
        del actions[place]
