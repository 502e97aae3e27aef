"""tau2's mock domain, tool by tool. The recorded traces cover upstream's answers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, play_episode
from greenroom.benchmark.config import RunConfig
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action, InitialState, Party, Task
from greenroom.domains.tau2 import mock
from greenroom.domains.tau2.grading import hashes
from greenroom.domains.tau2.hashing import hash_world
from greenroom.domains.tau2.records import merged_world, read_database
from greenroom.domains.tau_bench import Env, RewardActionInfo
from greenroom.domains.tools import Refused
from greenroom.domains.validation import validate_tasks
from greenroom.domains.world import Base, World
from greenroom.errors import DataError
from greenroom.users import ScriptedUser
from tests.conftest import TAU2_DATA as DATA

TASK = {"task_id": "task_1", "title": "Write", "status": "pending"}


@pytest.fixture
def agent() -> World:
    users = {"ann": {"user_id": "ann", "name": "Ann", "tasks": ["task_1"]}}
    tables = read_database(mock.MockDB, {"tasks": {"task_1": TASK}, "users": users})
    return World(Base(tables))


@pytest.fixture
def user() -> World:
    return World(Base(read_database(mock.MockUserDB, {})))


@cache
def official() -> Domain:
    return load_domain("mock", DATA)


def call(world: World, name: str, **arguments: Any) -> str:
    tools = mock.tools if name in mock.tools else mock.user_tools
    return tools[name].call(world, arguments).observation


def test_a_task_is_numbered_by_the_tasks_there_are(agent: World) -> None:
    created = json.loads(call(agent, "create_task", user_id="ann", title="Read"))
    assert created == {
        "task_id": "task_2",
        "title": "Read",
        "description": None,
        "status": "pending",
    }
    assert call(agent, "get_users") == (
        '[{"user_id": "ann", "name": "Ann", "tasks": ["task_1", "task_2"]}]'
    )
    assert mock.assert_number_of_tasks(agent, user_id="ann", expected_number=2)
    assert not mock.assert_number_of_tasks(agent, user_id="ann", expected_number=1)


def test_a_task_of_other_types_is_refused_before_anything_is_stored(agent: World) -> None:
    before = hash_world(agent)
    answer = call(agent, "create_task", user_id="ann", title=7)
    assert answer.startswith("Error: 1 validation error for Task\ntitle")
    assert call(agent, "create_task", user_id="bob", title=7) == "Error: User bob not found"
    assert hash_world(agent) == before


def test_a_status_is_stored_as_it_comes(agent: World) -> None:
    assert json.loads(call(agent, "update_task_status", task_id="task_1", status=["x"]))[
        "status"
    ] == ["x"]
    assert mock.assert_task_status(agent, task_id="task_1", expected_status=["x"])
    with pytest.raises(Refused, match="Task task_9 not found"):
        mock.assert_task_status(agent, task_id="task_9", expected_status="pending")


def test_the_user_has_an_inbox_of_their_own(agent: World, user: World) -> None:
    before = hash_world(agent)
    assert call(user, "check_notifications") == "[]"
    mock.add_notification(user, notification_id="n", message="Hello")
    assert call(user, "check_notifications") == (
        '[{"notification_id": "n", "message": "Hello", "status": "unread", "task_id": null}]'
    )
    assert call(user, "dismiss_notification", notification_id="n") == "Notification n dismissed"
    assert mock.assert_notification_status(user, notification_id="n", expected_status="read")
    assert (
        call(user, "dismiss_notification", notification_id=2) == "Error: Notification 2 not found"
    )
    assert hash_world(agent) == before


def test_a_database_given_to_the_other_party_lacks_its_tables(agent: World, user: World) -> None:
    assert call(agent, "check_notifications") == (
        "Error: 'MockDB' object has no attribute 'notifications'"
    )
    assert call(user, "get_users") == "Error: 'MockUserDB' object has no attribute 'users'"
    assert call(user, "update_task_status", task_id="t", status="x") == (
        "Error: 'MockUserDB' object has no attribute 'tasks'"
    )


def test_initial_data_merges_into_records_and_adds_new_ones(agent: World) -> None:
    base = agent.base
    tasks = {"task_1": {"title": "Rewrite"}, "task_2": TASK | {"task_id": "task_2"}}
    data = {"tasks": tasks, "users": {"ann": {"tasks": ["task_2"]}}}
    agent = merged_world(agent, [mock.MockDB], data)
    assert agent["tasks"].read("task_1") == TASK | {"title": "Rewrite", "description": None}
    assert list(agent["tasks"]) == ["task_1", "task_2"]
    assert agent["users"].read("ann") == {"user_id": "ann", "name": "Ann", "tasks": ["task_2"]}
    assert base.record("tasks", "task_1")["title"] == "Write"


@pytest.mark.tau2_data
def test_the_official_tasks_are_looked_at_without_a_crash() -> None:
    """An assertion about a task that nobody creates finds nothing: it does not hold."""
    problems = validate_tasks(official())
    assert {problem.task_index for problem in problems} == {2, 7, 8}


VALUES = st.sampled_from(
    ["user_1", "user_9", "task_1", "task_2", "notif_1", "completed", None, 7, ["x"], {"v": 1}]
)
NAMES = st.sampled_from([*mock.tools, *mock.user_tools, "think"])
KEYWORDS = st.sampled_from(
    ["user_id", "title", "description", "task_id", "status", "summary", "notification_id", "self"]
)


@st.composite
def actions(draw: st.DrawFn) -> Action:
    party: Party = "agent" if draw(st.booleans()) else "user"
    name = draw(NAMES)
    tool = mock.tools.get(name) or mock.user_tools.get(name)
    known = [] if tool is None else [*signature(tool.function).parameters][1:]
    arguments = {key: draw(VALUES) for key in known if draw(st.integers(0, 9))}
    return Action(name, arguments | draw(st.dictionaries(KEYWORDS, VALUES, max_size=1)), party)


@pytest.mark.tau2_data
@given(st.lists(actions(), max_size=15), st.integers(0, 9))
def test_neither_party_reaches_the_others_database(calls: list[Action], index: int) -> None:
    domain = official()
    task = domain.task(index)
    worlds, other = domain.worlds(task), domain.worlds(task)
    apart = worlds.user is not worlds.agent
    before = hashes(domain, other)
    answers: list[tuple[str, list[str | None]]] = []
    for action in calls:
        agent, user = hashes(domain, worlds)
        answer = domain.call(worlds, action).observation
        after = hashes(domain, worlds)
        answers.append((answer, after))
        if apart:
            assert (after[0] == agent) or action.party == "agent"
            assert (after[1] == user) or action.party == "user"
    assert hashes(domain, other) == before
    replayed = [(domain.call(other, one).observation, hashes(domain, other)) for one in calls]
    assert replayed == answers


@pytest.mark.tau2_data
def test_a_pack_has_to_describe_the_tools() -> None:
    domain = official()
    silent = Domain(domain.edition, replace(domain.pack, tool_infos=()))
    with pytest.raises(DataError, match=r"tools\.json is missing"):
        _ = silent.tool_infos


@pytest.mark.tau2_data
def test_tau_benchs_face_shows_tau2s_hashes() -> None:
    env = Env(official(), ScriptedUser(), task_index=0)
    env.reset(0)
    expected = json.loads((DATA / "mock" / "initial_hashes.json").read_text())
    assert env.get_data_hash() == expected["agent"]
    for action in env.task.actions:
        env.step(action)
    done = env.step({"name": "respond", "kwargs": {"content": "Done."}})
    assert done.reward == 1.0
    assert done.info.reward_info is not None
    assert isinstance(done.info.reward_info.info, RewardActionInfo)
    assert done.info.reward_info.info.gt_data_hash == env.get_data_hash()


@pytest.mark.tau2_data
def test_initial_data_of_the_user_gives_their_database_to_both() -> None:
    domain = official()
    inbox = {"notifications": {"notif_1": {"status": "read"}}}
    worlds = domain.worlds(Task(initial=InitialState(user_data=inbox)))
    assert worlds.agent is worlds.user
    assert worlds.agent["notifications"].read("notif_1")["status"] == "read"
    answer = domain.call(worlds, Action("get_users")).observation
    assert answer == "Error: 'MockUserDB' object has no attribute 'users'"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"tasks": {"task_1": {"title": 7}}}, r"tasks\.task_1\.title: Input should be"),
        ({"tasks": {"task_2": {"title": "x"}}}, r"tasks\.task_2\.task_id: Field required"),
        ({"jobs": {}}, "jobs"),
        ({"tasks": ["task_1"]}, "tasks"),
    ],
)
def test_initial_data_that_does_not_fit_is_refused_with_its_place(
    agent: World, data: dict[str, Any], place: str
) -> None:
    with pytest.raises(DataError, match=place):
        merged_world(agent, [mock.MockDB], data)


@pytest.mark.tau2_data
@pytest.mark.anyio
async def test_an_agent_cannot_call_the_users_tools() -> None:
    environment = Environment(official(), ScriptedUser())
    await environment.reset(0)
    step = await environment.step(Action("check_notifications", party="user"))
    assert step.observation == "Error: Tool 'check_notifications' not found."
    assert step.action.party == "agent"


@pytest.mark.tau2_data
@pytest.mark.parametrize("solo", ["false", "true"])
def test_the_oracle_solves_all_that_the_ground_truth_solves(solo: str) -> None:
    domain = load_domain("mock", DATA, {"solo": solo})
    context = RunContext(domain, find_strategy("oracle"), RunConfig(task_split="base"))
    unsolved = {
        task.id
        for index, task in enumerate(domain.tasks("base"))
        if anyio.run(play_episode, context, index).reward != 1.0
    }
    assert unsolved == {
        "update_task_with_history_and_env_assertions",
        "update_task_with_user_tools",
    }
