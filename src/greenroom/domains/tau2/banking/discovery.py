"""How tools are discovered: the agent unlocks and calls its own, and gives others to the user.

Documents of the knowledge base name these tools. What was unlocked is remembered in the episode's
memory. What was given or called is a record, so it counts when databases are compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from greenroom.domains.tasks import Action
from greenroom.domains.tau2.banking import (
    account_tools,
    credit_card_tools,
    credit_limit_tools,
    debit_activation_tools,
    debit_card_tools,
    debit_limit_tools,
    debit_order_tools,
    dispute_tools,
    history_tools,
    transfer_tools,
    user_discoverable_tools,
)
from greenroom.domains.tau2.banking.answers import agent_tools, user_tools
from greenroom.domains.tau2.banking.catalogue import text_of
from greenroom.domains.tau2.banking.tables import add, hex_id, table_text
from greenroom.domains.tools import Tool
from greenroom.domains.world import World

_MODULE: Final = "tau2.domains.banking_knowledge.tools"
_UNLOCKED: Final = "unlocked"
_LOGGED_READS: Final = "read_log_allowlist"

agent = agent_tools()
"""The agent's tools for discovery, and those that can be discovered."""
user = user_tools()
"""The user's."""

for _group in (
    account_tools,
    credit_card_tools,
    credit_limit_tools,
    debit_activation_tools,
    debit_card_tools,
    debit_limit_tools,
    debit_order_tools,
    dispute_tools,
    history_tools,
    transfer_tools,
):
    agent.include(_group.tools)
user.include(user_discoverable_tools.tools)

AGENT_DISCOVERABLE: Final[Mapping[str, Tool]] = dict(agent)
USER_DISCOVERABLE: Final[Mapping[str, Tool]] = dict(user)


def log_reads(world: World, actions: Iterable[Action]) -> None:
    """Let calls of the reading tools that a task's ground truth calls leave a record, too."""
    names = [
        action.kwargs.get("agent_tool_name")
        for action in actions
        if action.name == "call_discoverable_agent_tool"
    ]
    world.memory[_LOGGED_READS] = frozenset(name for name in names if isinstance(name, str))


@agent.add(kind="generic", replayed=True, schema=False)
def unlock_discoverable_agent_tool(world: World, agent_tool_name: Any) -> str:
    """Unlock a tool and describe it."""
    if agent_tool_name not in AGENT_DISCOVERABLE:
        return _unknown_agent_tool(agent_tool_name)
    world.memory.setdefault(_UNLOCKED, set()).add(agent_tool_name)
    text = text_of(world, agent_tool_name)
    return (
        f"Tool unlocked: {agent_tool_name}\n"
        f"Description: {text.description}\n\n"
        f"Tool: {agent_tool_name}\n"
        f"Description: {text.description}\n"
        f"Parameters:\n{text.parameters_text}\n\n"
        "You can now use this tool by calling `call_discoverable_agent_tool` with "
        f"agent_tool_name='{agent_tool_name}' and the required arguments."
    )


@agent.add(writes=True, schema=False)
def call_discoverable_agent_tool(world: World, agent_tool_name: Any, arguments: Any = "{}") -> Any:
    """Call an unlocked tool with arguments in JSON."""
    if agent_tool_name not in AGENT_DISCOVERABLE:
        return _unknown_agent_tool(agent_tool_name)
    if agent_tool_name not in world.memory.get(_UNLOCKED, ()):
        return (
            f"Error: Tool '{agent_tool_name}' has not been unlocked. You must first use "
            "`unlock_discoverable_agent_tool` to unlock this tool before calling it."
        )
    try:
        # Every number is read as a float, so that 25 and 25.0 make the same records.
        given = json.loads(arguments, parse_int=float)
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON in arguments: {error}"
    tool = AGENT_DISCOVERABLE[agent_tool_name]
    try:
        answer = _called(tool, world, given)
    except TypeError as error:
        return f"Error: Invalid arguments: {error}"
    if tool.writes or agent_tool_name in world.memory.get(_LOGGED_READS, ()):
        record = {"tool_name": agent_tool_name, "status": "CALLED"}
        key = hex_id(f"agent_discoverable_tool:{agent_tool_name}")
        add(world, "agent_discoverable_tools", key, record)
    return answer


@agent.add(schema=False)
def list_discoverable_agent_tools(world: World) -> str:
    """List the tools that were called."""
    return f"Your called agent tools:\n{table_text(world, 'agent_discoverable_tools')}"


@agent.add(kind="generic", replayed=True, schema=False)
def give_discoverable_user_tool(
    world: World, discoverable_tool_name: Any, arguments: Any = "{}"
) -> str:
    """Give a tool to the user, perhaps with arguments."""
    if not isinstance(discoverable_tool_name, str):
        kind = type(discoverable_tool_name).__name__
        raise TypeError(f"attribute name must be string, not '{kind}'")
    tool = USER_DISCOVERABLE.get(discoverable_tool_name)
    if tool is None:
        return f"Error: Unknown discoverable tool '{discoverable_tool_name}'."
    try:
        given = json.loads(arguments)
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON in arguments: {error}"
    for name in given:
        if name not in tool.parameters and name != "self":
            return f"Error: Unexpected parameter: {name}"
    record = {"tool_name": discoverable_tool_name, "status": "GIVEN"}
    key = hex_id(f"user_discoverable_tool:{discoverable_tool_name}")
    add(world, "user_discoverable_tools", key, record)
    shown = json.dumps(given, indent=2) if given else "(no arguments)"
    return (
        f"Tool given to user: {discoverable_tool_name}\n"
        f"Description: {text_of(world, discoverable_tool_name).description}\n"
        f"Arguments: {shown}\n\n"
        "The user can now execute this action by calling `call_discoverable_user_tool` with "
        f"discoverable_tool_name='{discoverable_tool_name}' and the same arguments."
    )


@user.add(writes=True, schema=False)
def call_discoverable_user_tool(
    world: World, discoverable_tool_name: Any, arguments: Any = "{}"
) -> Any:
    """Call a tool that the agent gave, with arguments in JSON."""
    if discoverable_tool_name not in USER_DISCOVERABLE:
        return f"Error: Unknown discoverable tool '{discoverable_tool_name}'."
    try:
        given = json.loads(arguments, parse_int=float)
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON in arguments: {error}"
    tool = USER_DISCOVERABLE[discoverable_tool_name]
    for name in tool.parameters:
        if name not in given:
            return f"Error: Missing required parameter: {name}"
    for name in given:
        if name not in tool.parameters:
            return f"Error: Unexpected parameter: {name}"
    try:
        return _called(tool, world, given)
    except TypeError as error:
        return f"Error: Invalid arguments for tool '{discoverable_tool_name}': {error}"


@user.add(schema=False)
def list_discoverable_user_tools(world: World) -> str:
    """List the tools that the agent gave."""
    return f"Tools given to you by the agent:\n{table_text(world, 'user_discoverable_tools')}"


def _unknown_agent_tool(name: Any) -> str:
    return f"Error: Unknown agent tool '{name}'. This tool is not available."


def _called(tool: Tool, world: World, arguments: Any) -> Any:
    """Call a tool with what a JSON text held; raise TypeError in Python's words if it is unfit."""
    where = f"{tool.owner}.{tool.name}()"
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        raise TypeError(f"{_MODULE}.{where} argument after ** must be a mapping, not {kind}")
    given = cast("dict[str, Any]", arguments)
    if "self" in given:
        raise TypeError(f"{where} got multiple values for argument 'self'")
    mismatch = tool.mismatch(given)
    if mismatch is not None:
        raise TypeError(mismatch)
    return tool.function(world, **given)
