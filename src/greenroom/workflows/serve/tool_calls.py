"""Tool calls of messages, in the shapes that wires want them in."""

from __future__ import annotations

from typing import Any, cast

import orjson


def tool_calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message that are tool calls indeed."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    found = [
        cast("dict[str, Any]", one) for one in cast("list[Any]", calls) if isinstance(one, dict)
    ]
    return [one for one in found if isinstance(one.get("function"), dict)]


def called_tools(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message as events tell them: id, name and input."""
    return [
        {
            "id": call.get("id"),
            "name": call["function"].get("name"),
            "input": _arguments(call["function"].get("arguments")),
        }
        for call in tool_calls_of(message)
    ]


def _arguments(text: Any) -> Any:
    try:
        return orjson.loads(text) if isinstance(text, str) and text else text or {}
    except orjson.JSONDecodeError:
        return text


__all__ = ["called_tools", "tool_calls_of"]
