"""How a domain is played: the tools and worlds of both parties, and how an episode is scored.

A domain can have several editions: Tau Bench and tau2-bench both have a retail shop, with tools
that behave differently. A pack says which edition it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from greenroom.domains.packs import Pack, load_pack
from greenroom.domains.tasks import STOP
from greenroom.domains.tools import ToolInfo, Toolset

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.policy_checks import PolicyCheck
    from greenroom.domains.reward import Reward
    from greenroom.domains.steps import Trajectory
    from greenroom.domains.tasks import Party, Task
    from greenroom.domains.tools import Tool
    from greenroom.domains.world import World
    from greenroom.domains.worlds import Worlds

DONE: Final = "done"
"""The call by which an agent that works alone ends the episode."""

DONE_INFO: Final[ToolInfo] = {
    "type": "function",
    "function": {
        "name": DONE,
        "description": "Call this when the ticket is resolved, or cannot be: the episode ends.",
        "parameters": {"type": "object", "properties": {}},
    },
}

MAX_STEPS: Final = 30
"""How many steps the agent has, as in Tau Bench."""

Function = Callable[..., Any]
"""A function of a world that is no tool: it sets a task up, or looks whether an assertion holds."""


@dataclass(frozen=True)
class Edition:
    """The rules of a domain."""

    tools: Toolset
    """The agent's tools."""
    user_tools: Toolset | None = None
    """The user's tools; None if only the agent acts."""
    functions: Mapping[Party, Mapping[str, Function]] = field(
        default_factory=dict["Party", Mapping[str, Function]]
    )
    """What tasks may call besides tools, to set a world up and to look at it."""
    sync: Callable[[Worlds], None] | None = None
    """Keeps the parties' worlds in step; it is called after every call of a tool."""
    shares_world: bool = False
    """The user's tools work on the agent's world."""
    prepare: Callable[[Worlds, Task], None] | None = None
    """Called when a task begins, before its initial state."""
    merge: Callable[[Worlds, Task, Pack], None] | None = None
    """Applies the data of a task's initial state."""
    hash_world: Callable[[World], str] | None = None
    """The original's hash of a world, for checks against recorded ones; None is Tau Bench's."""
    policy: Callable[[Pack, Task], str] | None = None
    """The agent's policy for a task; None is the pack's."""
    tool_infos: Callable[[Pack], list[ToolInfo]] | None = None
    """The schemas of the agent's tools; None takes the pack's."""
    grade: Callable[[Domain, int, str, Trajectory, Worlds], Reward] | None = None
    """Scores an episode of a task of a split; None compares databases and outputs."""
    ground_truth_syncs: bool = True
    """Worlds are kept in step while the ground truth is worked out."""
    unknown_tool: Callable[[Party, str], str] = lambda _party, name: f"Unknown action {name}"
    """What is said of a tool that a party does not have."""
    load_pack: Callable[[Path, str], Pack] = load_pack
    """Reads the pack of a domain in a directory."""
    greeting: str | None = None
    """What the agent has said before the user's first message."""
    stop_words: tuple[str, ...] = (STOP,)
    """A message of the user with one of these ends the conversation."""
    max_steps: int = MAX_STEPS
    """How many steps an episode has, unless a run says otherwise."""
    counts_messages: bool = False
    """Steps are messages of either party and results of tools, as tau2-bench counts them."""
    max_errors: int | None = None
    """How many calls of either party may fail before the episode ends; None: any number."""
    policy_checks: tuple[PolicyCheck, ...] = ()
    """Rules of the policy that `tasks audit` holds ground truths against."""
    solo: bool = False
    """The agent works alone, with the tools of both parties."""

    def stops(self, said: str) -> bool:
        """Whether a message of the user ends the conversation."""
        return any(word in said for word in self.stop_words)

    def tool(self, party: Party, name: str) -> Tool | None:
        """A party's tool."""
        tools = self.tools if party == "agent" else self.user_tools
        return None if tools is None else tools.get(name)


__all__ = ["DONE", "DONE_INFO", "MAX_STEPS", "Edition", "Function"]
