"""A domain in which both parties act: a support line for thermostats.

The agent works on accounts. The customer stands in front of the thermostat.

greenroom run --env examples/by_path/thermostat.py
"""

from __future__ import annotations

from typing import Annotated, Literal

from greenroom import domains
from greenroom.domains import (
    Action,
    Assertion,
    DomainPlugin,
    InitialState,
    PackInfo,
    Refused,
    SetUpCall,
    Task,
    Toolset,
    World,
    Worlds,
)

agent_tools, user_tools = Toolset(), Toolset()


@agent_tools.add(writes=True)
def pair(world: World, account: Annotated[str, "Its id."], code: Annotated[str, "Shown."]) -> str:
    """Pair the thermostat that shows this code with an account."""
    if account not in world["accounts"]:
        raise Refused("account not found")
    world["accounts"][account]["paired"] = code
    return world["accounts"].text(account)


@user_tools.add()
def read_display(world: World) -> str:
    """Read what the thermostat shows."""
    return world["thermostats"].text("mine")


@user_tools.add(writes=True)
def set_mode(world: World, mode: Literal["off", "heat"]) -> str:
    """Press the button for a mode."""
    if world["thermostats"].read("mine")["locked"]:
        raise Refused("the buttons are locked until the thermostat is paired")
    world["thermostats"]["mine"]["mode"] = mode
    return f"The display says {mode}."


def sync(worlds: Worlds) -> None:
    """A thermostat unlocks when some account is paired with it."""
    assert worlds.user is not None
    mine, accounts = worlds.user["thermostats"].read("mine"), worlds.agent["accounts"]
    if mine["locked"] and any(accounts.read(a)["paired"] == mine["code"] for a in accounts):
        worlds.user["thermostats"]["mine"]["locked"] = False


def lock(world: World) -> None:
    """Sets a task up: the buttons are locked."""
    world["thermostats"]["mine"]["locked"] = True


def is_heating(world: World) -> bool:
    """Looks at the thermostat when the episode is over."""
    return world["thermostats"].read("mine")["mode"] == "heat"


TASK = Task(
    instruction="You are Ines Park, account A-1. Your new thermostat does not react, it is cold.",
    actions=(
        Action("read_display", party="user"),
        Action("pair", {"account": "A-1", "code": "4711"}),
        Action("set_mode", {"mode": "heat"}, party="user"),
    ),
    assertions=(Assertion("is_heating", party="user"),),
    basis=("database", "assertions"),
    initial=InitialState(calls=(SetUpCall("lock", party="user"),)),
)


def support_line() -> domains.Pack:
    """The data of both parties."""
    return domains.pack_in_memory(
        PackInfo(name="thermostats", version="1", source="made up", licence="MIT"),
        "thermostat",
        tables={"accounts": {"A-1": {"name": "Ines Park", "paired": None}}},
        user_tables={"thermostats": {"mine": {"code": "4711", "locked": False, "mode": "off"}}},
        tasks={"test": [TASK]},
        policy="Pair a thermostat by the code that it shows. The customer presses the buttons.",
    )


plugin = DomainPlugin(
    "thermostat",
    agent_tools,
    builtin_pack=support_line,
    user_tools=user_tools,
    functions={"user": {"lock": lock, "is_heating": is_heating}},
    sync=sync,
)
