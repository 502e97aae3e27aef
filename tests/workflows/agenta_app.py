"""An app of the agenta SDK, run by an interpreter of its own: see tests/workflows/agenta_env.py.

It holds one workflow of each kind that our client has to get along with.
"""
# The SDK is not installed where types are checked.
# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import agenta as ag

ag.init()

MESSAGES = {"type": "array", "x-ag-type-ref": "messages"}
CHAT_INPUTS = {"type": "object", "properties": {"messages": MESSAGES}}


@ag.route("/", flags={"is_chat": True})
@ag.workflow(name="Echo", schemas={"inputs": CHAT_INPUTS}, parameters={"tone": "kind"})
async def echo(
    messages: list[dict[str, Any]], parameters: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Say the last message again."""
    tone = (parameters or {}).get("tone")
    return {"role": "assistant", "content": f"echo ({tone}): {messages[-1]['content']}"}


@ag.route("/not-chat", flags={"is_chat": False})
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def not_chat(messages: list[dict[str, Any]]) -> str:
    """Take messages, and declare that this is no chat."""
    return f"{len(messages)} messages"


@ag.route("/undeclared")
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def undeclared(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Take messages without a word on what this is."""
    return {"messages": [{"role": "assistant", "content": f"{len(messages)} messages"}]}


@ag.route("/completion")
@ag.workflow(schemas={"inputs": {"type": "object", "properties": {"country": {"type": "string"}}}})
async def completion(country: str) -> str:
    """Answer with a plain string."""
    return f"the capital of {country}"


@ag.route("/events", flags={"is_chat": True})
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def events(messages: list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Stream the events of an agent that calls a tool."""
    yield {"type": "tool_call", "data": {"id": "c1", "name": "look_up", "input": {"id": 7}}}
    yield {"type": "tool_result", "data": {"id": "c1", "output": "found"}}
    yield {"type": "message_start", "data": {"id": "m1"}}
    for word in ("You ", "said ", str(messages[-1]["content"])):
        yield {"type": "message_delta", "data": {"id": "m1", "delta": word}}
    yield {"type": "message_end", "data": {"id": "m1"}}
    yield {"type": "usage", "data": {"input": 3, "output": 2, "total": 5, "cost": 0.25}}
    yield {"type": "done", "data": {"stopReason": "stop"}}


@ag.route("/pieces", flags={"is_chat": True})
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def pieces(messages: list[dict[str, Any]]) -> AsyncIterator[str]:
    """Stream bare text."""
    yield "You "
    yield f"said {messages[-1]['content']}"


@ag.route("/failing", flags={"is_chat": True})
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def failing(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Fail."""
    raise RuntimeError(f"no answer to {len(messages)} messages")


@ag.route("/tools", flags={"is_chat": True})
@ag.workflow(
    schemas={
        "inputs": {
            "type": "object",
            "properties": {"messages": MESSAGES, "tools": {"type": "array"}},
            "required": ["messages"],
        }
    }
)
async def tools(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Name the tools of the caller."""
    names = [one["function"]["name"] for one in tools or []]
    return {"role": "assistant", "content": ", ".join(names)}


RUNS: list[str] = []


@ag.route("/counted", flags={"is_chat": True})
@ag.workflow(schemas={"inputs": CHAT_INPUTS})
async def counted(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Remember that this was run."""
    RUNS.append(str(messages[-1]["content"]))
    return {"role": "assistant", "content": "noted"}


@ag.route("/runs")
@ag.workflow()
async def runs() -> int:
    """Tell how often the other one was run."""
    return len(RUNS)


app = ag.app
