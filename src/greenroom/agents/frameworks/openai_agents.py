"""OpenAI's Agents SDK: an agent is cloned with the tools and the instructions of a conversation."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from greenroom.agents.conversation import Unreadable
from greenroom.agents.frameworks.agent import FrameworkAgent, Subject, framework_agent, label
from greenroom.agents.frameworks.offers import Offer, OfferedTool, need
from greenroom.agents.frameworks.parts import is_text, media_parts, unreadable
from greenroom.agents.tool_calls import action_of_call
from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.responses_wire import messages_of_items
from greenroom.util.json_values import as_dict, as_list, encoded
from greenroom.workflows.declare.outputs import json_value

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from agents import (
        Agent,
        FunctionTool,
        Handoff,
        RunConfig,
        RunContextWrapper,
        RunResultStreaming,
    )
    from greenroom.models import ChatMessage

Json = dict[str, Any]

_LEFT = "left to the caller"
_HIDDEN = frozenset({"handoff_call_item", "handoff_output_item", "reasoning_item"})
"""Items that are the framework's own affair."""


def from_openai_agents(
    agent: Any, /, *, context: Any = None, name: str | None = None, description: str | None = None
) -> FrameworkAgent:
    """An agent of OpenAI's Agents SDK as a chat workflow and as an agent for runs.

    In a run, the run's model takes the place of the agent's own, and the policy and the domain's
    tools are added to the agent's own; agents that it hands over to get the same. `context` is
    what its tools and instructions depend on.
    """
    module = need("agents", "openai-agents", "from_openai_agents")
    if not isinstance(agent, module.Agent):
        raise InputError(f"from_openai_agents takes an Agent of openai-agents, not {agent!r}.")
    given: Agent[Any] = agent
    return framework_agent(
        Subject(
            name=label(name, given),
            description=description or given.handoff_description or "",
            open=lambda offer: _Conversation(given, context, offer),
            takes_callers_tools=True,
        )
    )


class _Conversation:
    def __init__(self, agent: Agent[Any], context: Any, offer: Offer) -> None:
        self._offer, self._context = offer, context
        self._agent = _Equipment(offer).equipped(agent)
        self._config = _config(offer)
        self._items: list[Any] = []

    async def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        from agents.run import DEFAULT_MAX_TURNS

        from agents import Runner

        inputs = [*self._items, *_items(messages)]
        options: Json = {
            "context": self._context,
            "run_config": self._config,
            "max_turns": None if self._offer.in_run else DEFAULT_MAX_TURNS,
        }
        last: Json = {}
        if self._offer.in_run:
            result = await Runner.run(self._agent, inputs, **options)
            for message in _messages(result.new_items):
                last = message
                yield message
        else:
            result = Runner.run_streamed(self._agent, inputs, **options)
            async with aclosing(_pieces(result)) as pieces:
                async for piece in pieces:
                    last = as_dict(piece) or last
                    yield piece
        self._items = result.to_input_list()
        self._agent = result.last_agent
        usage = result.context_wrapper.usage
        self._offer.report(usage.input_tokens, usage.output_tokens)
        spoken = last.get("role") == "assistant" and not last.get("tool_calls")
        if not spoken and result.final_output != _LEFT:  # what a tool said ends the turn
            yield {"role": "assistant", "content": _as_text(result.final_output)}


async def _pieces(result: RunResultStreaming) -> AsyncGenerator[Any]:
    """Words as they come, and whole messages: of each response, and of the tools it called."""
    items: list[Any] = []
    try:
        async for event in result.stream_events():
            if event.type == "run_item_stream_event":
                items.append(event.item)
            elif event.type == "raw_response_event":
                if event.data.type == "response.created":
                    for message in _messages(items):
                        yield message
                    items.clear()
                elif event.data.type == "response.output_text.delta":
                    yield event.data.delta
    finally:
        result.cancel()
    for message in _messages(items):
        yield message


def _messages(items: Sequence[Any]) -> list[Json]:
    """Items of a run as chat messages; results of calls that are left to the caller are not."""
    plain = [json_value(one.to_input_item()) for one in items if one.type not in _HIDDEN]
    return [
        one
        for one in messages_of_items(plain)
        if one.get("role") != "tool" or one.get("content") != _LEFT
    ]


def _as_text(output: Any) -> str:
    return output if isinstance(output, str) else encoded(json_value(output)).decode()


def _config(offer: Offer) -> RunConfig:
    from agents import ModelSettings, OpenAIChatCompletionsModel, RunConfig

    config = RunConfig()
    if offer.in_run:
        config.tracing_disabled = True  # it would send traces to OpenAI, with the user's key
        config.tool_not_found_behavior = "return_error_to_model"
    if offer.model is None:
        config.model_settings = ModelSettings(include_usage=True)
    else:
        config.model = OpenAIChatCompletionsModel(offer.model.name, offer.model.client())
    return config


class _Equipment:
    """Gives agents the tools and the instructions on offer, those included they hand over to."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._tools = [_tool(tool) for tool in offer.tools]
        self._known: dict[int, Agent[Any]] = {}

    def equipped(self, agent: Agent[Any]) -> Agent[Any]:
        if (known := self._known.get(id(agent))) is not None:
            return known
        self._offer.check_names(tool.name for tool in agent.tools)
        changes: Json = {"tools": [*agent.tools, *self._tools]}
        if self._offer.instructions:
            changes["instructions"] = _instructions(agent, self._offer.instructions)
        if self._offer.left_to_caller:
            names = sorted(self._offer.left_to_caller)
            changes["tool_use_behavior"] = {"stop_at_tool_names": names}
        made = self._known[id(agent)] = agent.clone(**changes)
        self._known[id(made)] = made
        made.handoffs = [self._handoff(one) for one in agent.handoffs]
        return made

    def _handoff(self, given: Agent[Any] | Handoff[Any, Any]) -> Any:
        from agents import Handoff

        if not isinstance(given, Handoff):
            return self.equipped(given)
        handed = given

        async def hand_over(context: RunContextWrapper[Any], arguments: str) -> Agent[Any]:
            return self.equipped(await handed.on_invoke_handoff(context, arguments))

        return replace(handed, on_invoke_handoff=hand_over)


def _instructions(agent: Agent[Any], policy: str) -> Any:
    own: Any = agent.instructions
    if not callable(own):
        return f"{own}\n\n{policy}" if own else policy
    function: Callable[..., Any] = own

    async def both(context: RunContextWrapper[Any], asked: Agent[Any]) -> str:
        made = function(context, asked)
        text = await made if inspect.isawaitable(made) else made
        return f"{text}\n\n{policy}" if text else policy

    return both


def _tool(tool: OfferedTool) -> FunctionTool:
    from agents import FunctionTool

    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        if tool.step is None:
            return _LEFT
        try:
            action = action_of_call(tool.name, arguments)
        except Unreadable as problem:
            return f"Error: {problem}"
        return await tool(**action.kwargs)

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _items(messages: list[ChatMessage]) -> list[Any]:
    """Chat messages as items of the Responses API."""
    items: list[Any] = []
    for message in messages:
        text = text_of(message.get("content"))
        if message["role"] == "tool":
            call_id = message.get("tool_call_id") or ""
            items.append({"type": "function_call_output", "call_id": call_id, "output": text})
            continue
        if media := media_parts(message.get("content")):
            items.append({"role": message["role"], "content": list(map(_input_part, media))})
        elif text:
            items.append({"role": message["role"], "content": text})
        for call in map(as_dict, as_list(message.get("tool_calls"))):
            function = as_dict(call.get("function"))
            items.append(
                {
                    "type": "function_call",
                    "call_id": call["id"],
                    "name": function["name"],
                    "arguments": function["arguments"],
                }
            )
    return items


def _input_part(part: Json) -> Json:
    if is_text(part):
        return {"type": "input_text", "text": text_of([part])}
    match part:
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            return {"type": "input_image", "image_url": url, "detail": rest.get("detail", "auto")}
        case {"type": "file", "file": file}:
            return {"type": "input_file", **as_dict(file)}
        case {"type": "input_audio"}:
            return part
        case _:
            raise unreadable(part, "OpenAI's Agents SDK")
