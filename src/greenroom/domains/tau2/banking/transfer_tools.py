"""Discoverable tools without parameters: a placeholder, and steps before a transfer."""

from __future__ import annotations

from typing import Final

from greenroom.domains.tau2.banking.answers import agent_tools, discoverable
from greenroom.domains.tau2.banking.catalogue import returned_text
from greenroom.domains.world import World

tools = agent_tools()

_NO_ARGUMENTS: Final = "Arguments: (no arguments)"


def _carried_out(world: World, tool: str) -> str:
    return f"{returned_text(world, tool)}\n\nExecuted: {tool}\n{_NO_ARGUMENTS}"


@discoverable(tools, writes=True)
def example_agent_tool_0000(world: World) -> str:
    """Do nothing."""
    return returned_text(world, "example_agent_tool_0000")


@discoverable(tools, generic=True)
def initial_transfer_to_human_agent_0218(world: World) -> str:
    """Begin a transfer."""
    return _carried_out(world, "initial_transfer_to_human_agent_0218")


@discoverable(tools, generic=True)
def initial_transfer_to_human_agent_1822(world: World) -> str:
    """Ask for a transfer that is not possible yet."""
    return _carried_out(world, "initial_transfer_to_human_agent_1822")


@discoverable(tools, generic=True)
def emergency_credit_bureau_incident_transfer_1114(world: World) -> str:
    """Note a case of one particular incident."""
    return _carried_out(world, "emergency_credit_bureau_incident_transfer_1114")
