"""Random calls of both parties: neither spoils the other's world, and no episode another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tau2.telecom.account_tools import agent_tools
from greenroom.domains.tau2.telecom.edition import user_tools
from greenroom.domains.tau2.telecom.lookups import look
from greenroom.domains.tau2.telecom.sync import sync
from greenroom.domains.tools import Toolset
from greenroom.domains.world import World
from tests.domains.tau2.telecom_play import Answer, Play, bases, official_tasks

Calls = list[tuple[str, str, dict[str, Any]]]

_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 20),
    st.floats(-2, 5),
    st.text(max_size=4),
    st.lists(st.just("C1001"), max_size=2),
    st.dictionaries(st.just("apn_name"), st.sampled_from(["internet", "broken", "x"])),
)
_FITTING: dict[str, st.SearchStrategy[Any]] = {
    "customer_id": st.sampled_from(["C1001", "C1002", "C1003", "C1004"]),
    "line_id": st.sampled_from([f"L100{n}" for n in range(1, 10)]),
    "bill_id": st.sampled_from([*(f"B100{n}" for n in range(1, 7)), "B1234321", "B00000001"]),
    "id": st.sampled_from(["C1001", "L1002", "B1003", "D1001", "P1002", "B00000001", "X"]),
    "gb_amount": st.sampled_from([2.0, 1, 0.5]),
    "limit": st.integers(-1, 12),
    "phone_number": st.sampled_from(["555-123-2002", "555-123-1003"]),
    "mode": st.sampled_from(["4g_5g_preferred", "4g_only", "3g_only", "2g_only", "5g"]),
    "apn_settings": st.fixed_dictionaries(
        {},
        optional={
            "apn_name": st.sampled_from(["internet", "broken"]),
            "mmsc_url": st.none(),
            "reset_at_reboot": st.booleans(),
        },
    ),
    "app_name": st.sampled_from(["messaging", "browser", "camera"]),
    "permission": st.sampled_from(["sms", "storage", "phone", "network", "camera"]),
}


def _arguments(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    fitting = {name: _FITTING.get(name, st.just("any")) for name in names}
    odd = {name: st.one_of(strategy, strategy, _ODD) for name, strategy in fitting.items()}
    some: dict[str, st.SearchStrategy[Any]] = {**odd, "extra": st.just(1)}
    none: dict[str, st.SearchStrategy[Any]] = {}
    return st.one_of(st.fixed_dictionaries(fitting), st.fixed_dictionaries(none, optional=some))


def _calls_of(party: str, tools: Toolset) -> st.SearchStrategy[tuple[str, str, dict[str, Any]]]:
    strategies = [
        st.tuples(
            st.just(party),
            st.just(name),
            _arguments(list(tool.info["function"]["parameters"]["properties"])),
        )
        for name, tool in tools.items()
    ]
    return st.one_of(strategies)


CALLS: st.SearchStrategy[Calls] = st.lists(
    st.one_of(_calls_of("agent", agent_tools), _calls_of("user", user_tools)), max_size=25
)
TASKS = st.integers(0, 2284).map(lambda index: official_tasks()[index])
_VPN_CALLS = st.sampled_from(["connect_vpn", "disconnect_vpn", "check_vpn_status"])


def _start(record: dict[str, Any]) -> Play:
    return Play().set_up(record["initial_state"])


def _played(record: dict[str, Any], calls: Calls) -> tuple[list[Answer], list[list[str]]]:
    play = _start(record)
    answers: list[Answer] = []
    hashes: list[list[str]] = []
    for party, name, arguments in calls:
        answers.append(play.call(party, name, **arguments))
        hashes.append(play.hashes)
    return answers, hashes


@pytest.mark.tau2_data
@given(TASKS, CALLS)
def test_calls_replay_to_the_same_answers_and_hashes(record: dict[str, Any], calls: Calls) -> None:
    before = json.dumps(calls)
    first = _played(record, calls)
    assert first == _played(record, calls)
    assert json.dumps(calls) == before  # no call changes what it was given


@pytest.mark.tau2_data
@given(TASKS, TASKS, CALLS, CALLS)
def test_episodes_at_the_same_time_do_not_meet(
    record: dict[str, Any], other: dict[str, Any], calls: Calls, others: Calls
) -> None:
    alone = _played(record, calls)
    play, parallel = _start(record), _start(other)
    answers: list[Answer] = []
    hashes: list[list[str]] = []
    for place, (party, name, arguments) in enumerate(calls):
        if place < len(others):
            his, its, given_to_it = others[place]
            parallel.call(his, its, **given_to_it)
        answers.append(play.call(party, name, **arguments))
        hashes.append(play.hashes)
    assert (answers, hashes) == alone


@pytest.mark.tau2_data
@given(record=TASKS, names=st.lists(_VPN_CALLS, max_size=6), beside=st.booleans())
def test_a_slow_vpn_stays_in_its_episode(
    record: dict[str, Any], names: list[str], *, beside: bool
) -> None:
    play = _start(record)
    slow = next(task for task in official_tasks() if "bad_vpn" in task["id"])
    if beside:
        _start(slow)
    text = " ".join(play.user(name) for name in [*names, "connect_vpn", "check_vpn_status"])
    assert ("PerformanceLevel.POOR" in text) is ("bad_vpn" in record["id"])


@pytest.mark.tau2_data
@given(TASKS, CALLS)
def test_a_call_reaches_the_other_world_by_the_sync_rule_alone(
    record: dict[str, Any], calls: Calls
) -> None:
    play = _start(record)
    for party, name, arguments in calls:
        mine, theirs = (0, 1) if party == "agent" else (1, 0)
        before = play.hashes
        tools = agent_tools if party == "agent" else user_tools
        own = play.worlds.of("agent" if party == "agent" else "user")
        result = tools[name].call(own, arguments)
        after = play.hashes
        assert after[theirs] == before[theirs]
        if not tools[name].writes:
            assert after[mine] == before[mine]
        before_sync = _contents(play)
        sync(play.worlds)
        assert _reached(before_sync, _contents(play)) <= {
            "surroundings.line_active",
            "surroundings.roaming_allowed",
            "surroundings.mobile_data_usage_exceeded",
            "surroundings.payment_request",
            "bills.status",
        }
        settled = play.hashes
        sync(play.worlds)
        assert play.hashes == settled  # a second sync finds nothing to do
        assert isinstance(result.observation, str)


def _contents(play: Play) -> dict[tuple[str, str], dict[str, Any]]:
    worlds = [play.worlds.of("agent"), play.worlds.of("user")]
    return {
        (table, key): json.loads(json.dumps(world[table].read(key)))
        for world in worlds
        for table in world
        for key in world[table]
    }


def _reached(before: dict[Any, Any], after: dict[Any, Any]) -> set[str]:
    assert before.keys() == after.keys()
    return {
        f"{place[0]}.{field}"
        for place, record in after.items()
        for field in record
        if record[field] != before[place][field]
    }


@pytest.mark.tau2_data
@given(TASKS, CALLS)
def test_the_shared_data_never_changes(record: dict[str, Any], calls: Calls) -> None:
    _played(record, calls)
    fresh = Play()
    assert fresh.hashes == [
        "304cf5ef059852e117ea801ab9a5efc24c9713ec887679dc2e30acceb4b6742d",
        "e1f3a8637388808221228ff3f87294444e6b64caf721f5eb243a85d0a9380b28",
    ]
    # Records that are only looked at are shared by all worlds: they are still the base's.
    for base in bases():
        world = World(base)
        for table in world:
            for key in world[table]:
                assert look(world, table, key) == base.record(table, key)
