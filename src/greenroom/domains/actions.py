"""What an agent does: call a tool, or talk to the user with the action `respond`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

RESPOND: Final = "respond"
"""The name of the action that talks to the user; its one argument is `content`."""

STOP: Final = "###STOP###"
"""The user ends the conversation by saying this anywhere in a message."""

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name with its arguments, or `respond` with what to say."""

    name: str
    kwargs: Arguments = field(default_factory=dict[str, Any])


def respond(content: str) -> Action:
    """The action that says `content` to the user."""
    return Action(RESPOND, {"content": content})
