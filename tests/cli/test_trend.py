"""`greenroom trend`: which runs are set against each other, and what is said of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from greenroom.store import RunRecord, Store, open_store
from tests.cli.running import Greenroom
from tests.store.samples import MOMENT, hold, sample_episode, sample_run

TASKS = 3


def night(store: Store, number: int, solved: dict[int, float], **changes: Any) -> RunRecord:
    """A run of so many trials of which a share of each task is solved."""
    fields: dict[str, Any] = {
        "name": f"nightly-{number}",
        "created_at": MOMENT + timedelta(days=number),
        "task_indices": list(range(TASKS)),
        "num_trials": 20,
        "agent_strategy": "tool-calling",
        "config": {"model": "one"},
    }
    run = sample_run(**(fields | changes))
    store.runs.create(run)
    for task in run.task_indices:
        share = solved.get(task, 0.5)
        episodes = [
            sample_episode(task, trial)
            if trial < share * 20
            else sample_episode(task, trial, outcome="failure", reward=0.0)
            for trial in range(run.num_trials)
        ]
        assert all(store.runs.add(run.id, episodes))
    return run


@pytest.fixture
def filled(greenroom: Greenroom) -> Store:
    store = open_store()
    for number in range(1, 6):
        night(store, number, {0: 0.9, 1: 0.2})
    night(store, 6, {0: 0.1, 1: 0.2})
    return store


def test_a_task_that_broke_is_named(greenroom: Greenroom, filled: Store) -> None:
    found = greenroom("trend", "nightly-6", "--json").json
    (change,) = found["changes"]
    assert (change["task_index"], change["direction"], change["nights"]) == (0, "worse", 1)
    assert (change["before_successes"], change["before_trials"]) == (90, 100)
    assert (change["successes"], change["trials"]) == (2, 20)
    assert [run["name"] for run in found["runs"]] == [f"nightly-{n}" for n in range(1, 7)]
    assert found["instructions"] == {"0": "Light the hall."}
    assert (found["false_alarms"], found["nights"]) == (0.05, 60)
    shown = greenroom("trend", "nightly-6")
    assert shown.status == 0
    assert "1 task changed" in shown.out
    assert "90/100" in shown.out
    failed = greenroom("trend", "nightly-6", "--fail-on-regression")
    assert (failed.status, "Solved less often than before: 0" in failed.err) == (1, True)


def test_nights_without_a_change_say_so(greenroom: Greenroom, filled: Store) -> None:
    result = greenroom("trend", "nightly-5", "--fail-on-regression")
    assert result.status == 0
    assert "No task changed beyond chance" in result.out
    assert greenroom("trend", "nightly-5", "--json").json["changes"] == []


def test_a_stem_stands_for_its_last_run(greenroom: Greenroom, filled: Store) -> None:
    night(filled, 70, {}, name="nightly-b")
    found = greenroom("trend", "nightly", "--nights", 2, "--json").json
    assert [run["name"] for run in found["runs"]] == ["nightly-4", "nightly-5", "nightly-6"]
    assert greenroom("trend", "weekly").status == 2


def test_only_runs_of_the_same_agent_and_tasks_count(greenroom: Greenroom, filled: Store) -> None:
    other = {"name": "p", "version": "2", "source": "s", "licence": "MIT"}
    night(filled, 7, {}, config={"model": "two"})
    night(filled, 8, {}, pack=other)
    night(filled, 9, {}, agent_strategy="react")
    night(filled, 10, {0: 0.1})
    found = greenroom("trend", "nightly-10", "--json").json
    assert [run["name"] for run in found["runs"]] == [
        *(f"nightly-{n}" for n in range(1, 7)),
        "nightly-10",
    ]
    assert found["other_tasks"] == ["nightly-8"]
    result = greenroom("trend", "nightly-9")
    assert (result.status, "no run before 'nightly-9'" in result.err) == (2, True)


def test_a_run_under_way_is_refused(greenroom: Greenroom, filled: Store) -> None:
    from greenroom.store import this_process

    run = night(filled, 11, {})
    filled.runs.update(run.model_copy(update={"num_trials": 30}))
    owner = this_process()
    hold(filled.runs, run, owner)
    result = greenroom("trend", "nightly-11")
    assert (result.status, "under way" in result.err) == (2, True)
    found = greenroom("trend", "nightly", "--json")
    assert found.status == 2
    filled.runs.workers.leave(run.id, owner)
