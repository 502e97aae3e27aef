"""The tool-calling agent: the model calls tools natively, and its text goes to the user.

Parallel calls are all made, in order. Tau Bench makes the first one and silently drops the others;
the option `tau_compatible` does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from pydantic import Field

from greenroom.agents.conversation import (
    ModelAgent,
    ModelAgentSettings,
    Unreadable,
    extras_of,
    read_object,
)
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.domains.tasks import Action, respond
from greenroom.models.json_answers import objects_in
from greenroom.util.characters import writable
from greenroom.util.json_values import as_dict

if TYPE_CHECKING:
    from greenroom.models import Completion, ModelRequest


class ToolCallingSettings(ModelAgentSettings):
    """The settings of the tool-calling agent."""

    tau_compatible: bool = Field(
        default=False,
        description="Of several tool calls at once, make only the first, as Tau Bench does.",
    )
    execute_text_calls: bool = Field(
        default=False,
        description="Make calls that the model writes as JSON text, as if it had called the tool.",
    )


NAMELESS = "unnamed"
"""Recorded as the name of a call without one, because providers refuse empty names."""

_NOT_MADE = "This call was not made: the conversation was already over."


class ToolCallingAgent(ModelAgent):
    """Makes the model's calls and says its text."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        self._first_call_only = context.settings.tau_compatible
        self._execute_text_calls = context.settings.execute_text_calls
        self._call_ids: set[str] = set()

    def _system(self, stage: Stage) -> str:
        return stage.policy

    def _request(self, stage: Stage) -> ModelRequest:
        return self._question(tools=stage.tool_infos)

    async def _follow(self, stage: Stage, completion: Completion) -> bool:
        wanted = completion.tool_calls
        if not wanted and self._execute_text_calls:
            wanted = _written_calls(completion.text, stage)
        if wanted:
            return await self._make_calls(stage, completion, wanted)
        words = writable(completion.text)
        if not words.strip():
            # Do not record the reply: providers refuse conversations with empty messages.
            return self._object_to("it was empty. Call a tool, or write what the user should read.")
        self._record_reply(completion)
        self._record_answer(await stage.step(respond(words)))
        return True

    async def _make_calls(self, stage: Stage, completion: Completion, wanted: list[Any]) -> bool:
        calls = [self._tidy(call) for call in wanted[: 1 if self._first_call_only else None]]
        self._record_reply(completion, calls)
        stepped = False
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            if stage.over:
                answer = _NOT_MADE
            else:
                try:
                    action = _action(name, arguments)
                except Unreadable as problem:
                    answer = f"Error: {problem}"
                else:
                    answer = await stage.step(action)
                    stepped = True
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "name": name, "content": answer}
            )
        return stepped

    def _tidy(self, call: Any) -> dict[str, Any]:
        # Simple servers leave out ids, give all calls the same id, or send the arguments as an
        # object. Record calls in a form that any provider accepts.
        call = as_dict(call)
        function = as_dict(call.get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        tidy: dict[str, Any] = {
            "name": writable(name) if isinstance(name, str) and name else NAMELESS,
            "arguments": writable(_arguments_text(arguments)),
        }
        return {
            "id": self._new_id(call.get("id")),
            "type": "function",
            "function": tidy | extras_of(function, {"name", "arguments"}),
            **extras_of(call, {"id", "type", "function"}),
        }

    def _new_id(self, given: Any) -> str:
        call_id = writable(given) if isinstance(given, str) else ""
        number = len(self._call_ids)
        while not call_id or call_id in self._call_ids:
            number += 1
            call_id = f"call_{number}"
        self._call_ids.add(call_id)
        return call_id


def _written_calls(text: str, stage: Stage) -> list[dict[str, Any]]:
    """The calls of known tools that a text holds as JSON objects."""
    known = {info["function"]["name"] for info in stage.tool_infos}
    return [
        {
            "function": {
                "name": one["name"],
                "arguments": one.get("arguments", one.get("parameters")),
            }
        }
        for one in objects_in(text)
        if isinstance(one.get("name"), str) and one["name"] in known
    ]


def _action(name: str, arguments: str) -> Action:
    if name == NAMELESS:
        raise Unreadable("the call names no tool.")
    try:
        # Some models write nothing instead of an empty object for a tool without arguments.
        return Action(name, read_object(arguments.strip() or "{}"))
    except Unreadable as problem:
        raise Unreadable(f"the arguments are not a JSON object: {problem}") from None


def _arguments_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:
        # It cannot be JSON; the model is told so.
        return str(arguments)


strategy = AgentStrategy(
    "tool-calling",
    ToolCallingAgent,
    "a language model that calls tools natively",
    settings=ToolCallingSettings,
    needs_model=True,
)
