"""The API of runs: what it says, page by page, on both stores."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from greenroom.analysis.errors import diagnose
from greenroom.reports import build_report, compare_stored
from greenroom.reports.html_data import episode_items
from greenroom.reports.task_sets import place_of
from greenroom.reports.texts import figure_text
from greenroom.store import (
    ActionRecord,
    EpisodeRecord,
    JudgementRecord,
    JudgingRecord,
    StepRecord,
    Store,
    Usage,
)
from greenroom.store.pruning import prune_run
from tests.audit.talking import called, episode, said
from tests.playground.conftest import Open, Running
from tests.playground.stored_runs import HOSTILE, every_outcome, keep, other_sets, solved
from tests.reports.sample import START, ended, played


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    """A playground over a run with every outcome, and one that is solved."""
    keep(store, "mixed", every_outcome())
    keep(store, "good", solved(), agent_strategy="oracle", created_at=START + timedelta(days=1))
    return open_playground(store)


def _get(running: Running, path: str, **query: Any) -> Any:
    answer = running.api.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _pages(running: Running, path: str, **query: Any) -> Iterator[Any]:
    after: dict[str, str] = {}
    while True:
        page = _get(running, path, **query, **after)
        yield from page["items"]
        if page["next"] is None:
            return
        after = {"after": page["next"]}


@pytest.mark.slow
def test_runs_are_listed_newest_first_and_found_by_name_agent_and_domain(running: Running) -> None:
    assert [one["name"] for one in _pages(running, "runs", limit=1)] == ["good", "mixed"]
    good = _get(running, "runs", q="ORACLE")["items"]
    assert [one["name"] for one in good] == ["good"]
    assert good[0]["status"] == "complete"
    assert good[0]["pass_1"] == 1.0
    assert len(_get(running, "runs", q="retail")["items"]) == 2
    assert _get(running, "runs", q="airline")["items"] == []


def test_a_run_says_how_it_stands_and_how_to_go_on(running: Running, store: Store) -> None:
    mixed = _get(running, "runs/mixed")
    assert (mixed["finished"], mixed["planned"], mixed["status"]) == (47, 48, "interrupted")
    assert mixed["resume"] == "greenroom resume mixed"
    counts = {one["outcome"]: one["count"] for one in mixed["outcomes"]}
    assert counts["crashed"] == counts["max_steps"] == counts["infrastructure_error"] == 1
    good = _get(running, f"runs/{store.runs.find('good').id}")
    assert (good["name"], good["resume"], good["watch"]) == ("good", None, None)
    keep(store, "it's; rm -rf", [played()[0]])
    odd = next(one for one in _get(running, "runs")["items"] if "rm" in one["name"])
    assert _get(running, f"runs/{odd['id']}")["resume"] == "greenroom resume 'it'\"'\"'s; rm -rf'"


@pytest.mark.slow
def test_pages_and_reports_say_the_same(running: Running, store: Store) -> None:
    run = store.runs.find("mixed")
    report = build_report(store, run, by=["tag", "tool", "kind"])
    page = _get(running, "runs/mixed/report")
    assert page["headline"] == report.headline
    assert page["notes"] == report.notes
    assert page["facts"] == [dict(one) for one in report.facts]
    sections = {one["id"]: one for one in page["sections"]}
    assert list(sections) == [one.id for one in report.sections if one.id != "cells"]
    figures: Any = report.section("figures")
    shown = [
        (one["value"], one["interval"], one["second"]) for one in sections["figures"]["figures"]
    ]
    assert shown == [figure_text(one) for one in figures.figures]
    failures: Any = report.section("failures")
    assert sections["failures"]["kinds"] == [dict(one) for one in failures.kinds]
    assert sections["failures"]["total"] == failures.total
    chart = sections["reliability"]
    assert len(chart["plot"]["series"][0]["marks"]) == 4
    assert chart["rows"][0]["cells"][-1].endswith("%")  # the interval


def test_a_run_that_grows_is_counted_anew_and_read_once(
    store: Store, open_playground: Open
) -> None:
    episodes = every_outcome()
    run = keep(store, "growing", episodes[:20], task_indices=list(range(12)))
    running = open_playground(store)
    assert _get(running, "runs/growing/report")["counted"] == 20
    statements: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    store.runs.add(run.id, episodes[20:30])
    assert _get(running, "runs/growing/report")["counted"] == 30
    counting = [one for one in statements if "results.summary" in one]
    assert counting
    assert all(" IN (" in one for one in counting)  # only the new ones were read
    # What had no result is played again: its place has another episode now.
    again = played()[17]
    assert store.runs.add(run.id, [again.model_copy(update={"started_at": START})]) == [True]
    page = _get(running, "runs/growing/report")
    assert page["counted"] == 30
    found = store.runs.find("growing")
    assert page["headline"] == build_report(store, found).headline


def test_the_grid_goes_on_task_by_task(running: Running) -> None:
    rows = list(_pages(running, "runs/mixed/grid", limit=5))
    assert [row["task"] for row in rows] == list(range(12))
    assert rows[0]["outcomes"][3] == "crashed"
    assert rows[4]["outcomes"][1] == "infrastructure_error"
    assert rows[0]["wish"]
    assert all(row["solved"].endswith(("/4", "/3")) for row in rows)
    later = _get(running, "runs/mixed/grid", first_trial=2)
    assert (later["first_trial"], later["trials"]) == (2, 4)
    assert [row["outcomes"] for row in later["items"]] == [row["outcomes"][2:] for row in rows]
    assert _get(running, "runs/mixed/grid", first_trial=9)["items"][0]["outcomes"] == []


def test_episodes_are_filtered_by_outcome_kind_tool_task_and_words(
    running: Running, store: Store
) -> None:
    episodes = list(store.runs.results(store.runs.find("mixed").id))
    path = "runs/mixed/episodes"

    def keys(**query: Any) -> list[tuple[int, int]]:
        return [(one["task"], one["trial"]) for one in _pages(running, path, limit=3, **query)]

    assert keys() == [one.key for one in episodes]
    assert keys(outcome="failure") == [one.key for one in episodes if one.outcome == "failure"]
    assert keys(task=7) == [(7, trial) for trial in range(4)]
    why = {one.key: found.kind for one in episodes if (found := diagnose(one)) is not None}
    for kind in set(why.values()):
        assert keys(kind=kind) == [key for key, own in why.items() if own == kind]
    tool = "cancel_pending_order"
    called = [one for one in episodes if any(step.action.name == tool for step in one.steps)]
    assert called
    assert keys(tool=tool) == [one.key for one in called]
    assert keys(tool=tool, outcome="success") == [one.key for one in called if one.solved]
    assert keys(q="onerror=ALERT(1)") == [(0, 3)]
    assert keys(kind="crashed", q="no such words") == []
    assert keys(kind="no such kind") == []
    crashed = _get(running, path, outcome="crashed")["items"][0]
    assert HOSTILE.split()[0] in crashed["why"]


def test_an_episode_stands_beside_the_ground_truth(running: Running, store: Store) -> None:
    run = store.runs.find("mixed")
    failed = [one for one in store.runs.results(run.id) if one.outcome == "failure"]
    seen: set[str] = set()
    for record in failed:
        found = _get(running, f"runs/mixed/episodes/{record.task_index}/{record.trial}")
        why: Any = diagnose(record)
        assert found["why"]["sentence"] == why.explanation
        assert len(found["truth"]) == len(record.task.actions)
        for one in found["truth"]:
            seen.add(one["relation"])
            if one["relation"] == "same":
                place: int = one["step"]
                done = record.steps[place].action
                assert (one["tool"], one["arguments"]) == (done.name, done.kwargs)
            if one["step"] is None:
                assert one["relation"] == "none"
        details: Any = record.details
        if not details.database:
            shown = sum(len(one["fields"]) for one in found["differences"])
            assert shown == len(details.differences)
            assert found["database_is_right"] is False
        calls = [one for one in found["items"] if one["kind"] == "call"]
        assert [one["step"] for one in calls] == sorted({one["step"] for one in calls})
        assert found["items"][0]["text"] == record.opening
    assert "none" in seen


@pytest.mark.slow
def test_what_the_agent_printed_stands_with_the_episode(running: Running, store: Store) -> None:
    results = store.runs.results(store.runs.find("mixed").id)
    (crashed,) = [one for one in results if one.outcome == "crashed"]
    path = f"runs/mixed/episodes/{crashed.task_index}/{crashed.trial}"
    assert _get(running, path)["printed"] == f"Traceback\n{HOSTILE}"


def test_a_pruned_conversation_is_told_and_the_rest_is_as_it_was(
    store: Store, open_playground: Open
) -> None:
    run = keep(store, "pruned", every_outcome(6))
    running = open_playground(store)
    failed = _failed(store, run.id)
    path = f"runs/pruned/episodes/{failed.task_index}/{failed.trial}"
    before, items = _get(running, path), _get(running, "runs/pruned/episodes")["items"]
    assert before["pruned"] == ""
    assert not any("pruned" in note for note in _get(running, "runs/pruned/report")["notes"])
    assert before["items"]
    assert sum(prune_run(store, run.id)) == len(every_outcome(6))
    found = _get(running, path)
    assert re.fullmatch(
        r"Its conversation was pruned on [\d-]+: its figures are kept\.", found["pruned"]
    )
    assert found["items"] == []
    assert {one["words"] for one in found["truth"]} == {"what was done is pruned"}
    for same in ("why", "reward", "parts", "differences", "outputs", "spent", "trials"):
        assert found[same] == before[same]
    assert _get(running, "runs/pruned/episodes")["items"] == items
    assert any("pruned" in note for note in _get(running, "runs/pruned/report")["notes"])
    by_kind = _get(running, "runs/pruned/episodes", kind=before["why"]["kind"])["items"]
    assert {"task": failed.task_index, "trial": failed.trial}.items() <= by_kind[0].items()
    assert running.api.get(f"{path}/steps/0").status_code == 404


def test_neighbours_follow_the_filter(running: Running) -> None:
    path = "runs/mixed/episodes/1/0/neighbours"
    assert _get(running, path)["previous"] == {"task": 0, "trial": 3}
    assert _get(running, path)["next"] == {"task": 1, "trial": 1}
    assert _get(running, "runs/mixed/episodes/0/0/neighbours")["previous"] is None
    assert _get(running, path, outcome="crashed")["previous"] == {"task": 0, "trial": 3}
    assert _get(running, path, kind="crashed")["previous"] == {"task": 0, "trial": 3}
    assert _get(running, path, kind="crashed")["next"] is None
    assert _get(running, path, task=1)["previous"] is None


def test_long_texts_are_cut_and_whole_at_an_address_of_their_own(
    store: Store, open_playground: Open
) -> None:
    episode = played()[0]
    step = episode.steps[0]
    long = step.model_copy(update={"observation": "x" * 1_000_000})
    record = episode.model_copy(update={"steps": [long, *episode.steps[1:]]})
    keep(store, "long", [record])
    running = open_playground(store)
    answer = running.api.get("runs/long/episodes/0/0")
    assert len(answer.content) < 100_000
    item = next(one for one in answer.json()["items"] if one["kind"] == "call")
    assert len(item["text"]) + item["left_out"] == 1_000_000
    whole = _get(running, "runs/long/episodes/0/0/steps/0")
    assert whole["observation"] == long.observation
    assert _get(running, "runs/long/episodes/0/0/record") == record.model_dump(mode="json")


def test_what_a_judge_said_stands_with_the_episode(running: Running, store: Store) -> None:
    run = store.runs.find("mixed")
    failed = _failed(store, run.id)
    judging = JudgingRecord(
        id="judging", name="judged", created_at=START, greenroom_version="0", run_id=run.id,
        run_name=run.name, judge="a-judge", episodes=[failed.key],
    )  # fmt: skip
    store.judgings.create(judging)
    verdict = JudgementRecord(
        task_index=failed.task_index, trial=failed.trial, outcome="answered", started_at=START,
        author="agent", author_description="It forgot.", kind="other",
    )  # fmt: skip
    store.judgings.add(judging.id, [verdict])
    found = _get(running, f"runs/mixed/episodes/{failed.task_index}/{failed.trial}")
    (said,) = found["judgements"]
    assert (said["judge"], said["author"], said["author_description"]) == (
        "a-judge", "agent", "It forgot.",
    )  # fmt: skip


def test_findings_of_the_user_audit_stand_with_their_messages(
    running: Running, store: Store
) -> None:
    run = store.runs.find("mixed")
    record = next(iter(store.runs.results(run.id)))
    steps = [called("ok"), said("Your mail?", "z@example.com"), said("Done.", "###STOP###")]
    odd = episode("Ask for a refund.", "Hi", *steps, task_index=record.task_index, trial=77)
    store.runs.add(run.id, [odd])
    found = _get(running, f"runs/mixed/episodes/{record.task_index}/77")
    (flag,) = found["flags"]
    assert flag.startswith("Turn 2: It said the e-mail address z@example.com")
    words = [one for one in found["items"] if one["who"] == "user"]
    assert [bool(one["problem"]) for one in words] == [False, True, False]


def test_two_runs_are_compared_in_the_words_of_the_report(running: Running, store: Store) -> None:
    jobs = [store.runs.find(name) for name in ("good", "mixed")]
    report = compare_stored(store, jobs)
    found = _get(running, "comparisons", a="good", b="mixed")
    assert found["sentence"] == report.headline
    assert found["notes"] == report.notes
    (one,) = report.comparisons
    assert found["verdict"] == one.verdict
    flips: Any = one
    listed = list(_pages(running, "comparisons/flips", a="good", b="mixed", limit=1))
    assert [flip["task"] for flip in listed] == sorted(one.task_index for one in flips.flips)
    assert found["broke"] == sum(flip["direction"] == "broke" for flip in listed)
    other = _get(running, "comparisons", a="mixed", b="good")
    assert (other["broke"], other["healed"]) == (found["healed"], found["broke"])
    healed = _get(running, "comparisons/flips", a="mixed", b="good", direction="broke")
    assert healed["items"] == []


def test_runs_on_other_tasks_are_refused_in_words(running: Running, store: Store) -> None:
    keep(store, "elsewhere", solved(3), env="airline")
    answer = running.api.get("comparisons", params={"a": "good", "b": "elsewhere"})
    assert answer.status_code == 422
    assert "cannot be paired" in answer.json()["detail"]


def test_two_runs_on_one_task_stand_side_by_side(running: Running, store: Store) -> None:
    mixed = store.runs.find("mixed")
    failed = _failed(store, mixed.id)
    path = f"runs/good/tasks/{failed.task_index}/beside"
    found = _get(running, path, other="mixed", trial=0, other_trial=failed.trial)
    assert found["left"]["outcome"]["outcome"] == "success"
    assert found["right"]["why"]["sentence"]
    assert found["rows"][0]["relation"] == "opening"
    left = [
        item["step"] for row in found["rows"] for item in row["left"] if item["step"] is not None
    ]
    right = {item["step"] for row in found["rows"] for item in row["right"]} - {None}
    assert left == sorted(left)
    assert len(right) == failed.step_count
    assert found["parting"] is not None
    assert all(row["relation"] in ("opening", "same") for row in found["rows"][: found["parting"]])
    same = _get(running, "runs/good/tasks/0/beside", other="good", trial=0, other_trial=1)
    assert same["parting"] is None
    # Without trials, it is those that end otherwise.
    first = _get(running, path, other="mixed")
    assert first["left"]["outcome"]["outcome"] != first["right"]["outcome"]["outcome"]


@pytest.mark.slow
def test_the_trend_of_an_agent_has_its_runs_with_intervals(running: Running, store: Store) -> None:
    for day in range(3):
        when = START + timedelta(days=2 + day)
        keep(store, f"later-{day}", played()[: 4 * (10 + day)], created_at=when)
    found = _get(running, "trends", agent="synthetic")
    names = [one["run"]["name"] for one in found["items"]]
    assert names == ["later-2", "later-1", "later-0", "mixed"]
    newest = found["items"][0]
    estimate = build_report(store, store.runs.find("later-2")).metrics.main.pass_hat_k[1]
    assert (newest["pass_1"], newest["low"], newest["high"]) == pytest.approx(
        (estimate.value, estimate.low, estimate.high)
    )
    marks = found["chart"]["plot"]["series"][0]["marks"]
    assert [one["point"]["label"] for one in marks] == names[::-1]
    assert [
        one["run"]["name"] for one in _pages(running, "trends", agent="synthetic", limit=1)
    ] == names
    assert {one["agent"]: one["runs"] for one in found["subjects"]} == {"synthetic": 4, "oracle": 1}
    assert {one["played_on"] for one in found["items"]} == {place_of(store.runs.find("mixed"))}
    assert _get(running, "trends", agent="synthetic", env="airline")["items"] == []
    assert _get(running, "trends")["items"] == []


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("runs/nothing", 404, "Unknown run"),
        ("runs/mixed/episodes/77/0", 404, "was not played"),
        ("runs/mixed/episodes/0/0/steps/999", 404, "steps count from 0"),
        ("runs/mixed/episodes/0/9999999999", 422, "trial"),
        ("runs/mixed/episodes?after=abc", 422, "no cursor"),
        ("runs/mixed/episodes?after=WyJhIiwiYiJd", 422, "no cursor"),
        ("runs/mixed/grid?after=WzkwMDcxOTkyNTQ3NDA5OTNd", 422, "no cursor"),
        ("runs?limit=100000", 422, "limit"),
        ("comparisons?a=mixed", 422, "b"),
        ("comparisons?a=mixed&b=nothing", 404, "Unknown run"),
        ("trends?agent=%00&env=%00", 200, "items"),
        ("runs?q=%00%25", 200, "items"),
        ("runs/mixed/episodes?q=%25%00&outcome=x", 200, "items"),
    ],
)
def test_what_is_not_there_is_told_in_words(
    path: str, status: int, says: str, running: Running
) -> None:
    answer = running.api.get(path)
    assert answer.status_code == status, answer.text
    assert says in answer.text


def test_an_empty_store_has_empty_pages(store: Store, open_playground: Open) -> None:
    running = open_playground(store)
    assert _get(running, "runs") == {"items": [], "next": None}
    assert _get(running, "trends", agent="oracle")["chart"] is None
    keep(store, "begun", [], task_indices=[0, 1])
    assert _get(running, "runs/begun/report")["headline"] == "Nothing has been played yet."
    assert [row["outcomes"] for row in _get(running, "runs/begun/grid")["items"]] == [
        [None] * 4
    ] * 2
    assert _get(running, "runs/begun/episodes")["items"] == []
    keep(store, "broken", [ended(played()[0], "infrastructure_error")])
    assert _get(running, "comparisons", a="begun", b="broken")["sentence"]


@pytest.mark.slow
def test_a_run_in_a_terminal_is_seen_while_it_is_played(
    store: Store, open_playground: Open
) -> None:
    running = open_playground(store)
    command = ("run", "--agent-strategy", "synthetic", "--num-trials", "2000", "--name", "live")
    with subprocess.Popen(
        [sys.executable, "-c", "from greenroom.cli import main; main()", *command],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            first = _once(running, more_than=0)
            assert first["status"] == "running"
            assert first["watch"] == "greenroom runs watch live"
            later = _once(running, more_than=first["finished"])
            report = _get(running, "runs/live/report")
            assert report["status"] == "running"
            assert report["counted"] >= later["finished"]
            assert any("still going on" in note for note in report["notes"])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
    assert _get(running, "runs/live")["resume"] == "greenroom resume live"


def _failed(store: Store, run_id: str) -> EpisodeRecord:
    # All are read: the database waits for those who stop in the middle.
    found = [one for one in store.runs.results(run_id) if one.outcome == "failure"]
    return found[0]


def _once(running: Running, *, more_than: int) -> Any:
    """The run as soon as more episodes of it than these are finished."""
    for _ in range(300):
        answer = running.api.get("runs/live")
        if answer.status_code == 200 and answer.json()["finished"] > more_than:
            return answer.json()
        time.sleep(0.1)
    raise AssertionError("the run did not get there")


def test_turns_are_those_of_the_report(running: Running, store: Store) -> None:
    steps = [
        StepRecord(action=ActionRecord(name="look"), observation="1", source="look", turn=1),
        _said("Which one?", "The first.", turn=1),
        StepRecord(action=ActionRecord(name="look"), observation="2", source="look", turn=2),
        _said("Is that all?", "Yes.", turn=2),
        _said("Good bye.", "###STOP###", turn=3),
    ]
    episode = played()[0].model_copy(update={"steps": steps})
    keep(store, "turns", [episode])
    found = _get(running, "runs/turns/episodes/0/0")["items"]
    turn = None
    expected: list[tuple[Any, Any]] = []
    for item in episode_items(episode):
        turn = item.get("turn", turn)
        if "turn" not in item:
            expected.append((turn, item["text"]))
    assert [(one["turn"], one["text"]) for one in found] == expected
    assert [one["turn"] for one in found] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def _said(words: str, answer: str, *, turn: int) -> StepRecord:
    action = ActionRecord(name="respond", kwargs={"content": words})
    return StepRecord(action=action, observation=answer, source="user", turn=turn)


def test_runs_of_different_sets_are_compared_on_their_equal_tasks(
    running: Running, store: Store
) -> None:
    other_sets(store)
    pair = {"a": "old-set", "b": "new-set"}
    refused = running.api.get("comparisons", params=pair)
    assert refused.status_code == 422
    assert "3 tasks are equal in both" in refused.json()["detail"]
    found = _get(running, "comparisons", **pair, equal_tasks=True)
    assert found["sentence"].startswith("On the 3 equal tasks of different sets: ")
    assert "Only the 3 equal tasks of 4 and 4 count here." in found["notes"][0]
    assert (found["broke"], found["healed"]) == (3, 0)
    flips = list(_pages(running, "comparisons/flips", **pair, equal_tasks=True, limit=1))
    assert [(one["task"], one["other_task"]) for one in flips] == [(0, 2), (2, 0), (3, 3)]
    beside = _get(running, "runs/old-set/tasks/0/beside", other="new-set", other_task=2)
    assert (beside["left"]["task"], beside["right"]["task"]) == (0, 2)
    assert beside["warnings"] == []


def test_what_a_lost_call_cost_is_not_known(running: Running, store: Store) -> None:
    lost = Usage(calls=1, cost=0.0, lost_calls=1)
    broken = ended(played()[0], "crashed").model_copy(update={"usage": {"agent": lost}})
    keep(store, "lost", [broken])
    [item] = _get(running, "runs/lost/episodes")["items"]
    assert item["cost"] is None
    found = _get(running, f"runs/lost/episodes/{item['task']}/{item['trial']}")
    assert [one["cost"] for one in found["spent"]] == ["–"]
    assert {one["label"]: one["value"] for one in found["facts"]}["Cost"] == "unknown"
