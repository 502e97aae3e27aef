"""Chat-completion messages in the format that model providers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from greenroom.util.json_values import encoded

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


class FunctionCall(BaseModel):
    """A function to call; `arguments` is JSON text, as the model wrote it."""

    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: str = ""


class ToolCall(BaseModel):
    """One entry of a message's `tool_calls`."""

    model_config = ConfigDict(extra="ignore")

    id: str = ""
    type: str = "function"
    function: FunctionCall


class Message(BaseModel):
    """One chat message: content is text, a list of parts, or null beside tool calls."""

    model_config = ConfigDict(extra="ignore")

    role: Role
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """The text of the message: its content, or its text parts joined."""
        return text_of(self.content)


ROLES: frozenset[str] = frozenset(Role.__args__)
"""Every role that a message can have."""

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})


def text_of(content: Any) -> str:
    """The text of a message's content: text, or text parts joined; empty for null."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(_part_text(part) for part in cast("list[Any]", content))


def arguments_text(arguments: Any) -> str:
    """The arguments of a tool call as JSON, whether they are given as a text or as they are."""
    return arguments if isinstance(arguments, str) else encoded(arguments or {}).decode()


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    found = cast("dict[str, Any]", part)
    kind = found.get("type", "text")
    if not isinstance(kind, str) or kind not in _TEXT_PARTS:
        return ""
    text = found.get("refusal") if kind == "refusal" else found.get("text")
    return text if isinstance(text, str) else ""


def is_message(value: Any) -> bool:
    """Whether a value has the shape of a message: a role, and content or tool calls.

    Any role will do: conversations of several agents have roles of their own.
    """
    if not isinstance(value, Mapping):
        return False
    found = cast("Mapping[str, Any]", value)
    role = found.get("role")
    named = isinstance(role, str) and bool(role)
    return named and ("content" in found or bool(found.get("tool_calls")))


def messages_of(output: Any) -> list[dict[str, Any]] | None:
    """The messages in a chat workflow's output; None if there are none.

    Accepts a message, a list of messages, `{"messages": [...]}`, and a string as the assistant's
    text.
    """
    if isinstance(output, str):
        return [{"role": "assistant", "content": output}]
    if isinstance(output, Mapping):
        found = cast("Mapping[str, Any]", output)
        if is_message(found):
            return [dict(found)]
        return messages_of(found["messages"]) if isinstance(found.get("messages"), list) else None
    if isinstance(output, Sequence) and all(is_message(item) for item in cast("list[Any]", output)):
        return [dict(item) for item in cast("list[dict[str, Any]]", output)]
    return None


def last_assistant_message(output: Any) -> dict[str, Any] | None:
    """The assistant's last message in a chat workflow's output."""
    messages = messages_of(output) or []
    return next((m for m in reversed(messages) if m.get("role") == "assistant"), None)


__all__ = [
    "ROLES",
    "FunctionCall",
    "Message",
    "Role",
    "ToolCall",
    "is_message",
    "last_assistant_message",
    "messages_of",
    "text_of",
]
