"""pydantic-ai: an agent gets model, tools and instructions for each of its runs."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from pydantic_core import SchemaValidator, core_schema

from greenroom.agents.frameworks.agent import FrameworkAgent, Subject, framework_agent, label
from greenroom.agents.frameworks.offers import Offer, OfferedTool, need
from greenroom.agents.frameworks.parts import is_text, media_parts, unreadable
from greenroom.errors import InputError
from greenroom.messages import Message, text_of
from greenroom.util.json_values import encoded
from greenroom.workflows.declare.outputs import json_value

if TYPE_CHECKING:
    from pydantic_ai import AbstractToolset, Agent, ModelMessage, ModelResponse, Tool
    from pydantic_ai.messages import UserContent
    from pydantic_ai.models import Model

    from greenroom.models import ChatMessage

Json = dict[str, Any]

_PACKAGES = "'pydantic-ai-slim[openai]'"
_RETRIES = 5
"""How often a model may correct a call in a run, as other agents of runs may."""


def from_pydantic_ai(
    agent: Any, /, *, deps: Any = None, name: str | None = None, description: str | None = None
) -> FrameworkAgent:
    """A pydantic-ai agent as a chat workflow and as an agent for runs.

    In a run, the run's model takes the place of the agent's own, and the policy and the domain's
    tools are added to the agent's own. `deps` are what its tools and instructions depend on.
    """
    module = need("pydantic_ai.agent", _PACKAGES, "from_pydantic_ai")
    if not isinstance(agent, module.AbstractAgent):
        raise InputError(f"from_pydantic_ai takes an Agent of pydantic-ai, not {agent!r}.")
    return framework_agent(
        Subject(
            name=label(name, agent),
            description=description or "",
            open=lambda offer: _Conversation(agent, deps, offer),
            takes_callers_tools=True,
            has_model=getattr(agent, "model", None) is not None,
        )
    )


class _Conversation:
    def __init__(self, agent: Agent[Any, Any], deps: Any, offer: Offer) -> None:
        self._agent, self._offer = agent, offer
        if offer.model is None and getattr(agent, "model", None) is None:
            raise InputError(
                "The agent has no model of its own: give it one, for calls outside of a run."
            )
        self._history: list[ModelMessage] = []
        self._options: Json = {"deps": deps, "toolsets": _toolsets(offer)}
        if offer.instructions:
            # As a function it comes behind all of the agent's own, those of its functions included.
            self._options["instructions"] = lambda: offer.instructions
        if offer.model is not None:
            self._options["model"] = _model(offer)
        if offer.in_run:
            from pydantic_ai import UsageLimits

            self._options |= {
                "usage_limits": UsageLimits(request_limit=None),
                "retries": {"tools": _RETRIES},
            }
        if offer.left_to_caller:
            from pydantic_ai import DeferredToolRequests

            self._options["output_type"] = [agent.output_type, DeferredToolRequests]

    async def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        from pydantic_ai import Agent as AgentType
        from pydantic_ai import DeferredToolRequests, RetryPromptPart, ToolReturnPart

        heard = [Message.model_validate(one) for one in messages]
        prompt = _user_content(heard.pop()) if heard[-1].role == "user" else None
        history = [*self._history, *_history(heard)]
        answered = {one.tool_call_id for one in heard}
        text = ""
        async with self._agent.iter(prompt, message_history=history, **self._options) as run:
            async for node in run:
                if AgentType.is_model_request_node(node):
                    for part in node.request.parts:
                        # The results of the agent's own tools go to the model and into the answer.
                        if (
                            isinstance(part, ToolReturnPart | RetryPromptPart)
                            and part.tool_call_id not in answered
                        ):
                            yield _tool_message(part)
                    if not self._offer.in_run:
                        async with node.stream(run.ctx) as events:
                            async for event in events:
                                if words := _words(event):
                                    yield words
                elif AgentType.is_call_tools_node(node):
                    # The whole message ends the streamed text and has the tool calls.
                    text = node.model_response.text or ""
                    yield _assistant_message(node.model_response)
        self._history = run.all_messages()
        self._offer.report(run.usage.input_tokens, run.usage.output_tokens)
        output = None if run.result is None else run.result.output
        if output is None or output == text or isinstance(output, DeferredToolRequests):
            return
        yield {"role": "assistant", "content": _as_text(output)}


def _as_text(output: Any) -> str:
    return output if isinstance(output, str) else encoded(json_value(output)).decode()


def _model(offer: Offer) -> Model:
    need("openai", _PACKAGES, "An agent of pydantic-ai that plays")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    assert offer.model is not None
    provider = OpenAIProvider(openai_client=offer.model.client())
    return OpenAIChatModel(offer.model.name, provider=provider)


def _toolsets(offer: Offer) -> list[AbstractToolset[Any]]:
    from pydantic_ai import ExternalToolset, FunctionToolset, ToolDefinition

    ours = [_tool(tool) for tool in offer.tools if tool.step is not None]
    callers = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.parameters,
        )
        for tool in offer.tools
        if tool.step is None
    ]
    sets: list[AbstractToolset[Any]] = []
    if ours:
        sets.append(FunctionToolset(ours))
    if callers:
        sets.append(ExternalToolset(callers))
    return sets


def _tool(offered: OfferedTool) -> Tool[Any]:
    from pydantic_ai import Tool

    tool: Tool[Any] = Tool.from_schema(
        offered.__call__, offered.name, offered.description, offered.parameters
    )
    tool.function_schema.validator = SchemaValidator(
        core_schema.dict_schema(core_schema.str_schema())
    )
    tool.strict = False  # otherwise the domain's schemas would be changed
    return tool


# Between OpenAI's messages and pydantic-ai's ---------------------------------------------------


def _history(messages: list[Message]) -> list[ModelMessage]:
    from pydantic_ai import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    names = {call.id: call.function.name for one in messages for call in one.tool_calls or []}
    history: list[ModelMessage] = []
    for message in messages:
        match message.role:
            case "system" | "developer":
                history.append(ModelRequest(parts=[SystemPromptPart(message.text)]))
            case "user":
                history.append(ModelRequest(parts=[UserPromptPart(_user_content(message))]))
            case "tool" | "function":
                call_id = message.tool_call_id or ""
                name = names.get(call_id, message.name or "")
                part = ToolReturnPart(name, message.text, tool_call_id=call_id)
                history.append(ModelRequest(parts=[part]))
            case "assistant":
                text = [TextPart(message.text)] if message.text else []
                calls = [
                    ToolCallPart(call.function.name, call.function.arguments, call.id)
                    for call in message.tool_calls or []
                ]
                history.append(ModelResponse(parts=[*text, *calls]))
            case _:
                pass
    return history


def _user_content(message: Message) -> str | list[UserContent]:
    media = media_parts(message.content)
    return [_user_part(part) for part in media] if media else message.text


def _user_part(part: Json) -> UserContent:
    from pydantic_ai import BinaryContent, ImageUrl

    if is_text(part):
        return text_of([part])
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            is_data = url.startswith("data:")
            return BinaryContent.from_data_uri(url) if is_data else ImageUrl(url)
        case {"type": "file", "file": {"file_data": str(data)}}:
            return BinaryContent.from_data_uri(data)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return BinaryContent(data=b64decode(data), media_type=f"audio/{kind}")
        case _:
            raise unreadable(part, "pydantic-ai")


def _words(event: Any) -> str:
    from pydantic_ai import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _tool_message(part: Any) -> Json:
    from pydantic_ai import ToolReturnPart

    text = part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
    return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}


def _assistant_message(response: ModelResponse) -> Json:
    calls = [
        {
            "id": call.tool_call_id,
            "type": "function",
            "function": {"name": call.tool_name, "arguments": call.args_as_json_str()},
        }
        for call in response.tool_calls
    ]
    message: Json = {"role": "assistant", "content": response.text}
    return message | {"tool_calls": calls} if calls else message
