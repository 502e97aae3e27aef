"""What is counted and what is pruned, on each kind of database."""

from __future__ import annotations

from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest

from greenroom.analysis.counts import counted_episode, counted_episodes
from greenroom.errors import InputError, UnknownName
from greenroom.reports.trend import trend_of
from greenroom.store import EpisodeRecord, Store, pruning, this_process
from greenroom.store.aggregates import pruned_digests
from greenroom.store.pruning import prunable_runs, prune_run
from tests.store.samples import MOMENT, sample_episode, sample_run


@pytest.fixture
def records(store: Store) -> list[EpisodeRecord]:
    run = store.runs.create(sample_run(num_trials=150))
    found = [
        sample_episode(task, trial)
        if trial % 3
        else sample_episode(task, trial, outcome="failure", reward=0.0)
        for task in (0, 1)
        for trial in range(150)
    ]
    assert all(store.runs.add(run.id, found))
    return found


def test_counts_come_from_columns_and_are_those_of_the_records(
    store: Store, records: list[EpisodeRecord]
) -> None:
    run_id = store.runs.find("sample").id
    expected = [counted_episode(one) for one in records]
    assert list(counted_episodes(store, run_id)) == expected
    keys = [one.key for one in records[::2]]
    assert list(counted_episodes(store, run_id, keys)) == expected[::2]


@pytest.mark.slow
def test_only_what_the_rules_want_is_pruned(store: Store, records: list[EpisodeRecord]) -> None:
    run = store.runs.find("sample")
    assert prunable_runs(store, before=MOMENT) == []
    assert prunable_runs(store, names=["sample"], before=MOMENT) == []
    with pytest.raises(UnknownName):
        prunable_runs(store, names=["simple"])
    (all_of_it,) = prunable_runs(store, names=["sample", run.id])
    (solved,) = prunable_runs(store, before=MOMENT + timedelta(days=1), keep_failures=True)
    assert (all_of_it.episodes, solved.episodes) == (300, 200)
    assert all_of_it.bytes * 2 == pytest.approx(solved.bytes * 3)
    kept = store.runs.digests(run.id)
    assert list(prune_run(store, run.id, keep_failures=True)) == [200]
    pruned = pruned_digests(store.engine, run.id)
    assert sorted(pruned) == [one.key for one in records if one.outcome == "success"]
    assert pruned == {key: kept[key] for key in pruned}
    now = store.runs.digests(run.id)
    assert {key for key in kept if now[key] == kept[key]} == kept.keys() - pruned.keys()
    copy = store.runs.create(sample_run("copy", num_trials=150))
    assert all(store.runs.add(copy.id, list(store.runs.results(run.id))))
    assert pruned_digests(store.engine, copy.id) == pruned
    store.runs.delete(copy)
    assert list(prune_run(store, run.id)) == [100]
    assert prunable_runs(store) == []
    assert [(one.step_count, one.turns) for one in store.runs.summaries(run.id)] == [(2, 1)] * 300
    assert [one.counts for one in counted_episodes(store, run.id)] == [
        counted_episode(one).counts for one in records
    ]


def test_nobody_begins_to_play_a_run_while_a_part_of_it_is_pruned(
    store: Store, records: list[EpisodeRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store.runs.create(sample_run("other", num_trials=2))
    store.runs.add(run.id, records[:1])
    owner, joined = this_process(), Event()

    def join() -> None:
        store.runs.workers.join(run.id, run.name, owner, lambda _: [(0, 1)])
        joined.set()

    joining = Thread(target=join)

    def slowly(row: Any) -> Any:
        joining.start()
        assert not joined.wait(0.5), "it waits until the transaction ends"
        return without_conversation(row)

    without_conversation = pruning._without_conversation  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(pruning, "_without_conversation", slowly)
    pruned = prune_run(store, run.id)
    assert next(pruned) == 1
    joining.join()
    with pytest.raises(InputError, match="under way"):
        next(pruned)


def test_a_trend_is_counted_by_the_database(store: Store, records: list[EpisodeRecord]) -> None:
    later = store.runs.create(
        sample_run("sample-2", num_trials=150, created_at=MOMENT + timedelta(days=1))
    )
    broken = [
        one.model_copy(update={"outcome": "failure", "reward": 0.0}) if one.task_index else one
        for one in records
    ]
    assert all(store.runs.add(later.id, broken))
    found = trend_of(store, "sample-2", 14)
    assert [(one.task_index, one.before_successes, one.successes) for one in found.changes] == [
        (1, 100, 0)
    ]
    assert [one.name for one in found.runs] == ["sample", "sample-2"]
