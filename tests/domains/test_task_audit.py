"""The audit finds each fault of a task, and names the task that it was compared with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.task_audit import FAULTS, FROM_RUNS, audit_tasks, finding_json
from greenroom.domains.tasks import REFUSAL, Action, Task
from tests.domains.small import TASKS, small_domain

HALL = Action("light", {"lamp": "hall"})
ATTIC = Action("light", {"lamp": "attic"})
END = Action("transfer_to_human_agents", {"summary": "s"})
WORDS = "You are Ida. You want the lamp of the hall to be lit before the guests arrive tonight."


def kinds(*tasks: Task) -> list[tuple[int, str]]:
    return [(one.task_index, one.kind) for one in audit_tasks(small_domain(*tasks))]


def test_sound_tasks_have_no_findings() -> None:
    assert kinds(Task("Light the hall.", (HALL,)), Task("Light the attic.", (ATTIC,))) == []


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (Task("", (HALL,)), "no-instruction"),
        (Task("x", (Action("fly"), HALL)), "bad-call"),
        (Task("x", (Action("light", {"lamp": "moon"}), HALL)), "ground-truth-fails"),
        (Task("x", (Action("light", {"lamp": "hall"}), END, ATTIC)), "against-policy"),
        (Task("x", (END,)), "solved-by-nothing"),
        (Task("x", (END,), tags=(REFUSAL,)), "silent-refusal"),
    ],
)
def test_each_fault_of_a_single_task_is_found(task: Task, kind: str) -> None:
    found = audit_tasks(small_domain(Task("Light the attic.", (ATTIC,)), task))
    assert kind in {one.kind for one in found if one.task_index == 1}
    assert all(one.task_index == 1 for one in found)
    assert all(one.kind in FAULTS for one in found)


def test_the_call_is_the_evidence() -> None:
    domain = small_domain(Task("x", (Action("light", {"lamp": "moon"}), HALL)))
    (finding,) = audit_tasks(domain)
    assert finding.evidence["observation"] == "Error: lamp not found"
    assert finding.evidence["call"] == {"name": "light", "kwargs": {"lamp": "moon"}}
    assert finding.evidence["writes"] is True
    written = finding_json(domain, "test", finding)
    assert (written["task_id"], written["kind"]) == (0, "ground-truth-fails")
    assert len(written["hash"]) == 12


def test_tasks_that_ask_for_the_same_are_found_by_how_alike_their_words_are() -> None:
    one = Task(WORDS, (HALL,))
    reworded = Task(WORDS.replace("tonight", "at nine"), (HALL,))
    other_words = Task("Your hall is dark, and you would like to see something there.", (HALL,))
    other_lamp = Task(WORDS.replace("tonight", "at nine"), (ATTIC,))
    assert kinds(one, one) == [(1, "duplicate")]
    assert kinds(one, reworded) == [(1, "near-duplicate")]
    assert kinds(one, other_words) == []
    assert kinds(one, other_lamp) == []  # alike, and it asks for another thing


def test_tasks_that_say_the_same_and_demand_another_thing_contradict_each_other() -> None:
    one = Task(WORDS, (HALL,))
    assert kinds(one, Task(WORDS, (ATTIC,))) == [(1, "contradictory")]
    assert kinds(one, Task(WORDS.upper(), (HALL,), ("10",))) == [(1, "contradictory")]
    # Another customer with the same words is another task.
    assert kinds(one, replace(one, user_id="bo", actions=(ATTIC,))) == []


def test_only_chosen_tasks_are_audited() -> None:
    domain = small_domain(Task("", (HALL,)), Task("", (ATTIC,)))
    called: list[None] = []
    found = audit_tasks(domain, indices=[1], on_task=lambda: called.append(None))
    assert [one.task_index for one in found] == [1]
    assert len(called) == 1


def test_what_lamps_demand_is_found_in_order() -> None:
    found = kinds(*TASKS, Task("", (END,)))
    assert found == sorted(found, key=lambda one: (one[0], list(FAULTS).index(one[1])))
    assert found[0] == (2, "solved-by-nothing")


@pytest.mark.parametrize("env", ["retail", "airline"])
def test_the_tasks_that_ship_have_no_findings(env: str) -> None:
    found = {one.kind for one in audit_tasks(load_domain(env))}
    assert found <= {"silent-refusal"}


@pytest.mark.official
def test_the_faults_of_tau_benchs_retail_tasks(official_retail: Domain) -> None:
    found = audit_tasks(official_retail, "test")
    by_kind = {kind: [one.task_index for one in found if one.kind == kind] for kind in FAULTS}
    assert by_kind["solved-by-nothing"] == [10, 12, 25, 50, 57, 65, 106]
    assert by_kind["duplicate"] == [95]
    # They differ in an amount of money that changes nothing, and in what is asked besides.
    assert by_kind["near-duplicate"] == [37, 72]
    assert not any(by_kind[kind] for kind in FROM_RUNS)
