"""What was said and done before a task begins, as each party's model reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.domains.tasks import Party, Task
    from greenroom.models.types import ChatMessage

_ROLES: Final[Mapping[Party, str]] = {"agent": "assistant", "user": "user"}
"""The parties as tau2-bench's messages name them."""


def past_messages(task: Task, party: Party) -> list[ChatMessage]:
    """The messages before a task begins from one side: a party never sees the other's calls."""
    own, messages = _ROLES[party], list["ChatMessage"]()
    names: dict[str, str] = {}
    for message in () if task.initial is None else task.initial.messages:
        role, content = message["role"], message.get("content")
        if role == "tool":
            call = str(message.get("id") or "")
            if (message.get("requestor") or "assistant") == own:
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": call,
                        "name": names.get(call, ""),
                        "content": content or "",
                    }
                )
        elif message.get("tool_calls"):
            if role == own:
                calls = [_call(call) for call in message["tool_calls"]]
                names |= {call["id"]: call["function"]["name"] for call in calls}
                messages.append({"role": "assistant", "content": content, "tool_calls": calls})
        elif content:
            messages.append({"role": "assistant" if role == own else "user", "content": content})
    return messages


def agent_is_next(task: Task) -> bool:
    """Whether the agent answers what was said or done last before the task begins."""
    messages = () if task.initial is None else task.initial.messages
    if not messages:
        return False
    last = messages[-1]
    if last["role"] == "tool":
        return (last.get("requestor") or "assistant") == _ROLES["agent"]
    return last["role"] == _ROLES["user"] and not last.get("tool_calls")


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": str(call["name"]), "arguments": json.dumps(call.get("arguments") or {})}
    return {"id": str(call.get("id") or ""), "type": "function", "function": function}


__all__ = ["agent_is_next", "past_messages"]
