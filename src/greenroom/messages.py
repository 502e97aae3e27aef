"""The Message vocabulary: chat-completion messages, as every model provider speaks them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

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
        """The words of the message: its text, or its text parts joined."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content or []
        return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


__all__ = ["FunctionCall", "Message", "Role", "ToolCall"]
