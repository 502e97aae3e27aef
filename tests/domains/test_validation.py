from __future__ import annotations

from typing import Any

import pytest

from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action, Task, respond
from greenroom.domains.validation import TaskProblem, validate_tasks
from tests.domains.small import TASKS, small_domain


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


def test_a_twin_is_found() -> None:
    domain = small_domain(TASKS[0], TASKS[1], TASKS[0])
    assert validate_tasks(domain) == [TaskProblem(2, "is the same as task 0")]
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
