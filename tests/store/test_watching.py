"""What a look at the database finds of jobs that other processes work on."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.store import Store, this_process
from greenroom.store.watching import Watch
from tests.store.samples import MOMENT, hold, sample_episode, sample_run


@pytest.fixture
def watch(store: Store) -> Watch:
    """A watch that has looked once."""
    found = Watch(store.engine)
    found.begin(MOMENT)
    assert found.look() == []
    return found


def jobs_in(found: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    return [(one["name"], one["finished"], one["status"]) for one in found if one["kind"] == "job"]


def test_a_job_is_told_from_its_beginning_to_its_end(store: Store, watch: Watch) -> None:
    run, owner = store.runs.create(sample_run(num_trials=1)), this_process()
    hold(store.runs, run, owner)
    assert jobs_in(watch.look()) == [("sample", 0, "running")]
    store.runs.add(run.id, [sample_episode(0)])
    assert jobs_in(watch.look()) == [("sample", 1, "running")]
    store.runs.add(run.id, [sample_episode(1)])
    store.runs.workers.leave(run.id, owner)
    assert jobs_in(watch.look()) == [("sample", 2, "complete")]
    assert jobs_in(watch.look()) == []


def test_a_job_that_begins_and_ends_after_it_was_seen_is_told(store: Store, watch: Watch) -> None:
    run, owner = store.runs.create(sample_run(num_trials=1)), this_process()
    assert jobs_in(watch.look()) == [("sample", 0, "interrupted")]
    hold(store.runs, run, owner)
    store.runs.add(run.id, [sample_episode(0), sample_episode(1)])
    store.runs.workers.leave(run.id, owner)
    assert jobs_in(watch.look()) == [("sample", 2, "complete")]
    assert jobs_in(watch.look()) == []


def test_a_job_that_was_stopped_is_told_once(store: Store, watch: Watch) -> None:
    run = store.runs.create(sample_run(num_trials=1))
    store.runs.add(run.id, [sample_episode(0)])
    assert jobs_in(watch.look()) == [("sample", 1, "interrupted")]
    assert jobs_in(watch.look()) == []


def test_a_new_job_that_is_deleted_is_looked_at_no_more(store: Store, watch: Watch) -> None:
    run = store.runs.create(sample_run())
    assert jobs_in(watch.look()) == [("sample", 0, "interrupted")]
    store.runs.delete(run)
    assert jobs_in(watch.look()) == []
