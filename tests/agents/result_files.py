"""Result files as Tau Bench writes them, made for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _call(number: int, arguments: str) -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "light", "arguments": arguments},
    }


def _text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


_LIT = '{"lit": true, "watts": 5}'
_TRAJECTORIES: dict[str, list[dict[str, Any]]] = {
    "tool-calling": [
        _text("assistant", "Which lamp?"),
        _text("user", "Which?"),
        {"role": "assistant", "content": None, "tool_calls": [_call(1, '{"lamp": "hall"}')]},
        {"role": "tool", "tool_call_id": "call_1", "name": "light", "content": _LIT},
        _text("assistant", "Done."),
        _text("user", "Thanks ###STOP###"),
    ],
    "react": [
        _text(
            "assistant",
            'Thought:\nAsk.\nAction:\n{"name": "respond", "arguments": {"content": "Which lamp?"}}',
        ),
        _text("user", "Which?"),
        _text("assistant", 'Action:\n{"name": "light", "arguments": {"lamp": "hall"}}'),
        _text("user", f"API output: {_LIT}"),
        _text("assistant", "Action:\nno JSON at all"),
        _text("user", "Thanks ###STOP###"),
    ],
    "parallel": [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Two at once."}],
            "tool_calls": [_call(1, '{"lamp": "a"}'), _call(2, '{"lamp": "b"}')],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "tool", "tool_call_id": "call_2", "content": "2"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [_call(3, "not json"), _call(4, "{}")],
        },
    ],
}


def write_results(folder: Path, *, protocol: str = "tool-calling", reward: float = 1.0) -> Path:
    """A result file with one episode of task 0."""
    path = folder / f"{protocol}-results.json"
    messages = [_text("system", "Policy."), _text("user", "Hello."), *_TRAJECTORIES[protocol]]
    row: dict[str, Any] = {"task_id": 0, "reward": reward, "info": {}, "traj": messages, "trial": 0}
    path.write_text(json.dumps([row]))
    return path
