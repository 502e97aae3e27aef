"""Workflows for the tests of threads: each does one thing that pages have to get along with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from greenroom import chat_workflow, report_usage, workflow
from greenroom.messages import Message

CALLS: list[dict[str, Any]] = []
"""What `recorder` was called with."""


@chat_workflow
async def parrot(messages: list[Message], tone: str = "kind") -> AsyncIterator[str]:
    """Say the last message again, word by word."""
    report_usage(prompt_tokens=len(messages), completion_tokens=2, cost=0.25)
    for word in f"{tone}: {messages[-1].text}".split(" "):
        yield word + " "


class Voice(BaseModel):
    """How `singer` sounds."""

    tone: str = "high"


@chat_workflow(parameters=Voice)
async def singer(messages: list[Message], parameters: Voice) -> AsyncIterator[str]:
    """Sing the last message, in the tone of its parameters."""
    report_usage(prompt_tokens=len(messages), completion_tokens=2, cost=0.25)
    yield f"{parameters.tone}: {messages[-1].text}"


@chat_workflow
async def slow(messages: list[Message]) -> AsyncIterator[str]:
    """Write a word every 20 milliseconds, for ten minutes: tests stop it."""
    for number in range(30_000):
        yield f"w{number} "
        await asyncio.sleep(0.02)


@chat_workflow
def patient(messages: list[Message]) -> Iterator[str]:
    """Say words; after each one wait for a file of its name in the folder that was named."""
    for number in range(5):
        yield f"w{number} "
        while not Path(messages[-1].text, f"w{number}").exists():
            time.sleep(0.01)


@chat_workflow
async def recorder(messages: list[dict[str, Any]], place: str = "") -> dict[str, Any]:
    """Note the call, and count the messages."""
    CALLS.append({"messages": messages, "place": place})
    return {"role": "assistant", "content": f"{len(messages)} messages"}


@chat_workflow
async def whole(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer with the whole history."""
    return [*messages, {"role": "assistant", "content": f"{len(messages)} so far"}]


@chat_workflow
async def breaking(messages: list[Message]) -> AsyncIterator[str]:
    """Break in the middle of an answer."""
    yield "Half an "
    yield "answer"
    await asyncio.sleep(0.6)
    raise RuntimeError("the printer is on fire")


@chat_workflow
async def clerk(messages: list[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    """Call a tool of its own, then ask for one that the person runs."""
    if messages[-1]["role"] == "tool":
        yield {"role": "assistant", "content": f"The tool said {messages[-1]['content']}."}
        return
    yield {"type": "tool_call", "id": "own", "name": "look", "input": {"at": 7}}
    yield {"type": "tool_result", "id": "own", "output": "found"}
    function = {"name": "ask_person", "arguments": '{"question": "which?"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}


@chat_workflow
async def clerks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask for two tools at once, then take a note."""
    if messages[-1]["role"] != "tool":
        return [{"role": "assistant", "content": None, "tool_calls": [_call("ask"), _call("tell")]}]
    heard = ", ".join(one["content"] for one in messages if one["role"] == "tool")
    return [
        {"role": "assistant", "content": None, "tool_calls": [_call("note")]},
        {"role": "tool", "tool_call_id": "call_note", "content": "noted"},
        {"role": "assistant", "content": f"Heard {heard}."},
    ]


@chat_workflow
async def teller(messages: list[dict[str, Any]]) -> AsyncIterator[Any]:
    """Tell of a call as an event alone, and leave it to the person."""
    CALLS.append({"messages": messages})
    if messages[-1]["role"] == "tool":
        yield f"The tool said {messages[-1]['content']}."
        return
    yield {"type": "tool_call", "id": "told", "name": "look_up", "input": {"at": 7}}
    yield "One moment."


def _call(name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    return {"id": f"call_{name}", "type": "function", "function": function}


@workflow
def blocker(gate: str) -> str:
    """Block its thread until there is a file."""
    while not Path(gate).exists():
        time.sleep(0.02)
    return "free again"


@workflow
def capital(country: str) -> str:
    """A completion."""
    return f"the capital of {country}"


@workflow
def facts(country: str, detail: int = 1) -> dict[str, Any]:
    """A completion with JSON at the root."""
    return {"country": country, "detail": detail}


@workflow
async def free(inputs: dict[str, Any]) -> dict[str, Any]:
    """Takes anything, and tells what it got."""
    return {"got": inputs}
