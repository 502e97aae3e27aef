"""Calling a workflow: what goes in, what comes out, and what can be known of it beforehand.

A workflow in this process and one behind an address are called in the same way: both are a Target.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from greenroom.errors import GreenroomError

IS_CHAT = "is_chat"
"""The flag that makes a workflow a chat workflow."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a workflow."""

    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """The variables by name; for a chat workflow `messages` is among them."""
    parameters: dict[str, Any] | None = None
    """Configuration that differs from the workflow's defaults."""
    session_id: str | None = None
    tools: list[dict[str, Any]] | None = None
    """Tools that the caller will run, for workflows that take them (OpenAI's shape)."""
    traceparent: str | None = None

    @property
    def messages(self) -> list[dict[str, Any]] | None:
        """The message history, if there is one."""
        return self.inputs.get("messages")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a workflow returned, unchanged, and what it took."""

    outputs: Any
    session_id: str | None = None
    trace_id: str | None = None
    seconds: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    """US dollars; None where it is not known."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A piece of a streamed answer.

    `delta` carries text; `message` a whole message (the end of one that came in deltas, or one that
    was not streamed); `tool_call` and `tool_result` what the workflow does on the way; `usage`
    tokens; `end` the answer as a whole.
    """

    kind: Literal["delta", "message", "tool_call", "tool_result", "usage", "end"]
    text: str = ""
    data: Any = None
    """The message, the call, the result, the usage; for `end` the Answer."""


@dataclass(frozen=True, kw_only=True)
class Schemas:
    """JSON schemas of a workflow's inputs, parameters and outputs; None: not known."""

    inputs: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None
    outputs: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is known of a workflow before it is called."""

    name: str
    is_chat: bool
    flags: dict[str, Any] = field(default_factory=dict[str, Any])
    schemas: Schemas = field(default_factory=Schemas)
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    """Default configuration."""
    description: str = ""
    address: str = ""
    """Where it was found: an address, or file.py:name."""
    interface: Literal["local", "invoke", "run", "test", "openai"] = "local"
    """How it is called."""
    decided_by: str = "declared"
    """What told whether it is a chat workflow, in words."""


class Target(Protocol):
    """A workflow that can be called, wherever it is."""

    @property
    def profile(self) -> Profile:
        """What is known of it."""
        ...

    async def call(self, call: Call) -> Answer:
        """Its answer; raises a CallError where there is none."""
        ...

    def stream(self, call: Call) -> AsyncIterator[Event]:
        """Its answer in pieces, the last of them the whole."""
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


class CallError(GreenroomError):
    """A call gave no answer; the text says why, for people."""

    def __init__(self, message: str, *, status: int | None = None, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        """The name of what was raised in the workflow, where it is known."""


class WorkflowUnavailable(CallError):
    """Nobody is at fault but the network or the server: worth another try."""
