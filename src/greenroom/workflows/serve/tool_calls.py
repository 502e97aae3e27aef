"""Tool calls of messages, as each wire format writes them."""

from __future__ import annotations

from typing import Any

import orjson

from greenroom.util.json_values import as_dict, as_list


def tool_calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The well-formed tool calls of a message."""
    calls = map(as_dict, as_list(message.get("tool_calls")))
    return [one for one in calls if isinstance(one.get("function"), dict)]


def called_tools(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message as events: id, name and input."""
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
