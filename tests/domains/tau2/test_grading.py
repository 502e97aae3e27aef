"""tau2's rewards part by part, on its mock domain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment
from greenroom.domains.reward import Reward
from greenroom.domains.tasks import Action, Assertion, Task, respond
from greenroom.domains.tau2.grading import (
    all_parts,
    breakdown,
    grade_replayed,
    hashes,
    replay_calls,
    same_answer,
)
from greenroom.domains.tau2.recorded import TrajectoryBuilder, read_messages
from greenroom.store import outcome_of
from greenroom.users import ScriptedUser
from tests.conftest import TAU2_DATA as DATA

NEW = Action("create_task", {"user_id": "user_1", "title": "Call home"})
OTHER = Action("create_task", {"user_id": "user_1", "title": "Call mum"})
DONE = Action("update_task_status", {"task_id": "task_1", "status": "completed"})


@pytest.fixture(scope="module")
def mock() -> Domain:
    return load_domain("mock", DATA)


def task(**changes: Any) -> Task:
    raw: dict[str, Any] = {"evaluation_criteria": {"actions": [], "env_assertions": []}}
    fields: dict[str, Any] = {"raw": raw, "basis": ("database",)}
    return Task(**(fields | changes))


def graded(mock: Domain, wanted: Task, *happened: Action | str) -> Reward:
    """The reward of calls, and of texts of the agent."""
    builder, worlds = TrajectoryBuilder(), mock.worlds(wanted)
    for one in happened:
        if isinstance(one, str):
            builder.say("agent", one)
        else:
            result = mock.call(worlds, one)
            builder.call(one, result.observation, failed=result.failed)
    replayed = replay_calls(mock, wanted, builder.trajectory)
    assert replayed.differences == ()
    truth = mock.play_out(wanted.actions, wanted)
    return grade_replayed(mock, wanted, truth, builder.trajectory, replayed.worlds)


@pytest.mark.tau2_data
def test_the_database(mock: Domain) -> None:
    wanted = task(actions=(NEW,))
    assert graded(mock, wanted, NEW).value == 1.0
    assert graded(mock, wanted, Action("get_users"), NEW, Action("nothing_known")).value == 1.0
    assert graded(mock, wanted).value == 0.0
    assert graded(mock, wanted, OTHER).value == 0.0
    assert graded(mock, wanted, NEW, DONE).value == 0.0
    two = task(actions=(NEW, OTHER))
    assert graded(mock, two, NEW, OTHER).value == 1.0
    assert graded(mock, two, OTHER, NEW).value == 0.0


@pytest.mark.tau2_data
def test_the_users_database_counts(mock: Domain) -> None:
    read = Action("dismiss_notification", {"notification_id": "notif_1"}, party="user")
    assert graded(mock, task(actions=(read,)), read).value == 1.0
    assert graded(mock, task(), read).value == 0.0


@pytest.mark.tau2_data
def test_an_empty_list_is_not_an_empty_object(mock: Domain) -> None:
    statuses: tuple[Any, ...] = ([], {})
    empty = [Action(DONE.name, {**DONE.kwargs, "status": status}) for status in statuses]
    assert graded(mock, task(actions=(empty[0],)), empty[0]).value == 1.0
    found = graded(mock, task(actions=(empty[0],)), Action("get_users"), empty[1])
    assert found.value == 0.0
    assert hashes(mock, found.worlds) != hashes(mock, found.truth.worlds)


@pytest.mark.tau2_data
def test_a_task_that_says_nothing_of_databases(mock: Domain) -> None:
    free = task(raw={"evaluation_criteria": {"actions": None}}, basis=("database", "outputs"))
    reward = graded(mock, free, NEW)
    assert reward.value == 1.0
    assert breakdown(reward, free) == {"COMMUNICATE": 1.0}
    without = task(raw={"evaluation_criteria": None}, basis=())
    assert graded(mock, without, NEW).value == 1.0
    assert graded(mock, task(), NEW).value == 0.0  # an empty list of actions asks for no change


@pytest.mark.tau2_data
def test_all_that_the_agent_wrote_counts(mock: Domain) -> None:
    wanted = task(outputs=("help you", "1000.5"), basis=("outputs",))
    # The greeting says the first.
    assert graded(mock, wanted, "It is $1,000.50.").value == 1.0
    aside = Action("get_users", aside="The sum is 1,000.5")
    assert graded(mock, wanted, aside).value == 1.0
    assert graded(mock, wanted, "It is 999.").value == 0.0
    with_comma = task(outputs=("1,000",), basis=("outputs",))
    assert graded(mock, with_comma, "It is 1,000.").value == 0.0


@pytest.mark.tau2_data
def test_actions(mock: Domain) -> None:
    wanted = task(actions=(DONE,), basis=("actions",))
    assert graded(mock, wanted, DONE).value == 1.0
    # Without names, the arguments of the call are compared: fewer of them are enough.
    assert graded(mock, wanted, Action("update_task_status")).value == 1.0
    by_user = replace(DONE, party="user")
    assert graded(mock, wanted, by_user).value == 1.0
    more = replace(DONE, kwargs={**DONE.kwargs, "note": "x"})
    assert graded(mock, wanted, more).value == 0.0
    named = task(actions=(replace(DONE, compared=("task_id",)),), basis=("actions",))
    assert graded(mock, named, more).value == 1.0
    nothing = task(actions=(replace(DONE, compared=()),), basis=("actions",))
    assert graded(mock, nothing, Action("update_task_status", {"task_id": 1})).value == 1.0
    assert graded(mock, nothing).value == 0.0


@pytest.mark.tau2_data
def test_assertions(mock: Domain) -> None:
    done = Assertion("assert_task_status", {"task_id": "task_1", "expected_status": "completed"})
    wanted = task(assertions=(done,), basis=("assertions",))
    assert graded(mock, wanted, DONE).value == 1.0
    assert graded(mock, wanted).value == 0.0
    not_done = task(assertions=(replace(done, expected=False),), basis=("assertions",))
    assert graded(mock, not_done).value == 1.0
    missing = replace(done, kwargs={"task_id": "task_9", "expected_status": "completed"})
    (result,) = graded(mock, task(assertions=(missing,), basis=("assertions",))).assertions
    assert not result.met
    assert result.error is not None
    assert result.error.endswith("Task task_9 not found")
    parts = all_parts(graded(mock, wanted, DONE))
    assert parts == {
        "DB": 0.0,
        "ENV_ASSERTION": 1.0,
        "ACTION": 1.0,
        "COMMUNICATE": 1.0,
        "NL_ASSERTION": 1.0,
    }


@pytest.mark.tau2_data
def test_history_is_replayed_and_counts(mock: Domain) -> None:
    index, wanted = next(
        (index, one)
        for index, one in enumerate(mock.tasks())
        if one.initial is not None and one.initial.messages
    )
    assert wanted.initial is not None
    (created,) = wanted.initial.past_calls
    assert created.name == "create_task"
    assert "task_2" in mock.worlds(wanted).agent["tasks"]
    assert mock.edition.grade is not None
    messages = [*wanted.initial.messages, {"role": "user", "content": "###STOP###"}]
    trajectory = read_messages(messages, wanted, mock.edition.greeting)
    assert list(trajectory.calls()) == []
    again = replace(wanted, actions=(created,), basis=("actions", "outputs"), outputs=("task_2",))
    assert graded(mock, again).value == 1.0
    assert mock.edition.grade(mock, index, "base", trajectory, mock.worlds()).value == 0.0


def test_answers_are_compared_as_json() -> None:
    assert same_answer('{"a": 1,"b":2}', '{"b": 2, "a": 1}')
    assert same_answer("text", "text")
    assert not same_answer("text", '"text2"')


def played(mock: Domain, calls: int, *, max_steps: int | None = None) -> Environment:
    environment = Environment(mock, ScriptedUser(), split="base", max_steps=max_steps)

    async def play() -> None:
        await environment.reset(0)
        for _ in range(calls):
            await environment.step(Action("nothing_known"))
        if not environment.over:
            await environment.step(respond("Bye."))

    anyio.run(play)
    return environment


@pytest.mark.tau2_data
def test_how_episodes_end(mock: Domain) -> None:
    fine = played(mock, 9)
    assert fine.done
    assert fine.reward is not None
    ended = played(mock, 10)
    assert (ended.over, ended.done, ended.reward) == (True, False, None)
    assert outcome_of(None, over=True, too_many_errors=ended.too_many_errors) == "too_many_errors"
    # The opening, two messages for each of the calls, what the agent says and the answer.
    in_time, too_late = played(mock, 2, max_steps=8), played(mock, 2, max_steps=7)
    assert in_time.done
    assert in_time.used_steps == 7
    assert (too_late.done, too_late.over, too_late.reward) == (False, True, None)


@pytest.mark.tau2_data
def test_calls_made_at_once_and_their_results_are_two_steps(mock: Domain) -> None:
    environment = Environment(mock, ScriptedUser(), split="base")

    async def play() -> None:
        await environment.reset(0)
        await environment.step(Action("get_users"))
        await environment.step(Action("get_users", joined=True))
        await environment.step(Action("get_users", joined=True))

    anyio.run(play)
    assert environment.used_steps == 3


@pytest.mark.tau2_data
def test_an_agent_alone_ends_with_one_step() -> None:
    alone = load_domain("mock", DATA, {"solo": "true"})
    environment = Environment(alone, ScriptedUser(), split="base", max_steps=4)

    async def play() -> None:
        await environment.reset(0)
        await environment.step(Action("get_users"))
        await environment.step(Action("done"))

    anyio.run(play)
    assert environment.used_steps == 3
    assert environment.done
