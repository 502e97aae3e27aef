"""The tool-calling agent: the model calls tools natively, and its text goes to the user.

Parallel calls are all made, in order. Tau Bench makes the first one and silently drops the others;
the option `tau_compatible` does the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from greenroom.agents.conversation import (
    ModelAgent,
    ModelAgentSettings,
    Unreadable,
)
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.agents.tool_calls import NOT_MADE, CallTidier, action_of_call
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.models.json_answers import objects_in
from greenroom.util.characters import writable

if TYPE_CHECKING:
    from greenroom.models import ChatMessage, Completion, ModelRequest


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


class ToolCallingAgent(ModelAgent):
    """Makes the model's calls and says its text."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        self._first_call_only = context.settings.tau_compatible
        self._execute_text_calls = context.settings.execute_text_calls
        self._tidy = CallTidier()

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
        calls = self._tidy(wanted[: 1 if self._first_call_only else None])
        self._record_reply(completion, calls)
        stepped = False
        aside = writable(completion.text)
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            if stage.over:
                answer = NOT_MADE
            else:
                try:
                    action = action_of_call(name, arguments)
                except Unreadable as problem:
                    answer = f"Error: {problem}"
                else:
                    # What is written along with several calls counts once.
                    action = replace(action, aside="" if stepped else aside, joined=stepped)
                    answer = await stage.step(action)
                    stepped = True
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "name": name, "content": answer}
            )
        return stepped


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


def write_reply(action: Action) -> ChatMessage:
    """The reply that makes a tool-calling agent take an action."""
    content = action.kwargs.get("content")
    spoken = isinstance(content, str) and bool(content.strip()) and len(action.kwargs) == 1
    if action.name == RESPOND and spoken:
        return {"role": "assistant", "content": content}
    function = {"name": action.name, "arguments": json.dumps(dict(action.kwargs))}
    call = {"type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


strategy = AgentStrategy(
    "tool-calling",
    ToolCallingAgent,
    "a language model that calls tools natively",
    settings=ToolCallingSettings,
    needs_model=True,
    write_reply=write_reply,
)
