"""What all of tau2-bench's domains have in common: how long an episode lasts, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from greenroom.domains.editions import Edition, Function
from greenroom.domains.tasks import STOP, Party
from greenroom.domains.tau2.grading import grade

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack
    from greenroom.domains.policy_checks import PolicyCheck
    from greenroom.domains.tasks import Task
    from greenroom.domains.tools import ToolInfo, Toolset
    from greenroom.domains.world import World
    from greenroom.domains.worlds import Worlds

GREETING: Final = "Hi! How can I help you today?"
"""Every conversation with a user begins with it."""
STOP_WORDS: Final = (STOP, "###TRANSFER###", "###OUT-OF-SCOPE###")
MAX_STEPS: Final = 200
MAX_ERRORS: Final = 10


def tau2_edition(
    tools: Toolset,
    load_pack: Callable[[Path, str], Pack],
    *,
    user_tools: Toolset | None = None,
    functions: Mapping[Party, Mapping[str, Function]] | None = None,
    sync: Callable[[Worlds], None] | None = None,
    shares_world: bool = False,
    prepare: Callable[[Worlds, Task], None] | None = None,
    merge: Callable[[Worlds, Task, Pack], None] | None = None,
    hash_world: Callable[[World], str] | None = None,
    policy: Callable[[Pack, Task], str] | None = None,
    tool_infos: Callable[[Pack], list[ToolInfo]] | None = None,
    policy_checks: tuple[PolicyCheck, ...] = (),
    solo: bool = False,
) -> Edition:
    """The rules of a domain of tau2-bench."""
    return Edition(
        tools,
        user_tools=user_tools,
        functions=functions or {},
        sync=sync,
        shares_world=shares_world,
        prepare=prepare,
        merge=merge,
        hash_world=hash_world,
        policy=policy,
        tool_infos=tool_infos,
        grade=grade,
        # tau2's own ground truth is made without it.
        ground_truth_syncs=False,
        unknown_tool=_unknown_tool if user_tools is not None else _unknown_tool_of_one_side,
        load_pack=load_pack,
        greeting=None if solo else GREETING,
        stop_words=STOP_WORDS,
        max_steps=MAX_STEPS,
        counts_messages=True,
        max_errors=MAX_ERRORS,
        policy_checks=policy_checks,
        solo=solo,
    )


def _unknown_tool(party: Party, name: str) -> str:
    return f"Error: Tool '{name}' not found."


def _unknown_tool_of_one_side(party: Party, name: str) -> str:
    return "Error: User tools not available" if party == "user" else _unknown_tool(party, name)


__all__ = ["GREETING", "MAX_ERRORS", "MAX_STEPS", "STOP_WORDS", "tau2_edition"]
