"""What runs of several agents say of tasks."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.analysis.counts import counts_of
from greenroom.benchmark.task_audits import findings_of_runs
from greenroom.domains.content import task_set
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action, Task
from greenroom.errors import InputError
from greenroom.store import EpisodeRecord, RunRecord, Store
from tests.domains.small import small_domain
from tests.store.samples import sample_episode, sample_run

HALL, ATTIC = (Action("light", {"lamp": lamp}) for lamp in ("hall", "attic"))
INDICES = [0, 1, 2]


@pytest.fixture
def lamps() -> Domain:
    return small_domain(
        Task("Light the hall.", (HALL,)),
        Task("Light both.", (HALL, ATTIC)),
        Task("Light the attic.", (ATTIC,)),
    )


def run(store: Store, domain: Domain, name: str, **changes: Any) -> RunRecord:
    fields: dict[str, Any] = {
        "env": "lamps",
        "agent_strategy": name,
        "task_indices": INDICES,
        "task_set": task_set(domain.pack, "test", INDICES),
    }
    return store.runs.create(sample_run(name, **fields | changes))


def episode(domain: Domain, task: int, trial: int = 0, *, solved: bool) -> EpisodeRecord:
    """An episode that lights one lamp."""
    made = sample_episode(task, trial)
    told = made.task.model_copy(update={"instruction": domain.task(task).instruction})
    return made.model_copy(
        update={
            "task": told,
            "reward": float(solved),
            "outcome": "success" if solved else "failure",
        }
    )


def play(store: Store, domain: Domain, name: str, solved: list[int], **changes: Any) -> RunRecord:
    """A run of all three tasks, each in two trials."""
    made = run(store, domain, name, **changes)
    store.runs.add(
        made.id,
        [
            episode(domain, task, trial, solved=task in solved and trial == 0)
            for task in range(3)
            for trial in range(2)
        ],
    )
    return made


def test_what_no_agent_solves_and_what_less_solves_is_found(store: Store, lamps: Domain) -> None:
    runs = [play(store, lamps, "one", [0]), play(store, lamps, "two", [0, 1])]
    found, notes = findings_of_runs(store, runs, lamps, "test", INDICES)
    assert [(one.task_index, one.kind) for one in found] == [
        (1, "solved-by-less"),  # its ground truth lights two lamps, and one was enough
        (2, "never-solved"),
    ]
    assert found[0].evidence["changes"] == {"fewest": 1, "most": 1, "ground_truth": 2}
    assert found[0].evidence["solved"] == {"two": 1}
    assert found[1].sentence == "none of 2 agents solved it in 4 episodes"
    assert found[1].evidence["episodes"] == {"one": 2, "two": 2}
    assert notes == []


def test_one_agent_alone_proves_nothing(store: Store, lamps: Domain) -> None:
    one = play(store, lamps, "one", [0])
    with pytest.raises(InputError, match="Name runs of 2 agents or more"):
        findings_of_runs(store, [one], lamps, "test", INDICES)
    again = play(store, lamps, "again", [0], agent_strategy="one")
    with pytest.raises(InputError, match="Name runs of 2 agents or more"):
        findings_of_runs(store, [one, again], lamps, "test", INDICES)


def test_other_settings_are_another_agent(store: Store, lamps: Domain) -> None:
    workflow: dict[str, Any] = {"agent_strategy": "workflow"}
    runs = [
        play(store, lamps, name, [0], config={"agent_options": {"workflow": asked}}, **workflow)
        for name, asked in (("one", "a.py:x"), ("again", "a.py:x"), ("two", "b.py:y"))
    ]
    with pytest.raises(InputError, match="Name runs of 2 agents or more"):
        findings_of_runs(store, runs[:2], lamps, "test", INDICES)
    found, _ = findings_of_runs(store, runs, lamps, "test", INDICES)
    assert [one.task_index for one in found if one.kind == "never-solved"] == [1, 2]
    assert found[-1].evidence["episodes"] == {"workflow of one": 4, "workflow of two": 2}


def test_agents_that_know_the_answers_do_not_count(store: Store, lamps: Domain) -> None:
    runs = [play(store, lamps, name, [0]) for name in ("one", "two")]
    oracle = play(store, lamps, "oracle", INDICES, reads_script=True)
    found, notes = findings_of_runs(store, [*runs, oracle], lamps, "test", INDICES)
    assert [one.task_index for one in found if one.kind == "never-solved"] == [1, 2]
    assert notes == ["oracle is not counted: its agent knows the answers."]


def test_runs_of_other_tasks_are_paired_by_content(store: Store, lamps: Domain) -> None:
    runs = [play(store, lamps, name, [0]) for name in ("one", "two")]
    turned = small_domain(*reversed(lamps.tasks("test")), Task("Light the hall!", (HALL,)))
    found, notes = findings_of_runs(store, runs, turned, "test", [0, 1, 2, 3])
    assert [(one.task_index, one.kind) for one in found] == [
        (0, "never-solved"),
        (1, "never-solved"),
    ]
    other = small_domain(Task("Light the attic.", (ATTIC,)))
    found, notes = findings_of_runs(store, runs, other, "test", [0])
    assert [one.task_index for one in found] == [0]
    assert notes == [f"2 tasks of {name} are other tasks than these." for name in ("one", "two")]


def test_episodes_without_a_result_say_nothing(store: Store, lamps: Domain) -> None:
    runs = [run(store, lamps, name) for name in ("one", "two")]
    broken: dict[str, Any] = {"outcome": "infrastructure_error", "reward": None, "steps": []}
    for one in runs:
        made = episode(lamps, 0, solved=False).model_copy(update=broken)
        store.runs.add(one.id, [made])
        assert not counts_of(made).tools
    assert findings_of_runs(store, runs, lamps, "test", INDICES) == ([], [])


def test_a_run_of_another_domain_is_refused(store: Store, lamps: Domain) -> None:
    runs = [play(store, lamps, "one", []), play(store, lamps, "two", [], env="retail")]
    with pytest.raises(InputError, match="'two' was played on retail, and not on lamps"):
        findings_of_runs(store, runs, lamps, "test", INDICES)
