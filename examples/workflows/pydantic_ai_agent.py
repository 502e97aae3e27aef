"""A pydantic-ai agent with a tool of its own, as a chat workflow.

pip install 'pydantic-ai-slim[openai]'
export OPENAI_API_KEY=...          # and OPENAI_BASE_URL for a server of your own
greenroom serve pydantic_ai_agent.py
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    ExternalToolset,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolDefinition,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel

from greenroom import chat_workflow, report_usage
from greenroom.messages import Message

agent = Agent(
    OpenAIChatModel(os.environ.get("MODEL", "gpt-4o-mini")),
    instructions="You help the customers of a shop. Look orders up before you speak about them.",
    # It answers with text, or with calls of the caller's tools.
    output_type=[str, DeferredToolRequests],
    # One call at a time, so that a message never mixes our tools and the caller's.
    model_settings={"parallel_tool_calls": False},
)


@agent.tool_plain
def order_status(order_id: str) -> str:
    """Look up where an order is."""
    return f"Order {order_id} is on its way and arrives on Friday."


@chat_workflow(name="pydantic-ai-agent")
async def converse(
    messages: list[Message], tools: list[dict[str, Any]] | None = None
) -> AsyncGenerator[Any]:
    """Helps with orders."""
    answered = {message.tool_call_id for message in messages}
    brought = [_definition(one["function"]) for one in tools or []]
    callers: ExternalToolset[object] = ExternalToolset(brought)
    async with agent.iter(message_history=_history(messages), toolsets=[callers]) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                # The results of the agent's own tools go to the model and into the answer.
                for part in node.request.parts:
                    if isinstance(part, ToolReturnPart | RetryPromptPart) and (
                        part.tool_call_id not in answered
                    ):
                        yield _tool_message(part)
                async with node.stream(run.ctx) as events:
                    async for event in events:
                        if text := _words(event):
                            yield text
            elif Agent.is_call_tools_node(node):
                # The whole message ends the streamed text and has the tool calls.
                yield _assistant_message(node.model_response)
    report_usage(prompt_tokens=run.usage.input_tokens, completion_tokens=run.usage.output_tokens)


# The rest converts between OpenAI's messages and pydantic-ai's.


def _history(messages: list[Message]) -> list[ModelMessage]:
    names = {call.id: call.function.name for one in messages for call in one.tool_calls or []}
    history: list[ModelMessage] = []
    for message in messages:
        match message.role:
            case "system" | "developer":
                history.append(ModelRequest(parts=[SystemPromptPart(message.text)]))
            case "user":
                history.append(ModelRequest(parts=[UserPromptPart(message.text)]))
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
    return history


def _definition(function: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=function["name"],
        description=function.get("description"),
        parameters_json_schema=function.get("parameters", {"type": "object", "properties": {}}),
    )


def _words(event: Any) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _tool_message(part: ToolReturnPart | RetryPromptPart) -> dict[str, Any]:
    text = part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
    return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}


def _assistant_message(response: ModelResponse) -> dict[str, Any]:
    calls = [
        {
            "id": call.tool_call_id,
            "type": "function",
            "function": {"name": call.tool_name, "arguments": call.args_as_json_str()},
        }
        for call in response.tool_calls
    ]
    message = {"role": "assistant", "content": response.text}
    return message | {"tool_calls": calls} if calls else message
