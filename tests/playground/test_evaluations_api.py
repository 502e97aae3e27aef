from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from greenroom.playground.evaluation_jobs import MOST_AT_ONCE
from greenroom.store import ResultRecord, ScoreRecord, Store
from tests.cli.running import Greenroom
from tests.playground.conftest import Open, Running
from tests.playground.evaluated import APP, fill, finished, request, write_app
from tests.store.samples import sample_evaluation, sample_result


@pytest.fixture
def app(tmp_path: Path) -> str:
    return write_app(tmp_path)


@pytest.fixture
def running(store: Store, open_playground: Open, app: str) -> Running:
    """A playground with workflows and test sets, on each kind of database in turn."""
    fill(store)
    return open_playground(store, [app])


def started(running: Running, *given: Any, **changes: Any) -> dict[str, Any]:
    answer = running.api.post("evaluations", json=request(*given, **changes))
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(running: Running, body: dict[str, Any]) -> str:
    answer = running.api.post("evaluations", json=body)
    assert answer.status_code == 422, answer.text
    assert running.api.get("evaluations").json()["items"] == []
    return answer.json()["detail"]


def results(running: Running, key: str, **query: Any) -> list[dict[str, Any]]:
    answer = running.api.get(f"evaluations/{key}/results", params=query)
    return answer.raise_for_status().json()["items"]


def test_a_completion_is_evaluated_and_says_what_was_compared_with_what(
    running: Running, app: str
) -> None:
    key = started(running, app, "capital")["key"]
    found = finished(running.api, key)
    assert (found["finished"], found["planned"], found["is_chat"]) == (3, 3, False)
    assert found["mean"] == pytest.approx(2 / 3)
    assert {one["outcome"]: one["count"] for one in found["outcomes"]} == {
        "passed": 2,
        "not_passed": 1,
    }
    assert (found["resume"], found["problem"], found["here"]) == (None, None, False)
    (failed,) = results(running, key, failed=True)
    assert (failed["item"], failed["label"], failed["outputs"]) == (2, "row 3", "N'Djamena")
    assert failed["inputs"] == {"country": "Chad"}
    assert failed["expected"] == "Abeche"
    (score,) = failed["scores"]
    assert (score["passed"], score["compared"], score["against"]) == (False, "N'Djamena", "Abeche")
    report = running.api.get(f"evaluations/{key}/report").json()
    figures = next(one for one in report["sections"] if one["type"] == "figures")
    first = figures["figures"][0]
    assert (first["label"], first["value"]) == ("exact_match", "0.667")
    assert first["interval"]
    assert report["counted"] == 3


@pytest.mark.slow
def test_a_chat_is_evaluated_and_its_conversation_opens(running: Running, app: str) -> None:
    key = started(running, app, "guide", "chats")["key"]
    assert finished(running.api, key)["is_chat"]
    whole = running.api.get(f"evaluations/{key}/results/0/0").json()
    assert [one["role"] for one in whole["messages"]] == ["user", "assistant"]
    assert whole["messages"][1]["content"] == "Paris"
    assert whole["outputs"] == {"role": "assistant", "content": "Paris"}
    assert whole["row"]["correct_answer"] == "Paris"
    assert whole["trials"] == [0]
    missing = running.api.get(f"evaluations/{key}/results/99/0")
    assert missing.status_code == 404


@pytest.mark.slow
def test_what_crashes_is_a_failure_that_says_why(running: Running, app: str) -> None:
    key = started(running, app, "fragile")["key"]
    found = finished(running.api, key)
    assert {one["outcome"] for one in found["outcomes"]} == {"passed", "crashed", "not_passed"}
    (crashed,) = results(running, key, outcome="crashed")
    assert "no such country: <b>Peru</b>" in crashed["error"]
    assert [one["item"] for one in results(running, key, failed=True)] == [1, 2]
    report = running.api.get(f"evaluations/{key}/report").json()
    assert any("raised an error" in note for note in report["notes"])


@pytest.mark.slow
def test_options_settings_and_names_are_those_of_the_page(running: Running, app: str) -> None:
    found = started(
        running,
        app,
        "capital",
        name="my evaluation",
        evaluators=[
            {"name": "exact_match", "settings": {"ignore_case": True}},
            {"name": "similarity", "alias": "near"},
        ],
        options={"rows": 2, "repeats": 3, "gates": ["near.mean>=0.5"], "max_cost": None},
    )
    assert (found["name"], found["key"], found["planned"]) == ("my evaluation", found["id"], 6)
    assert [one["alias"] for one in found["used"]] == ["exact_match", "near"]
    finished(running.api, found["key"])
    report = running.api.get(f"evaluations/{found['key']}/report").json()
    assert [gate["verdict"] for gate in report["gates"]] == ["passed"]
    again = results(running, found["key"], row=1)
    assert [one["label"] for one in again] == [f"row 2, repeat {n}" for n in (1, 2, 3)]
    by_one = results(running, found["key"], evaluator="near", failed=True)
    assert by_one == []
    unknown = running.api.get(f"evaluations/{found['key']}/results", params={"evaluator": "x"})
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluators": []}, "Say how outputs are scored"),
        ({"evaluators": [{"name": "exact_match"}] * 2}, "Two evaluators are called"),
        ({"evaluators": [{"name": "regex", "settings": {"pattern": "("}}]}, "pattern"),
        ({"evaluators": [{"name": "exact_match", "settings": {"x": 1}}]}, "Unknown setting"),
        ({"options": {"rows": 0}}, "Rows should be greater than or equal to 1"),
        ({"options": {"gates": ["nonsense>=1"]}}, "nonsense"),
        ({"options": {"prices": "/etc/passwd"}}, "Unknown option 'prices'"),
        ({"options": {"user_strategy": "/tmp/x.py:y"}}, "Unknown option"),
        ({"test_set": "nowhere"}, "Unknown test set"),
        ({"test_set": "/etc/passwd.csv"}, "Unknown test set"),
        ({"evaluators": [{"name": "/tmp/own.py:score"}]}, "Unknown evaluator"),
        ({"evaluators": [{"name": "os:system"}]}, "Unknown evaluator"),
        (
            {"evaluators": [{"name": "llm_judge", "settings": {"prompt_file": "/etc/passwd"}}]},
            "only be given at the command line",
        ),
        (
            {"evaluators": [{"name": "webhook", "settings": {"url": "http://169.254.169.254/x"}}]},
            "off limits",
        ),
        ({"options": {"judge_api_base": "http://metadata.google.internal/v1"}}, "off limits"),
    ],
)
def test_what_is_wrong_is_told_in_words_and_leaves_nothing_behind(
    open_playground: Open, app: str, changes: dict[str, Any], words: str
) -> None:
    running = open_playground(sources=[app])
    fill(running.store)
    body = request(app, "capital", **changes)
    answer = running.api.post("evaluations", json=body)
    assert answer.status_code in (404, 422), answer.text
    assert words in answer.json()["detail"]
    assert running.api.get("evaluations").json()["items"] == []


def test_only_workflows_of_the_playground_are_evaluated(
    open_playground: Open, app: str, tmp_path: Path
) -> None:
    running = open_playground(sources=[f"{app}:capital"])
    fill(running.store)
    other = tmp_path / "other.py"
    other.write_text(APP, encoding="utf-8")
    for address in (f"{other}:capital", f"{app}:guide", "os:system", "/etc/passwd"):
        told = refused(running, request(app, "x", workflow=address))
        assert "not among the workflows" in told
    told = refused(running, request(app, "x", workflow="agent:oracle?env=retail"))
    assert "greenroom run" in told
    told = refused(running, request(app, "x", workflow="http://127.0.0.1:9/x"))
    assert "127.0.0.1:9" in told
    told = refused(running, request(app, "x", workflow="http://169.254.169.254/x"))
    assert "off limits" in told


def test_stop_keeps_what_is_finished_and_resume_goes_on(
    running: Running, app: str, tmp_path: Path
) -> None:
    found = started(running, app, "slow", options={"max_concurrency": 1})
    key = found["key"]
    assert (found["status"], found["here"]) == ("running", True)
    again = running.api.post(f"evaluations/{key}/resume")
    assert (again.status_code, again.json()["detail"]) == (409, f"'{key}' is under way already.")
    stopped = running.api.post(f"evaluations/{key}/stop").json()
    assert (stopped["status"], stopped["here"], stopped["finished"]) == ("interrupted", False, 0)
    assert stopped["resume"] == f"greenroom evals resume {key}"
    assert running.api.post(f"evaluations/{key}/stop").json()["status"] == "interrupted"
    (tmp_path / "open").touch()
    assert running.api.post(f"evaluations/{key}/resume").status_code == 200
    assert finished(running.api, key)["finished"] == 3
    assert running.api.post(f"evaluations/{key}/resume").status_code == 409


@pytest.mark.slow
def test_several_run_at_once_and_a_workflow_that_blocks_stops_no_page(
    running: Running, app: str
) -> None:
    keys = [started(running, app, "paced")["key"] for _ in range(2)]
    keys.append(started(running, app, "stubborn")["key"])
    assert len(set(keys)) == 3
    # Pages are answered while the last one blocks its thread.
    listed = running.api.get("evaluations").raise_for_status().json()["items"]
    assert keys[-1] in [one["key"] for one in listed if one["status"] == "running"]
    for key in keys:
        assert finished(running.api, key)["finished"] == 3


def test_no_more_than_some_run_at_once(open_playground: Open, app: str, tmp_path: Path) -> None:
    running = open_playground(sources=[app])
    fill(running.store)
    for _ in range(MOST_AT_ONCE):
        started(running, app, "slow")
    answer = running.api.post("evaluations", json=request(app, "capital"))
    assert answer.status_code == 409
    assert "wait for one, or stop one" in answer.json()["detail"]
    (tmp_path / "open").touch()


@pytest.mark.slow
def test_a_server_that_ends_stops_its_evaluations_and_gives_them_back(
    open_playground: Open, app: str, tmp_path: Path
) -> None:
    from tests.playground.conftest import running_playground

    store = open_playground().store
    fill(store)
    with running_playground(store, [app]) as first:
        key = started(first, app, "slow")["key"]
        assert store.evaluations.find(key).status == "running"
    assert store.evaluations.find(key).status == "interrupted"
    (tmp_path / "open").touch()
    with running_playground(store, [app]) as second:
        second.api.post(f"evaluations/{key}/resume").raise_for_status()
        assert finished(second.api, key)["finished"] == 3


@pytest.mark.slow
def test_an_evaluation_of_another_process_is_seen_and_not_stopped_here(
    open_playground: Open, app: str, tmp_path: Path
) -> None:
    running = open_playground(sources=[app])
    fill(running.store)
    code = "from greenroom.cli import main; main()"
    command = [sys.executable, "-c", code, "eval", f"{app}:slow", "countries", "-e", "exact_match"]
    with subprocess.Popen(
        [*command, "--name", "elsewhere"],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            for _ in range(500):
                if running.api.get("evaluations/elsewhere").status_code == 200:
                    break
                time.sleep(0.05)
            found = finished(running.api, "elsewhere", status="running")
            assert not found["here"]
            told = running.api.post("evaluations/elsewhere/stop")
            assert (told.status_code, "stop it there" in told.json()["detail"]) == (409, True)
            assert running.api.post("evaluations/elsewhere/resume").status_code == 409
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
    assert finished(running.api, "elsewhere", status="interrupted")["finished"] == 0
    (tmp_path / "open").touch()
    running.api.post("evaluations/elsewhere/resume").raise_for_status()
    assert finished(running.api, "elsewhere")["finished"] == 3


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_what_is_finished_to_a_terminal(
    store: Store, app: str, tmp_path: Path, greenroom: Greenroom
) -> None:
    fill(store)
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM, app], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            key = process.stdout.readline().strip()
            while store.evaluations.pages.count(store.evaluations.find(key).id) < 3:
                time.sleep(0.05)
        finally:
            process.kill()
    found = store.evaluations.pages.standing(store.evaluations.find(key).id)
    assert found is not None
    assert (found.job.status, found.finished) == ("interrupted", 3)
    (tmp_path / "open").touch()
    greenroom("evals", "resume", key)
    assert store.evaluations.find(key).status == "complete"
    assert len({*store.evaluations.finished(found.job.id)}) == 6


VICTIM = """
import sys, time
from greenroom.store import open_store
from tests.playground.conftest import running_playground
from tests.playground.evaluated import request
with running_playground(open_store(), [sys.argv[1]]) as running:
    body = request(sys.argv[1], "pausing", options={"repeats": 2})
    print(running.api.post("evaluations", json=body).raise_for_status().json()["key"], flush=True)
    time.sleep(60)
"""


def test_why_it_stopped_is_told_and_it_can_go_on(open_playground: Open, app: str) -> None:
    running = open_playground(sources=[app])
    fill(running.store)
    judge = {"model": "m", "api_base": "http://127.0.0.1:9/v1", "prompt": "Is {{nothing}} right?"}
    evaluators = [{"name": "llm_judge", "settings": judge}]
    key = started(running, app, "capital", evaluators=evaluators)["key"]
    found = finished(running.api, key, status="interrupted")
    assert "prompt has {{nothing}}" in found["problem"]
    assert found["resume"] == f"greenroom evals resume {key}"


def _filled(store: Store, rows: int, name: str, *, passed: int) -> None:
    version = store.test_sets.find("many")
    store.evaluations.create(
        sample_evaluation(version, id=f"id-{name}", name=name, repeats=1, is_chat=False)
    )
    batch: list[ResultRecord] = []
    for row in range(rows):
        result = sample_result(row)
        if row % 10 >= passed:
            score = result.scores["exact_match"].model_copy(update={"score": 0.0, "passed": False})
            result = result.model_copy(update={"scores": {"exact_match": score}})
        batch.append(result)
    store.evaluations.add(f"id-{name}", batch)


@pytest.mark.slow
def test_pages_of_a_large_evaluation_read_no_more_than_they_show(
    store: Store, open_playground: Open
) -> None:
    rows = 10_000
    store.test_sets.save("many", ({"country": f"Country {n}"} for n in range(rows)))
    _filled(store, rows, "before", passed=8)
    _filled(store, rows, "after", passed=7)
    running = open_playground(store)
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    whole = [
        ("evaluations", 1),
        ("evaluations/before", 3),
        ("evaluations/before/results?limit=50", 3),
        ("evaluations/before/results?failed=true&limit=50", 3),
        ("evaluations/before/results?q=Country%209999", 3),
        ("evaluations/before/results/9999/0", 4),
    ]
    for path, most in whole:
        asked.clear()
        answer = running.api.get(path).raise_for_status()
        assert len(asked) <= most, (path, len(asked))
        assert len(answer.content) < 120_000, path
        records = [one for one in asked if "results.record" in one]
        assert all("LIMIT" in one or "results.item = " in one for one in records), path
    seen: list[int] = []
    after: str | None = None
    while True:
        query = {"failed": True, "limit": 500, **({"after": after} if after else {})}
        page = running.api.get("evaluations/before/results", params=query).json()
        seen += [one["item"] for one in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [row for row in range(rows) if row % 10 >= 8]
    report = running.api.get("evaluations/before/report")
    assert len(report.content) < 30_000
    assert report.json()["counted"] == rows
    asked.clear()
    running.api.get("evaluations/before/report").raise_for_status()
    assert len(asked) < 5  # it is remembered


def test_two_evaluations_are_compared_row_by_row(store: Store, open_playground: Open) -> None:
    store.test_sets.save("many", ({"country": f"Country {n}"} for n in range(100)))
    _filled(store, 100, "before", passed=8)
    _filled(store, 95, "after", passed=7)
    running = open_playground(store)
    pair = {"a": "before", "b": "after"}
    found = running.api.get("evaluations/compare", params=pair).raise_for_status().json()
    assert (found["broke"], found["healed"], found["same"]) == (9, 0, 86)
    assert found["left_out"] == 5
    assert found["sentence"].startswith("after is worse than before")
    assert found["verdict"] == "worse"
    assert not [one for one in found["sections"] if one["id"].startswith("flips")]

    def rows(**query: Any) -> dict[str, Any]:
        answer = running.api.get("evaluations/compare/rows", params={**pair, **query})
        return answer.raise_for_status().json()

    first = rows(change="broke", limit=4)
    assert [one["item"] for one in first["items"]] == [7, 17, 27, 37]
    one = first["items"][0]
    assert (one["label"], one["question"], one["change"]) == ("row 8", "Country 7", "broke")
    change = {"alias": "exact_match", "change": "broke", "before": "100 %", "now": "0 %"}
    assert one["evaluators"] == [change]
    assert one["before"][0]["scores"][0]["passed"] is True
    assert one["now"][0]["scores"][0]["passed"] is False
    second = rows(change="broke", limit=500, after=first["next"])
    assert [one["item"] for one in second["items"]] == [47, 57, 67, 77, 87]
    assert len(rows(limit=500)["items"]) == 95
    healed = running.api.get(
        "evaluations/compare/rows", params={"a": "after", "b": "before", "change": "healed"}
    ).json()
    assert [one["item"] for one in healed["items"]][:2] == [7, 17]
    same = running.api.get("evaluations/compare", params={"a": "before", "b": "before"})
    assert (same.status_code, "with itself" in same.json()["detail"]) == (422, True)


def test_what_a_crashed_row_cost_is_not_known(running: Running, app: str) -> None:
    started = running.api.post("evaluations", json=request(app, "fragile")).raise_for_status()
    key = started.json()["key"]
    finished(running.api, key)
    items = running.api.get(f"evaluations/{key}/results").raise_for_status().json()["items"]
    assert [one["outcome"]["outcome"] for one in items] == ["passed", "crashed", "not_passed"]
    assert [one["cost"] for one in items] == [None, None, None]
    whole = running.api.get(f"evaluations/{key}/results/1/0").raise_for_status().json()
    assert whole["cost"] is None


def test_a_row_that_stays_the_same_says_that_its_score_changed(
    store: Store, open_playground: Open
) -> None:
    version, _ = store.test_sets.save("few", [{"country": "Peru"}, {"country": "Chad"}])
    for name, points in (("before", (0.5, 0.7)), ("after", (0.8, 0.9))):
        fields = {"id": f"id-{name}", "name": name, "repeats": 2}
        store.evaluations.create(sample_evaluation(version, **fields))
        for row, repeat in ((0, 0), (0, 1), (1, 0), (1, 1)):
            score = points[repeat] if row == 0 else 1.0
            given = {"exact_match": ScoreRecord(score=score, passed=True)}
            store.evaluations.add(f"id-{name}", [sample_result(row, repeat, scores=given)])
    running = open_playground(store)
    query = {"a": "before", "b": "after"}
    answer = running.api.get("evaluations/compare/rows", params=query).raise_for_status()
    first, second = answer.json()["items"]
    assert (first["change"], first["evaluators"]) == ("same", [])
    [change] = first["scores"]
    assert change["alias"] == "exact_match"
    assert (change["before"], change["now"]) == pytest.approx((0.6, 0.85))
    assert second["scores"] == []


def test_evaluations_of_different_rows_are_not_compared(running: Running, app: str) -> None:
    keys = [started(running, app, "guide", "chats")["key"], started(running, app, "paced")["key"]]
    for key in keys:
        finished(running.api, key)
    answer = running.api.get("evaluations/compare", params={"a": keys[0], "b": keys[1]})
    assert answer.status_code == 422
    assert "rows cannot be paired" in answer.json()["detail"]


def test_large_and_odd_values_are_cut_in_tables_and_whole_by_themselves(
    store: Store, open_playground: Open
) -> None:
    version, _ = store.test_sets.save("many", [{"country": "x" * 1_000_000, "\ud800": "half"}])
    store.evaluations.create(
        sample_evaluation(version, id="id-big", name="a/b?c", repeats=1, is_chat=False)
    )
    odd = {"text": "y" * 1_000_000, "half": "\ud800", "number": 10**30, "deep": [[[[[[[[1]]]]]]]]}
    store.evaluations.add("id-big", [sample_result(0, outputs=odd)])
    running = open_playground(store)
    (listed,) = running.api.get("evaluations").json()["items"]
    assert listed["key"] == "id-big"  # its name does not fit into an address
    answer = running.api.get("evaluations/id-big/results")
    assert len(answer.content) < 20_000
    (item,) = answer.json()["items"]
    assert item["cut"]
    assert item["outputs"]["text"].startswith("yyy")
    whole = running.api.get("evaluations/id-big/results/0/0").json()
    assert (len(whole["outputs"]["text"]), whole["cut"]) == (1_000_000, False)
    assert whole["outputs"]["half"] == "?"


def test_an_empty_store_has_empty_pages(playground: Running) -> None:
    assert playground.api.get("evaluations").json() == {"items": [], "next": None}
    assert playground.api.get("evaluations/none").status_code == 404
    assert playground.api.get("evaluations", params={"after": "x"}).status_code == 422
    found = playground.api.get("evaluators").json()
    names = [one["name"] for one in found["items"]]
    assert {"exact_match", "llm_judge", "webhook"} <= {*names}
    judge = next(one for one in found["items"] if one["name"] == "llm_judge")
    assert judge["settings"]["required"] == ["model"]
    assert "prompt_file" not in judge["settings"]["properties"]
    assert found["options"]["properties"]["rows"]["type"] == "integer"
