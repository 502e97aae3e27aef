"""What an agent does: call a tool, or talk to the user with the action `respond`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from greenroom.trajectories import RESPOND, STOP

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name with its arguments, or `respond` with what to say."""

    name: str
    kwargs: Arguments = field(default_factory=dict[str, Any])


def respond(content: str) -> Action:
    """The action that says `content` to the user."""
    return Action(RESPOND, {"content": content})


__all__ = ["RESPOND", "STOP", "Action", "Arguments", "respond"]
