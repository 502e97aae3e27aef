"""Both worlds of telecom over the official data, stepped call by call."""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from greenroom.domains.tau2.telecom.account_tools import agent_tools
from greenroom.domains.tau2.telecom.carrier_records import read_tables
from greenroom.domains.tau2.telecom.edition import FUNCTIONS, user_tools
from greenroom.domains.tau2.telecom.hashing import hash_world
from greenroom.domains.tau2.telecom.phone_records import read_user_tables
from greenroom.domains.tau2.telecom.sync import sync
from greenroom.domains.world import Base, World
from greenroom.domains.worlds import Worlds
from tests.conftest import TAU2_DATA

DATA = TAU2_DATA / "telecom"
LINE = {"customer_id": "C1001", "line_id": "L1002"}


@cache
def bases() -> tuple[Base, Base]:
    """The official databases of the carrier and of the user."""
    carrier, user = (
        tomllib.loads((DATA / name).read_text()) for name in ("db.toml", "user_db.toml")
    )
    return Base(read_tables(carrier)), Base(read_user_tables(user))


@cache
def official_tasks() -> list[dict[str, Any]]:
    """The records of all 2,285 tasks."""
    return json.loads(gzip.decompress((DATA / "tasks.json.gz").read_bytes()))


def task(task_id: str) -> dict[str, Any]:
    """The record of one task."""
    return next(record for record in official_tasks() if record["id"] == task_id)


class Answer(NamedTuple):
    """What a call gave."""

    text: str
    failed: bool


def _fresh() -> Worlds:
    carrier, user = bases()
    return Worlds(World(carrier), World(user))


@dataclass
class Play:
    """One episode without an agent or a user: calls, set-up, hashes."""

    worlds: Worlds = field(default_factory=_fresh)

    def set_up(self, initial: Mapping[str, Any] | None) -> Play:
        """Run the set-up calls of a task's initial state."""
        calls: list[dict[str, Any]] = (initial or {}).get("initialization_actions") or []
        for call in calls:
            party = "user" if call["env_type"] == "user" else "agent"
            tools = user_tools if party == "user" else agent_tools
            name, world = call["func_name"], self.worlds.of(party)
            function = tools[name].function if name in tools else FUNCTIONS[party][name]
            function(world, **call["arguments"])
            sync(self.worlds)
        return self

    def call(self, party: str, name: str, /, **arguments: Any) -> Answer:
        """Call a tool of a party."""
        tools = user_tools if party == "user" else agent_tools
        result = tools[name].call(self.worlds.of("user" if party == "user" else "agent"), arguments)
        sync(self.worlds)
        return Answer(result.observation, result.failed)

    def user(self, name: str, **arguments: Any) -> str:
        """A call of the user; its text."""
        return self.call("user", name, **arguments).text

    def agent(self, name: str, **arguments: Any) -> str:
        """A call of the agent; its text."""
        return self.call("agent", name, **arguments).text

    @property
    def hashes(self) -> list[str]:
        """tau2's hashes of the carrier's and of the user's world."""
        assert self.worlds.user is not None
        return [hash_world(self.worlds.agent), hash_world(self.worlds.user)]


def play_task(task_id: str) -> Play:
    """The episode of a task after its set-up."""
    return Play().set_up(task(task_id)["initial_state"])


def follow_gold(play: Play, record: Mapping[str, Any]) -> Play:
    """Make the calls that the task names."""
    for action in record["evaluation_criteria"]["actions"]:
        play.call(action["requestor"], action["name"], **action["arguments"])
    return play
