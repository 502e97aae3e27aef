"""Domains in which both parties act: whose call it is, worlds, order, limits, replay."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.agents import Stage
from greenroom.agents.history import History, PastStep
from greenroom.agents.oracle import Oracle
from greenroom.benchmark.restoring import restore
from greenroom.domains import (
    Action,
    Domain,
    Environment,
    UserTools,
    World,
    Worlds,
    load_domain,
    respond,
)
from greenroom.domains.editions import Edition
from greenroom.domains.tasks import STOP
from greenroom.errors import EpisodeOver, InputError
from greenroom.users import ScriptedUser
from tests.conftest import TAU2_DATA as TAU2
from tests.domains.small import small_domain
from tests.domains.thermostats import thermostats

pytestmark = pytest.mark.anyio

THERMOSTATS = thermostats()

PAIR = Action("pair", {"account": "A-1", "code": "4711"})
READ = Action("read_display", party="user")
HEAT = Action("set_mode", {"mode": "heat"}, party="user")


async def played(domain: Domain, user: Any, *actions: Action) -> Environment:
    environment = Environment(domain, user)
    await environment.reset(0)
    for action in actions:
        await environment.step(action)
    return environment


async def test_calls_of_the_user_stand_before_their_answer() -> None:
    user = ScriptedUser([READ, "4711", HEAT, f"Warm. {STOP}"], opening_calls=[READ])
    environment = await played(thermostats(), user, respond("Code?"), PAIR, respond("Heat it."))
    assert [call.action for call in environment.opening_calls] == [READ]
    assert [[call.action for call in step.user_calls] for step in environment.steps] == [
        [READ],
        [],
        [HEAT],
    ]
    order = [call.action.name for call in environment.trajectory.calls()]
    assert order == ["read_display", "read_display", "pair", "set_mode"]
    assert environment.reward is not None
    assert environment.reward.value == 1.0


async def test_what_the_agent_does_reaches_the_users_world_by_the_sync_alone() -> None:
    user = ScriptedUser([HEAT, "It is locked.", HEAT, STOP])
    environment = await played(thermostats(), user, respond("Heat."), PAIR, respond("Again."))
    first, _, last = environment.steps
    assert first.user_calls[0].failed
    assert first.user_calls[0].observation.startswith("Error: the buttons are locked")
    assert not last.user_calls[0].failed
    assert environment.reward is not None
    assert environment.reward.parts == {
        "database": True,
        "assertions": True,
        "actions": True,
        "outputs": True,
        "judged": True,
    }


async def test_a_user_who_does_nothing_leaves_differences_in_their_own_tables() -> None:
    environment = await played(thermostats(), ScriptedUser(), PAIR, respond("Done."))
    reward = environment.reward
    assert reward is not None
    assert reward.value == 0.0
    assert {(one.table, one.path) for one in reward.differences} == {("user.thermostats", "mode")}


@pytest.mark.parametrize("name", ["read_display", "set_mode"])
async def test_an_agent_has_no_tools_of_the_user(name: str) -> None:
    environment = await played(thermostats(), ScriptedUser(), Action(name, {}))
    assert environment.steps[0].observation == f"Unknown action {name}"


async def test_a_user_has_no_tools_of_the_agent() -> None:
    user = ScriptedUser([Action("pair", {"account": "A-1", "code": "4711"}), "Paired."])
    environment = await played(thermostats(), user, respond("Hello."))
    assert environment.steps[0].user_calls[0].observation == "Unknown action pair"
    assert not environment.worlds.agent.changes()


async def test_a_rule_between_the_worlds_that_fails_is_told_as_the_calls_result() -> None:
    domain = thermostats()

    def sync(worlds: Worlds) -> None:
        if worlds.agent["accounts"].read("A-1")["paired"]:
            raise KeyError("no such thermostat")

    broken = Domain(replace(domain.edition, sync=sync), domain.pack)
    environment = Environment(broken, ScriptedUser(["Hello."]))
    await environment.reset(0)
    step = await environment.step(Action("pair", {"account": "A-1", "code": "4711"}))
    assert (step.observation, step.failed) == ("Error: 'no such thermostat'", True)
    assert environment.world["accounts"].read("A-1")["paired"] == "4711"


async def test_an_assertion_that_raises_is_not_met_and_says_why() -> None:
    domain = thermostats()

    def is_heating(world: World) -> bool:
        raise KeyError("display")

    functions = {"user": {**domain.edition.functions["user"], "is_heating": is_heating}}
    broken = Domain(replace(domain.edition, functions=functions), domain.pack)
    environment = Environment(broken, ScriptedUser())
    await environment.reset(0)
    await environment.step(respond("All done."))
    assert environment.reward is not None
    (result,) = environment.reward.assertions
    assert (result.met, result.error) == (False, "KeyError: 'display'")


async def test_tools_of_an_earlier_episode_do_nothing() -> None:
    kept: list[UserTools] = []

    class Keeping(ScriptedUser):
        def equip(self, tools: UserTools) -> None:
            kept.append(tools)
            super().equip(tools)

    environment = Environment(thermostats(), Keeping())
    await environment.reset(0)
    await environment.reset(0)
    with pytest.raises(EpisodeOver):
        await kept[0].call("read_display", {})
    assert "4711" in await kept[1].call("read_display", {})


async def test_a_user_who_acts_for_ever_runs_out_of_steps() -> None:
    class Restless(ScriptedUser):
        async def reply(self, content: str) -> str:
            while True:
                await self._make(READ)

    domain = thermostats()
    counting = Edition(
        domain.edition.tools,
        user_tools=domain.edition.user_tools,
        functions=domain.edition.functions,
        sync=domain.edition.sync,
        counts_messages=True,
        max_steps=20,
    )
    environment = await played(Domain(counting, domain.pack), Restless(), respond("Hello."))
    assert environment.over
    assert not environment.done
    assert environment.steps[0].observation == ""
    assert len(environment.steps[0].user_calls) == 10


async def test_a_script_that_acts_where_users_have_no_tools_is_told_so() -> None:
    with pytest.raises(InputError, match="users have no tools"):
        await played(small_domain(), ScriptedUser([READ, "Done."]), respond("Hello."))


@pytest.mark.parametrize("left_out", range(3))
async def test_the_oracle_asks_the_user_to_act(left_out: int) -> None:
    domain = thermostats()
    actions = domain.task(0).actions
    some = [action for place, action in enumerate(actions) if place != left_out]
    for wanted, reward in ((actions, 1.0), (some, 1.0 if left_out == 0 else 0.0)):
        environment = Environment(domain, ScriptedUser(does_as_asked=True))
        await environment.reset(0)
        await Oracle(domain, wanted, ()).play(Stage(environment))
        assert environment.reward is not None
        assert environment.reward.value == reward
    assert domain.decisive_actions(0) == (1, 2)


# Random calls of both parties


CALLS = st.sampled_from(
    [
        PAIR,
        Action("pair", {"account": "A-1", "code": "1"}),
        Action("pair", {"account": "B"}),
        Action("nothing"),
        READ,
        HEAT,
        Action("set_mode", {"mode": "off"}, party="user"),
        Action("set_mode", {"mode": ["x"]}, party="user"),
        Action("nothing", party="user"),
    ]
)
MOCK_CALLS = st.sampled_from(
    [
        Action("create_task", {"user_id": "user_1", "title": "x"}),
        Action("update_task_status", {"task_id": "task_1", "status": "completed"}),
        Action("update_task_status", {"task_id": "none", "status": "completed"}),
        Action("get_users"),
        Action("check_notifications", party="user"),
        Action("dismiss_notification", {"notification_id": "notif_1"}, party="user"),
        Action("dismiss_notification", party="user"),
    ]
)


@cache
def mock() -> Domain:
    return load_domain("mock", TAU2)


def history_of(environment: Environment) -> History:
    return History(
        environment.opening,
        tuple(PastStep(s.action, s.observation, s.user_calls) for s in environment.steps),
        environment.opening_calls,
    )


async def check_random_calls(domain: Domain, task: int, calls: list[Action]) -> None:
    """Random calls of both parties: neither corrupts the other, none leaks, all replay the same."""
    before = [repr(domain.worlds(domain.task(task)).touched_records())]
    user_lines: list[str | Action] = []
    agent: list[Action] = []
    for call in calls:
        if call.party == "user":
            user_lines += [call, "Done."]
            agent.append(respond("Please."))
        else:
            agent.append(call)
    environment = Environment(domain, ScriptedUser(user_lines), max_steps=1000)
    await environment.reset(task)
    own_tables = {id(environment.worlds.agent), id(environment.worlds.user)}
    for action in agent:
        if not environment.over:
            await environment.step(action)
    made = list(environment.trajectory.calls())
    assert [(c.action.party, c.action.name) for c in made] == [
        (c.party, c.name) for c in calls[: len(made)]
    ]
    again = Environment(domain, ScriptedUser(), max_steps=1000)
    if not environment.over:
        assert await restore(again, task, history_of(environment)) == ()
        assert again.worlds.touched_records() == environment.worlds.touched_records()
        assert again.worlds.changes() == environment.worlds.changes()
        assert not own_tables & {id(again.worlds.agent), id(again.worlds.user)}
    assert [repr(domain.worlds(domain.task(task)).touched_records())] == before


@settings(max_examples=60, deadline=None)
@given(st.lists(CALLS, max_size=12))
async def test_random_calls_at_the_thermostat(calls: list[Action]) -> None:
    await check_random_calls(THERMOSTATS, 0, calls)


@pytest.mark.tau2_data
@settings(max_examples=40, deadline=None)
@given(st.lists(MOCK_CALLS, max_size=10), st.sampled_from(["plain", "notified"]))
async def test_random_calls_in_mock(calls: list[Action], kind: str) -> None:
    domain = mock()
    ids = [task.id for task in domain.tasks()]
    wanted = "create_task_1" if kind == "plain" else "update_task_with_user_tools"
    await check_random_calls(domain, ids.index(wanted), calls)
