"""Conversations in a line or two for tests of the audit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from greenroom.audit import Talk, findings_of, talk_of
from greenroom.store import EpisodeRecord

Step = tuple[str, str]


def said(heard: str, reply: str, *calls: tuple[str, str, bool]) -> dict[str, Any]:
    """The agent says something, the user acts and replies; a call is a name, a result, a write."""
    return {
        "action": {"name": "respond", "kwargs": {"content": heard}},
        "observation": reply,
        "source": "user",
        "turn": 1,
        "user_calls": [
            {"action": {"name": name, "party": "user", "writes": writes}, "observation": result}
            for name, result, writes in calls
        ],
    }


def called(result: str, name: str = "look") -> dict[str, Any]:
    """The agent calls a tool."""
    return {"action": {"name": name}, "observation": result, "source": name, "turn": 1}


def episode(
    instruction: str, opening: str, *steps: dict[str, Any], **changes: Any
) -> EpisodeRecord:
    """An episode of these steps."""
    fields: dict[str, Any] = {
        "task_index": 0,
        "trial": 0,
        "reward": 1.0,
        "outcome": "success",
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        "task": {"instruction": instruction, "actions": [{"name": "do"}]},
        "opening": opening,
        "steps": list(steps),
    }
    return EpisodeRecord.model_validate(fields | changes)


def talk(instruction: str, opening: str, *steps: dict[str, Any], **changes: Any) -> Talk:
    """The conversation of such an episode."""
    return talk_of(episode(instruction, opening, *steps, **changes))


def kinds(instruction: str, opening: str, *steps: dict[str, Any], **changes: Any) -> list[str]:
    """The kinds of what is found, turn by turn."""
    found = findings_of(talk(instruction, opening, *steps, **changes))
    return [one.kind for one in found if one.kind != "stop_inside_sentence"]
