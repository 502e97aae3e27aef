"""Random calls on the official databases of retail and airline stay within their world."""

from __future__ import annotations

import functools
import json
from hashlib import sha256
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.domains.tau2 import airline, retail
from greenroom.domains.tau2.airline_records import FlightDB
from greenroom.domains.tau2.hashing import hash_world, sorted_text
from greenroom.domains.tau2.records import Database, read_database
from greenroom.domains.tau2.retail_records import RetailDB
from greenroom.domains.tools import Toolset
from greenroom.domains.world import Base, World
from tests.conftest import TAU2_DATA as DATA

MODELS: dict[str, type[Database]] = {"retail": RetailDB, "airline": FlightDB}
TOOLS: dict[str, Toolset] = {"retail": retail.tools, "airline": airline.tools}
STRANGE: list[Any] = [None, True, 7, 1.5, "", "x", ["x"], {"v": "x"}, [], {}, [None], [{}], "é"]


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    observation: str
    hash: str


@functools.cache
def base(domain: str) -> Base:
    raw = json.loads((DATA / domain / "db.json").read_bytes())
    return Base(read_database(MODELS[domain], raw))


@functools.cache
def recorded(domain: str) -> list[Call]:
    """Every call of the recorded traces: they reach all tools, with arguments that fit together."""
    calls: list[Call] = []
    with (DATA / "conformance-tau2.jsonl").open() as lines:
        for trace in map(json.loads, lines):
            if trace.get("domain") == domain:
                calls += [
                    Call(step["name"], step["arguments"])
                    for step in trace["steps"]
                    if step.get("name") in TOOLS[domain]
                ]
    return calls


@functools.cache
def readings(domain: str) -> list[Call]:
    tools = TOOLS[domain]
    return [call for call in recorded(domain) if not tools[call.name].writes][:200]


def play(domain: str, world: World, call: Call) -> Answer:
    observation = TOOLS[domain][call.name].call(world, call.arguments).observation
    return Answer(observation, hash_world(world))


@st.composite
def spoiled_calls(draw: st.DrawFn, domain: str) -> Call:
    """A recorded call; perhaps one of its arguments is strange."""
    call = draw(st.sampled_from(recorded(domain)))
    if call.arguments and draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from(sorted(call.arguments)))
        return Call(call.name, call.arguments | {name: draw(st.sampled_from(STRANGE))})
    return call


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize("domain", ["retail", "airline"])
@settings(max_examples=40)
@given(data=st.data())
def test_calls_stay_in_their_world_and_replay_to_the_same_hashes(
    domain: str, data: st.DataObject
) -> None:
    turns = st.lists(st.tuples(st.booleans(), spoiled_calls(domain)), min_size=1, max_size=12)
    calls = data.draw(turns)
    arguments = json.dumps([call.arguments for _, call in calls])
    untouched = [play(domain, World(base(domain)), call) for call in readings(domain)[:5]]

    worlds = {True: World(base(domain)), False: World(base(domain))}
    answers = [play(domain, worlds[side], call) for side, call in calls]

    for side, world in worlds.items():
        again = World(base(domain))
        mine = [(call, answer) for (turn, call), answer in zip(calls, answers, strict=True)
                if turn is side]  # fmt: skip
        assert [play(domain, again, call) for call, _ in mine] == [answer for _, answer in mine]
        assert again.changes() == world.changes()
    assert [play(domain, World(base(domain)), call) for call in readings(domain)[:5]] == untouched
    assert json.dumps([call.arguments for _, call in calls]) == arguments


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_a_world_where_everything_was_called_leaves_the_base_as_it_was(domain: str) -> None:
    expected = json.loads((DATA / domain / "initial_hashes.json").read_text())["agent"]
    fresh = World(base(domain))
    before = [play(domain, fresh, call) for call in readings(domain)]
    assert before[0].hash == expected
    busy = World(base(domain))
    for call in recorded(domain):
        TOOLS[domain][call.name].call(busy, call.arguments)
    assert hash_world(busy) == sha256(_whole_text(busy).encode()).hexdigest()
    assert hash_world(busy) != expected
    fresh = World(base(domain))
    assert [play(domain, fresh, call) for call in readings(domain)] == before


def _whole_text(world: World) -> str:
    return sorted_text(
        {name: {key: world[name].read(key) for key in world[name]} for name in world}
    )
