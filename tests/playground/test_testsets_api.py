from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.evaluation.row_calls import plan_rows
from greenroom.evaluation.test_sets import kept_row
from greenroom.playground.app import create_app
from greenroom.playground.state import Playground
from greenroom.store import ColumnRecord, Store, kind_of, open_store
from greenroom.workflows.calls import Profile, Schemas
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, user
from tests.store.samples import sample_episode, sample_evaluation, sample_result, sample_run

API = "/api/v1/test-sets"
ROWS: list[dict[str, Any]] = [
    {"question": "Capital of France?", "expected": "Paris"},
    {"question": "Capital of Peru?", "expected": {"role": "assistant", "content": "Lima"}},
    {"question": '[{"role": "user", "content": "Of Chad?"}]', "n": 12345678901234567890123},
]


@pytest.fixture
def api(store: Store) -> Generator[TestClient]:
    with TestClient(create_app(Playground(store))) as client:
        yield client


@pytest.fixture
def capitals(store: Store, api: TestClient) -> TestClient:
    store.test_sets.save("capitals", ROWS, note="at first")
    return api


def asked(api: TestClient, path: str, **query: Any) -> Any:
    answer = api.get(f"{API}{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def changed(api: TestClient, *edits: dict[str, Any], base: int = 1, note: str = "") -> Any:
    body = {"base_version": base, "edits": edits, "note": note}
    return api.patch(f"{API}/capitals", json=body)


def test_an_empty_store_has_no_test_sets(api: TestClient) -> None:
    assert asked(api, "") == {"items": [], "next": None}
    answer = api.get(f"{API}/none")
    assert answer.status_code == 404
    assert "Unknown test set 'none'" in answer.json()["detail"]


def test_sets_are_listed_page_by_page(store: Store, api: TestClient) -> None:
    names = [f"set {number}" for number in range(5)] + ["a/b c"]
    for name in names:
        store.test_sets.save(name, ROWS)
        store.test_sets.add(name, ROWS[:1])
    found: list[str] = []
    after: dict[str, Any] = {}
    while True:
        page = asked(api, "", limit=2, **after)
        found += [one["name"] for one in page["items"]]
        assert {one["version"] for one in page["items"]} == {2}
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert sorted(found) == sorted(names)
    assert [one["name"] for one in asked(api, "", q="B C")["items"]] == ["a/b c"]
    assert asked(api, "/a%2Fb%20c/rows")["row_count"] == 4


def test_rows_say_what_their_cells_are(capitals: TestClient) -> None:
    shown = asked(capitals, "/capitals")
    assert [(one["name"], one["kind"], one["role"]) for one in shown["columns"]] == [
        ("question", "mixed", "input"),
        ("expected", "mixed", "expected"),
        ("n", "number", "input"),
    ]
    page = asked(capitals, "/capitals/rows", limit=2, start=1)
    assert [row["position"] for row in page["items"]] == [1, 2]
    assert page["next"] is None
    cells = page["items"][1]["cells"]
    assert (cells["n"]["text"], cells["n"]["is_text"]) == ("12345678901234567890123", False)
    assert (cells["question"]["kind"], cells["question"]["messages"]) == ("chat", 1)
    found = asked(capitals, "/capitals/rows", q="chad", column="question")
    assert [row["position"] for row in found["items"]] == [2]
    assert asked(capitals, "/capitals/rows", kind="number")["items"][0]["position"] == 2


@pytest.mark.slow
def test_long_cells_are_cut_in_lists_and_whole_alone(store: Store, api: TestClient) -> None:
    long = "ü" * 100_000
    store.test_sets.save("long", [{"text": long, "half": "\ud800"}] * 100)
    answer = api.get(f"{API}/long/rows")
    assert len(answer.content) < 400_000
    cell = answer.json()["items"][7]["cells"]["text"]
    assert (cell["cut"], cell["size"], len(cell["text"])) == (True, 100_000, 1_000)
    assert asked(api, "/long/rows/7")["cells"]["text"]["text"] == long
    assert api.get(f"{API}/long/rows/100").status_code == 404


def test_edits_make_a_version(store: Store, capitals: TestClient) -> None:
    saved = changed(
        capitals,
        {"kind": "set", "row": 0, "column": "expected", "value": "Paris, France"},
        {"kind": "set_json", "row": 0, "column": "n", "text": "98765432109876543210"},
        {"kind": "delete", "row": 1},
        note="corrected",
    ).json()
    assert (saved["is_new"], saved["test_set"]["version"]) == (True, 2)
    assert saved["test_set"]["note"] == "corrected"
    rows = list(store.test_sets.rows(store.test_sets.find("capitals")))
    assert rows == [{**ROWS[0], "expected": "Paris, France", "n": 98765432109876543210}, ROWS[2]]


@pytest.mark.slow
def test_somebody_else_saved_in_the_meantime(capitals: TestClient) -> None:
    edit = {"kind": "delete", "row": 0}
    assert changed(capitals, edit).status_code == 200
    answer = changed(capitals, edit)
    assert answer.status_code == 409
    assert "Load it again" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"kind": "set_json", "row": 0, "column": "n", "text": "[1,"}, "Row 1, column 'n' is not"),
        ({"kind": "set_json", "row": 0, "column": "n", "text": "NaN"}, "cannot be stored as JSON"),
        ({"kind": "set", "row": 9, "column": "n", "value": 1}, "no row 10"),
        ({"kind": "set", "row": 0, "column": "", "value": 1}, "at least 1 character"),
        ({"kind": "juggle"}, "juggle"),
        ({"kind": "delete", "row": 0, "really": True}, "really"),
    ],
)
def test_edits_that_do_not_fit_are_told(
    capitals: TestClient, edit: dict[str, Any], words: str
) -> None:
    answer = changed(capitals, edit)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert asked(capitals, "/capitals")["version"] == 1


def test_versions_differ_and_can_be_restored(store: Store, capitals: TestClient) -> None:
    changed(
        capitals,
        {"kind": "set", "row": 0, "column": "expected", "value": "Lyon"},
        {"kind": "insert", "before": 3, "cells": {"question": "Of Mali?"}},
        {"kind": "clear", "row": 2, "column": "n"},
        {"kind": "delete", "row": 1},
    )
    path = "/capitals/differences"
    found = asked(capitals, path, **{"from": 1, "to": 2})
    assert found["counts"] == {"added": 1, "removed": 1, "changed": 2, "moved": 0}
    first, removed, changes, added = found["items"]
    assert (first["before"], first["after"]) == (0, 0)
    assert [(one["column"], one["before"]["text"]) for one in first["cells"]] == [
        ("expected", "Paris")
    ]
    assert (removed["kind"], removed["before"], removed["after"]) == ("removed", 1, None)
    assert changes["cells"][0]["after"] is None
    assert (added["kind"], added["after"]) == ("added", 2)
    first_page = asked(capitals, path, **{"from": 1, "to": 2, "limit": 3})
    last_page = asked(capitals, path, **{"from": 1, "to": 2, "after": first_page["next"]})
    assert first_page["items"] + last_page["items"] == found["items"]
    restored = capitals.post(
        f"{API}/capitals/restore", json={"version": 1, "base_version": 2}
    ).json()
    assert (restored["test_set"]["version"], restored["is_new"]) == (3, True)
    assert list(store.test_sets.rows(store.test_sets.find("capitals"))) == ROWS
    assert asked(capitals, path, **{"from": 1, "to": 3})["items"] == []
    versions = asked(capitals, "/capitals/versions", limit=2)
    assert [one["version"] for one in versions["items"]] == [3, 2]
    rest = asked(capitals, "/capitals/versions", after=versions["next"])
    assert [(one["version"], one["note"]) for one in rest["items"]] == [(1, "at first")]


def imported(api: TestClient, content: bytes, file: str, **query: Any) -> Any:
    return api.post(f"{API}/import", params={"file": file, **query}, content=content)


def test_files_are_imported_and_exported(store: Store, capitals: TestClient) -> None:
    exported = capitals.get(f"{API}/capitals/export", params={"format": "json"})
    assert exported.headers["content-disposition"].endswith("capitals%401.json")
    again = imported(capitals, exported.content, "cities.json")
    assert again.json()["test_set"]["name"] == "cities"
    assert list(store.test_sets.rows(store.test_sets.find("cities"))) == ROWS
    assert imported(capitals, exported.content, "cities.json").json()["is_new"] is False
    named = imported(capitals, b"a;b\r\n1;2\r\n", "x.txt", name="mine", format="csv").json()
    assert [one["name"] for one in named["test_set"]["columns"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "file", "words"),
    [
        (b"a,b\n1,2,3\n", "x.csv", "x.csv, line 2: there are 3 cells for 2 columns"),
        (b'{"a": 1}\n{"a": }\n', "x.jsonl", "x.jsonl, line 2, column 7"),
        (b"a\n\xff\n", "x.csv", "line 2, column 1: the byte 0xff is not UTF-8"),
        ("a\n1\n".encode("utf-16"), "x.csv", "UTF-16"),
        (b"", "x.csv", "empty"),
        (b"a\n1\n", "x.xlsx", "choose CSV, JSON or JSON Lines"),
        (b"a\n1\n", "a@b.csv", "@ separates the version"),
    ],
)
def test_files_that_cannot_be_read_change_nothing(
    api: TestClient, content: bytes, file: str, words: str
) -> None:
    answer = imported(api, content, file)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert asked(api, "")["items"] == []


def test_a_row_that_csv_cannot_hold_is_told_before_a_file_begins(
    store: Store, api: TestClient
) -> None:
    store.test_sets.save("half", [{"a": "\ud800"}])
    answer = api.get(f"{API}/half/export", params={"format": "csv"})
    assert (answer.status_code, "surrogate" in answer.json()["detail"]) == (422, True)
    assert api.get(f"{API}/half/export").status_code == 200


def added(api: TestClient, name: str, source: dict[str, Any]) -> Any:
    preview = api.post(f"{API}/preview", json={"test_set": name, "source": source})
    answer = api.post(f"{API}/{name}/rows", json={"source": source})
    assert answer.status_code == 200, answer.text
    where = answer.json()
    row = asked(api, f"/{name}/rows/{where['position']}")
    assert preview.json()["row"] == row
    return where


def test_an_output_becomes_the_expected_output(store: Store, capitals: TestClient) -> None:
    raw = {"role": "assistant", "content": "Bamako", "extra": [1.5]}
    source = {"kind": "values", "inputs": {"question": "Of Mali?"}, "outputs": raw}
    assert added(capitals, "capitals", source)["position"] == 3
    latest = store.test_sets.find("capitals")
    assert list(store.test_sets.rows(latest, start=3)) == [
        {"question": "Of Mali?", "expected": raw}
    ]
    fresh = added(capitals, "fresh", source)
    assert (fresh["test_set"]["version"], fresh["position"]) == (1, 0)
    hidden = {"kind": "values", "inputs": {"expected": 1}, "outputs": 2}
    answer = capitals.post(f"{API}/fresh/rows", json={"source": hidden})
    assert (answer.status_code, "'expected' cannot be kept" in answer.text) == (422, True)


def test_a_turn_becomes_the_call_that_it_was(store: Store, open_playground: Open) -> None:
    talk = Talk(open_playground(store, [str(APP)]).api)
    thread = talk.thread("recorder", inputs={"place": "hall"})
    thread = talk.say(talk.say(thread, "hello"), "again")
    first, second = thread["turns"]

    def kept(turn: Any) -> Any:
        source = {"kind": "turn", "thread_id": thread["id"], "turn_id": turn["id"]}
        talk.post("test-sets/kept/rows", source=source)
        version = store.test_sets.find("kept")
        return next(store.test_sets.rows(version, start=version.row_count - 1))

    row = kept(second)
    assert row == {
        "place": "hall",
        "messages": [user("hello"), first["outputs"], user("again")],
        "expected": second["outputs"],
    }
    # Loaded, it is the same conversation: its last turn waits to be run.
    board = talk.board("recorder")
    loaded = talk.post(f"boards/{board['id']}/load", test_set="kept")["threads"][0]
    turns = talk.get(f"threads/{loaded['id']}")["turns"]
    assert [turn["said"] for turn in turns] == [first["said"], second["said"]]
    assert [turn["status"] for turn in turns] == ["done", "draft"]
    assert loaded["inputs"] == {"place": "hall"}
    answer = {"role": "assistant", "content": "by hand"}
    edit = {"turn_id": first["id"], "side": "answer", "index": 0, "message": answer}
    thread = talk.post(f"threads/{thread['id']}/edit", version=thread["version"], **edit)
    assert kept(thread["turns"][0])["expected"] == answer
    assert kept(thread["turns"][1])["messages"][1] == answer
    source = {"kind": "turn", "thread_id": thread["id"], "turn_id": "none"}
    assert "none" in talk.refused("POST", "test-sets/kept/rows", 404, source=source)
    draft = talk.say(thread, "later", run=False)["turns"][-1]
    source["turn_id"] = draft["id"]
    assert "run it first" in talk.refused("POST", "test-sets/kept/rows", 422, source=source)


@pytest.mark.parametrize(
    ("workflow", "inputs"),
    [("facts", {"country": "Peru", "detail": 2}), ("free", {"any": ["thing"], "n": 1.5})],
    ids=["completion", "custom"],
)
def test_a_turn_without_messages_becomes_a_row_with_its_raw_output(
    store: Store, open_playground: Open, workflow: str, inputs: dict[str, Any]
) -> None:
    talk = Talk(open_playground(store, [str(APP)]).api)
    thread = talk.say(talk.thread(workflow, inputs=inputs))
    [turn] = thread["turns"]
    source = {"kind": "turn", "thread_id": thread["id"], "turn_id": turn["id"]}
    talk.post("test-sets/kept/rows", source=source)
    [row] = store.test_sets.rows(store.test_sets.find("kept"))
    assert row == {**inputs, "expected": turn["outputs"]}
    assert isinstance(turn["outputs"], dict)
    board = talk.board(workflow)
    [loaded] = talk.post(f"boards/{board['id']}/load", test_set="kept")["threads"]
    assert loaded["inputs"] == inputs
    assert talk.say(loaded)["last"]["outputs"] == turn["outputs"]


@pytest.mark.slow
def test_an_episode_becomes_a_row(store: Store, api: TestClient) -> None:
    run = store.runs.create(sample_run())
    store.runs.add(run.id, [sample_episode()])
    episode = sample_episode()
    source = {"kind": "episode", "run": run.name, "task": episode.task_index, "trial": 0}
    where = added(api, "episodes", source)
    row = next(store.test_sets.rows(store.test_sets.find("episodes")))
    assert row["messages"][0] == {"role": "user", "content": episode.opening}
    assert where["test_set"]["note"] == f"from {run.name}, task {episode.task_index}, trial 0"
    assert row["expected"]
    answer = api.post(f"{API}/episodes/rows", json={"source": {**source, "trial": 9}})
    assert (answer.status_code, "trial 9" in answer.json()["detail"]) == (422, True)


def test_a_row_of_an_evaluation_becomes_a_row(store: Store, capitals: TestClient) -> None:
    version = store.test_sets.find("capitals")
    evaluation = store.evaluations.create(sample_evaluation(version))
    result = sample_result(1)
    store.evaluations.add(evaluation.id, [result])
    added(capitals, "kept", {"kind": "result", "evaluation": evaluation.name, "row": 1})
    assert list(store.test_sets.rows(store.test_sets.find("kept"))) == [
        {"question": ROWS[1]["question"], "expected": result.outputs}
    ]


TEXT = st.text(max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
COLUMN = st.text(min_size=1, max_size=5)
ANY_ROWS = st.lists(st.dictionaries(COLUMN, JSON, min_size=1, max_size=4), min_size=1, max_size=4)
TEXT_ROWS = st.lists(COLUMN, min_size=1, max_size=4, unique=True).flatmap(
    lambda names: st.lists(
        st.fixed_dictionaries(dict.fromkeys(names, TEXT)), min_size=1, max_size=4
    )
)


@pytest.mark.slow
def test_export_and_import_is_the_identity() -> None:
    store = open_store()
    client = TestClient(create_app(Playground(store)))

    @settings(max_examples=min(50, settings().max_examples))
    @given(st.data())
    def check(data: st.DataObject) -> None:
        form = data.draw(st.sampled_from(["csv", "json", "jsonl"]))
        # Cells of a CSV file are texts.
        rows = data.draw(TEXT_ROWS if form == "csv" else ANY_ROWS)
        store.test_sets.save("before", rows)
        exported = client.get(f"{API}/before/export", params={"format": form})
        assert exported.status_code == 200, exported.text
        assert imported(client, exported.content, f"after.{form}").status_code == 200
        after = list(store.test_sets.rows(store.test_sets.find("after")))
        in_order = form != "csv"  # a CSV file has its columns in one order
        assert [json.dumps(row, sort_keys=not in_order) for row in after] == [
            json.dumps(row, sort_keys=not in_order) for row in rows
        ]

    check()
    store.close()


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": TEXT}),
    min_size=1,
    max_size=4,
)
NAMES = st.sampled_from(["city", "limit", "context"])


@settings(max_examples=min(60, settings().max_examples))
@given(MESSAGES | st.none(), st.dictionaries(NAMES, JSON, max_size=2), JSON, st.booleans())
def test_a_row_that_was_added_is_the_same_call(
    messages: list[dict[str, Any]] | None, variables: dict[str, Any], outputs: Any, json_file: bool
) -> None:
    inputs = variables if messages is None else {**variables, "messages": messages}
    is_chat = messages is not None
    row = kept_row(inputs, outputs, [])
    if json_file:
        row = json.loads(json.dumps(row))
    properties: dict[str, Any] = {name: {} for name in variables}
    schemas = Schemas(inputs={"type": "object", "properties": properties})
    profile = Profile(name="w", is_chat=is_chat, schemas=schemas)
    columns = [ColumnRecord(name=name, kind=kind_of(value)) for name, value in row.items()]
    plan = plan_rows(profile, columns, "chat" if is_chat else "plain")
    assert plan.call(row, 0).inputs == inputs
    assert row["expected"] == outputs
