from __future__ import annotations

from typing import Any

import pytest

from greenroom.benchmark.task_warnings import task_warnings
from greenroom.domains.domain import Domain
from greenroom.domains.editions import Edition
from greenroom.domains.tasks import (
    Action,
    Assertion,
    InitialState,
    SetUpCall,
    Task,
    respond,
)
from greenroom.domains.tools import Refused
from greenroom.domains.validation import TaskProblem, solved_by_nothing, validate_tasks
from greenroom.domains.world import World
from tests.domains.small import TASKS, small_domain, small_pack, tools


def action(**kwargs: Any) -> Action:
    return Action("light", kwargs)


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        (Task("  ", (action(lamp="hall"),)), "has no instruction"),
        (Task("x", (Action("fly"), action(lamp="hall"))), "action 0 (fly): is not a tool"),
        (Task("x", (action(lamp=5), action(lamp="hall"))), "lamp: 5 is not of type 'string'"),
        (Task("x", (action(),)), "'lamp' is a required property"),
        (Task("x", (action(lamp="hall", more=1),)), "'more' was unexpected"),
        (Task("x", (action(lamp="moon"),), ("1",)), "action 0 (light) fails: Error: lamp not"),
        (Task("x", (action(lamp="moon"),)), "an agent that does nothing would solve it"),
        (Task("x", (respond("hello"),)), "an agent that does nothing would solve it"),
        (Task("x"), "an agent that does nothing would solve it"),
    ],
)
def test_each_problem_is_found(task: Task, problem: str) -> None:
    found = validate_tasks(small_domain(TASKS[0], task))
    assert found
    assert {p.task_index for p in found} == {1}
    assert any(problem in p.problem for p in found), found


def tended(*tasks: Task) -> Domain:
    """Lamps with functions that tasks may call."""

    def break_lamp(world: World, lamp: str) -> None:
        world["lamps"][lamp]["watts"] = 0

    def assert_lit(world: World, lamp: str) -> bool:
        if lamp not in world["lamps"]:
            raise Refused("there is no such lamp")
        return world["lamps"].read(lamp)["lit"]

    edition = Edition(
        tools, functions={"agent": {"break_lamp": break_lamp, "assert_lit": assert_lit}}
    )
    return Domain(edition, small_pack(*tasks))


def lit(lamp: str, *, expected: bool = True) -> Assertion:
    return Assertion("assert_lit", {"lamp": lamp}, expected=expected)


def set_up(name: str, lamp: str) -> InitialState:
    return InitialState(calls=(SetUpCall(name, {"lamp": lamp}, "agent"),))


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        (
            Task("x", (action(lamp="hall"),), assertions=(lit("attic"),), basis=("assertions",)),
            "its ground truth does not fulfil the assertion assert_lit",
        ),
        (
            Task("x", (action(lamp="hall"),), assertions=(lit("cellar"),), basis=("assertions",)),
            "its ground truth does not fulfil the assertion assert_lit",
        ),
        (
            Task("x", assertions=(lit("attic", expected=False),), basis=("assertions",)),
            "an agent that does nothing would solve it: its assertions hold from the start",
        ),
        (
            Task("x", (action(lamp="hall"),), initial=set_up("break_lamp", "moon")),
            "The set-up fails in break_lamp: 'moon'.",
        ),
        (
            Task("x", (action(lamp="hall"),), initial=set_up("lose_lamp", "hall")),
            "The set-up fails: lamps has no function 'lose_lamp' of the agent that tasks call.",
        ),
        (
            Task("x", (action(lamp="hall"),), ("1",), user_tools=("press",)),
            "'press' in user_tools is not a tool of the user",
        ),
        (
            Task("x", assertions=(Assertion("assert_lost"),), basis=("assertions",)),
            "lamps has no function 'assert_lost' of the agent that tasks call.",
        ),
        (
            Task("x", (Action("light", {"lamp": "hall"}, party="user"),), ("1",)),
            "action 0 (light): is not a tool of the user of this domain",
        ),
    ],
)
def test_assertions_set_ups_and_parties_are_checked(task: Task, problem: str) -> None:
    domain = tended(task)
    assert problem in [found.problem for found in validate_tasks(domain)]
    idle = "does nothing" in problem
    assert solved_by_nothing(domain) == ([0] if idle else [])
    # What a run says is said at once; only `tasks validate` looks closer.
    quiet = ("fulfil", "user_tools", "assert_lost")
    assert list(task_warnings(domain, "test", [0])) or any(word in problem for word in quiet)


def test_a_request_that_has_to_be_refused_may_leave_nothing_to_do() -> None:
    domain = small_domain(TASKS[0], Task("x", tags=("refusal",)), Task("y", tags=("pressure",)))
    assert [problem.task_index for problem in validate_tasks(domain)] == [2]
    assert solved_by_nothing(domain) == [1, 2]


def test_what_needs_a_judge_is_not_said_to_be_solved_by_nothing() -> None:
    task = Task("x", judged=("The agent is polite.",), basis=("database", "judged"))
    assert solved_by_nothing(small_domain(task)) == []
    assert solved_by_nothing(small_domain(Task("x"))) == [0]


def test_a_task_with_another_set_up_is_another_task() -> None:
    one = Task("x", (action(lamp="hall"),), initial=set_up("break_lamp", "hall"))
    other = Task("x", (action(lamp="hall"),), initial=set_up("break_lamp", "attic"))
    assert validate_tasks(tended(one, other)) == []


def test_a_twin_is_found() -> None:
    domain = small_domain(TASKS[0], TASKS[1], TASKS[0])
    assert validate_tasks(domain) == [TaskProblem(2, "is the same as task 0", "duplicate")]
    assert validate_tasks(domain, indices=[0, 1]) == []


def test_sound_tasks_have_no_problem() -> None:
    talk = Task("x", (respond("hello"), action(lamp="hall")))
    assert validate_tasks(small_domain(*TASKS[:2], talk)) == []


def test_the_built_in_tasks_are_sound(retail: Domain) -> None:
    assert validate_tasks(retail) == []


@pytest.mark.official
def test_official_tasks_with_known_faults(
    official_retail: Domain, official_airline: Domain
) -> None:
    of_airline = validate_tasks(official_airline, "test")
    assert len(of_airline) == 19
    by_doing_nothing = [*of_airline, *validate_tasks(official_retail, "dev")]
    assert all("an agent that does nothing" in one.problem for one in by_doing_nothing)
    faulty = {problem.task_index for problem in validate_tasks(official_retail, "test")}
    assert 12 in faulty
    assert 0 not in faulty
