"""What is counted of episodes when they are kept, beside the same from their whole records."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import URL, select, update

from greenroom.analysis import break_down, measure_run
from greenroom.analysis.counts import counted_episode, counted_episodes, counts_of
from greenroom.analysis.slices import RUN_SLICES, slice_run
from greenroom.analysis.tools import tool_figures
from greenroom.reports.build import build_report
from greenroom.store import EpisodeRecord, Store, Usage, open_engine
from greenroom.store.aggregates import StoredCounts, stored_counts
from greenroom.store.outcomes import Outcome
from greenroom.store.pruning import prune_run
from greenroom.store.schema import results
from greenroom.store.trajectory_records import (
    ActionRecord,
    DifferenceRecord,
    JudgedRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
    UserCallRecord,
)
from greenroom.util.raw_json import plain
from tests.analysis.episodes import cancel, exchange
from tests.store.samples import sample_run

TASKS, TRIALS = [2, 0, 1], 3
texts = st.sampled_from(["", "fine", "Error: no such order", "\ud800 half", "NUL \0", "ünï"])
kwargs = st.sampled_from(
    [{}, {"order_id": "#W1"}, {"n": 2**70}, {"n": 1}, {"n": 1.0}, {"n": math.nan}, {"\ud800": [1]}]
)
actions = st.one_of(
    st.builds(cancel, st.sampled_from(["#W1", "#W2"])),
    st.just(exchange()),
    st.builds(ActionRecord, name=st.sampled_from(["look", "respond"]), kwargs=kwargs),
    st.builds(ActionRecord, name=st.just("toggle"), writes=st.booleans(), party=st.just("user")),
)
calls = st.builds(
    UserCallRecord,
    action=actions,
    observation=texts,
    invalid=st.sampled_from([None, "no such tool"]),
)
steps = st.builds(
    StepRecord,
    action=actions,
    observation=texts,
    source=st.sampled_from(["user", "look"]),
    turn=st.integers(1, 4),
    invalid=st.sampled_from([None, None, "no such tool"]),
    user_calls=st.lists(calls, max_size=2),
)
details = st.builds(
    RewardRecord,
    database=st.booleans(),
    basis=st.sampled_from([["database", "outputs"], ["database", "judged"], ["judged"]]),
    judged=st.lists(
        st.builds(
            JudgedRecord,
            sentence=st.just("The agent is polite."),
            met=st.sampled_from([True, False, None]),
            reason=st.sampled_from(["", "no time"]),
        ),
        max_size=3,
    ),
    outputs=st.dictionaries(st.sampled_from(["12", "ten"]), st.booleans(), max_size=2),
    differences=st.lists(
        st.builds(
            DifferenceRecord,
            table=st.just("orders"),
            record=st.sampled_from(["#W1", "#W2"]),
            path=st.just("status"),
            expected=st.just("cancelled"),
            actual=st.just(2**70),
        ),
        max_size=2,
    ),
)
usages = st.dictionaries(
    st.sampled_from(["agent", "user"]),
    st.builds(
        Usage,
        calls=st.integers(0, 3),
        prompt_tokens=st.integers(0, 10**6),
        cost=st.sampled_from([None, 0.1, 0.2, 1e-9]),
        cached_calls=st.integers(0, 1),
    ),
    max_size=2,
)
seconds = st.lists(st.sampled_from([0.1, 0.7, 12.5, math.inf]), max_size=3)
ends: st.SearchStrategy[tuple[Outcome, float | None]] = st.sampled_from(
    [
        ("success", 1.0),
        ("success", 1.0),
        ("failure", 0.0),
        ("failure", 0.5),
        ("max_steps", 0.0),
        ("crashed", 0.0),
        ("infrastructure_error", None),
    ]
)


@st.composite
def episodes(draw: st.DrawFn) -> list[EpisodeRecord]:
    """Some episodes of a run; trials of a task are often the same."""
    found: list[EpisodeRecord] = []
    ways = draw(st.lists(st.lists(steps, max_size=4), min_size=1, max_size=2))
    cells = [(task, trial) for task in [*TASKS, 7] for trial in range(TRIALS)]
    for task, trial in cells:
        if draw(st.integers(0, 5)) == 0:
            continue
        outcome, reward = draw(ends)
        found.append(
            EpisodeRecord(
                task_index=task,
                trial=trial,
                outcome=outcome,
                reward=reward,
                task=TaskRecord(
                    instruction=draw(st.sampled_from(["", "Cancel it.", "\ud800"])),
                    actions=draw(st.lists(actions, max_size=2)),
                    outputs=["12"],
                    tags=draw(st.sampled_from([[], ["hard"], ["hard", "long"]])),
                ),
                opening="Hello.",
                opening_calls=draw(st.lists(calls, max_size=1)),
                steps=draw(st.sampled_from(ways)),
                messages=[{"role": "user", "content": "Hello."}],
                printed="printed",
                details=draw(st.none() | details),
                error=draw(st.sampled_from([None, "it \0 broke"])),
                started_at=datetime(2026, 1, 1, tzinfo=UTC),
                seconds=draw(st.sampled_from([0.0, 0.25, 3.5, math.nan])),
                usage=draw(usages),
                turn_seconds=draw(seconds),
                model_seconds=draw(st.dictionaries(st.just("agent"), seconds, max_size=1)),
                facts=draw(st.sampled_from([{}, {"version": "1"}, {"version": "2"}])),
                tallies=draw(
                    st.sampled_from([{}, {"Calls": {"a": 1.0}}, {"Calls": {"a": None, "b": 2.5}}])
                ),
            )
        )
    return found


def kept(records: list[EpisodeRecord]) -> tuple[Store, str]:
    """A store in memory with a run of these episodes."""
    store = Store(open_engine(URL.create("sqlite")))
    run = store.runs.create(sample_run(task_indices=TASKS, num_trials=TRIALS))
    assert all(store.runs.add(run.id, records)) if records else True
    return store, run.id


def report_of(store: Store, run_id: str) -> dict[str, Any]:
    """All figures and sections of a run's report, without the records."""
    report = build_report(store, store.runs.find(run_id), by=RUN_SLICES)
    tools = [one.model_dump() for one in report.tools]
    return plain(report.model_dump(exclude={"episodes"}) | {"tools": tools})


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(episodes())
def test_a_report_from_counts_is_the_report_from_records(records: list[EpisodeRecord]) -> None:
    store, run_id = kept(records)
    read = list(stored_counts(store.engine, run_id))
    assert all(isinstance(one, StoredCounts) for one in read)
    from_counts = report_of(store, run_id)
    # As older versions kept them: without counts.
    with store.engine.begin() as connection:
        connection.execute(update(results).values(summary='{"steps":1,"turns":1}'))
    assert all(isinstance(one, EpisodeRecord) for one in stored_counts(store.engine, run_id))
    assert report_of(store, run_id) == from_counts
    store.close()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(episodes())
def test_figures_from_counts_are_those_of_the_records(records: list[EpisodeRecord]) -> None:
    store, run_id = kept(records)
    report = build_report(store, store.runs.find(run_id), by=RUN_SLICES)
    read = list(store.runs.results(run_id))
    measured = measure_run(
        read, task_indices=TASKS, num_trials=TRIALS, over=True, tells_itself=True
    )
    assert plain(report.metrics.model_dump()) == plain(measured.model_dump())
    assert report.errors == break_down(read)
    assert list(report.tools) == tool_figures(read)
    # repr: NaN is not equal to itself.
    assert repr(report.slices) == repr({by: slice_run(read, by) for by in RUN_SLICES})
    store.close()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(episodes(), st.booleans())
def test_a_report_is_the_same_once_conversations_are_pruned(
    records: list[EpisodeRecord], keep_failures: bool
) -> None:
    store, run_id = kept(records)
    before = report_of(store, run_id)
    episodes = {one.key: counted_episode(one) for one in store.runs.results(run_id)}
    pruned = sum(prune_run(store, run_id, keep_failures=keep_failures))
    wanted = [one for one in records if one.outcome == "success" or not keep_failures]
    assert pruned == len(wanted)
    after = report_of(store, run_id)
    assert after.pop("pruned") == pruned
    assert before.pop("pruned") == 0
    assert [note for note in after.pop("notes") if "pruned" not in note] == before.pop("notes")
    assert after == before
    for record in store.runs.results(run_id):
        was = episodes[record.key]
        assert counts_of(record) == was.counts
        assert counted_episode(record).summary == was.summary
        assert counted_episode(record).diagnosis == was.diagnosis
        if record.key in {one.key for one in wanted}:
            assert record.pruned is not None
            assert [record.steps, record.messages, record.opening] == [[], None, ""]
            assert [record.opening_calls, record.printed] == [[], ""]
    assert sum(prune_run(store, run_id, keep_failures=keep_failures)) == 0
    store.close()


def test_only_the_episodes_that_are_asked_for_are_read() -> None:
    records = [
        EpisodeRecord(
            task_index=task,
            trial=trial,
            outcome="success",
            reward=1.0,
            task=TaskRecord(instruction="Hi."),
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for task in range(30)
        for trial in range(10)
    ]
    store, run_id = kept(records)
    keys = [one.key for one in records if one.trial % 2]
    found = [(o.summary.task_index, o.summary.trial) for o in counted_episodes(store, run_id, keys)]
    assert found == keys
    store.close()


def test_an_episode_that_cannot_be_counted_is_kept_all_the_same() -> None:
    record = EpisodeRecord(
        task_index=0,
        trial=0,
        outcome="failure",
        reward=0.0,
        task=TaskRecord(instruction="Hi.", actions=[cancel("#W1")]),
        steps=[
            StepRecord(action=exchange(), observation="", source="x", turn=1),
        ],
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    broken = record.model_copy(update={"facts": object()})  # no model takes it
    store, run_id = kept([])
    summary = store.runs.kind.summary(broken)
    assert summary == {"steps": 1, "turns": 1}
    assert store.runs.add(run_id, [record]) == [True]
    with store.engine.begin() as connection:
        (text,) = connection.execute(select(results.c.summary)).scalars()
        assert text.startswith('{"counted":1,')
    store.close()
