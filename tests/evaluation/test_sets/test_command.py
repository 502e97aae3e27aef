from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.store import open_store
from tests.cli.running import Greenroom
from tests.store.samples import sample_evaluation

CHAT = [{"role": "user", "content": "Which is the capital of France?"}]
ROWS = [
    {"messages": CHAT, "expected": "Paris"},
    {"messages": CHAT, "expected": {"role": "assistant", "content": "Paris"}},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "capitals.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


@pytest.fixture
def imported(greenroom: Greenroom, file: Path) -> Greenroom:
    result = greenroom("testset", "import", file, "--note", "at first")
    assert (result.status, result.out) == (0, "Imported capitals@1: 2 rows, 2 columns\n")
    return greenroom


def test_the_same_file_again_changes_nothing(imported: Greenroom, file: Path) -> None:
    assert imported("testset", "import", file).out.startswith("Nothing to import: capitals@1")
    again = imported("testset", "import", file, "--json").json
    assert (again["version"], again["new"], again["rows"]) == (1, False, 2)


def test_a_changed_file_is_a_new_version(imported: Greenroom, file: Path) -> None:
    file.write_text('{"q": "x"}')
    assert "capitals@2: 1 row, 1 column" in imported("testset", "import", file).out
    assert imported("testset", "import", file, "--name", "other", "--json").json["new"] is True
    listed = imported("testset", "list", "--json").json
    assert [(one["name"], one["version"]) for one in listed] == [("capitals", 2), ("other", 1)]
    shown = imported("testset", "show", "capitals@1", "--json").json
    assert shown["first_rows"] == ROWS


def test_what_columns_hold_and_are_for_is_shown(imported: Greenroom) -> None:
    shown = imported("testset", "show", "capitals", "--json", "--rows", 1).json
    assert shown["columns"] == [
        {"name": "messages", "kind": "chat", "role": "input"},
        {"name": "expected", "kind": "mixed", "role": "expected"},
    ]
    assert shown["first_rows"] == ROWS[:1]
    assert [one["note"] for one in shown["versions"]] == ["at first"]
    words = imported("testset", "show", "capitals").out
    assert "chat" in words
    assert "Version 1" in words
    assert "at first" in words
    assert 'Row 1: {"messages"' in words
    assert "capitals" in imported("testset", "list").out


def test_names_with_brackets_are_shown_as_they_are(greenroom: Greenroom) -> None:
    greenroom("testset", "add", "[red]set", "--row", '{"[bold]column": "[/x]"}')
    assert "[red]set" in greenroom("testset", "list").out
    shown = greenroom("testset", "show", "[red]set").out
    assert "[red]set@1" in shown
    assert "[bold]column" in shown
    assert '"[/x]"' in shown


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_an_exported_set_is_the_same_when_imported_again(
    greenroom: Greenroom, tmp_path: Path, form: str
) -> None:
    source = tmp_path / "texts.csv"
    source.write_bytes('messages,expected\r\n"[{""role"": ""user""}]","a\nb, ""ü"""\r\n'.encode())
    greenroom("testset", "import", source)
    target = tmp_path / f"out.{form}"
    result = greenroom("testset", "export", "texts", target)
    assert (result.status, result.out.split(":")[0]) == (0, f"Wrote {target}")
    again = greenroom("testset", "import", target, "--name", "texts")
    assert again.out.startswith("Nothing to import: texts@1")
    if form == "csv":
        assert target.read_bytes() == source.read_bytes()


def test_rows_can_be_printed(imported: Greenroom, file: Path) -> None:
    printed = imported("testset", "export", "capitals", "-").out
    assert [json.loads(line) for line in printed.splitlines()] == ROWS
    assert imported("testset", "export", "capitals", "-", "--format", "json").json == ROWS
    assert imported("testset", "export", "capitals@1", "-", "--format", "csv").out.startswith(
        "messages,expected"
    )


def test_rows_are_added(imported: Greenroom) -> None:
    row = json.dumps({"messages": CHAT, "expected": "Paris, of course"}, indent=1)
    result = imported("testset", "add", "capitals", "--row", row, "--row", row, "--json")
    assert (result.json["version"], result.json["rows"]) == (2, 4)
    assert imported("testset", "add", "fresh", "--row", '{"a": 1}').out == (
        "fresh@1: 1 row, 1 column\n"
    )


def test_a_set_is_deleted_unless_it_is_needed(imported: Greenroom) -> None:
    store = open_store()
    evaluation = sample_evaluation(store.test_sets.find("capitals"))
    store.evaluations.create(evaluation)
    refused = imported("testset", "delete", "capitals", "--yes")
    assert (refused.status, "The evaluation 'evaluation'" in refused.err) == (2, True)
    store.evaluations.delete(evaluation)
    store.close()
    assert imported("testset", "delete", "capitals", "--yes", "--json").json["deleted"] is True
    assert "No test sets yet" in imported("testset", "list").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "capitols"], "Did you mean 'capitals'"),
        (["show", "capitals@9"], "has no version 9: it has 1"),
        (["show", "capitals@latest"], "A version is a number after @, such as capitals@2"),
        (["show", "@"], "A version is a number after @, such as NAME@2"),
        (["import", "none.csv"], "none.csv is missing"),
        (["import", "none.txt"], "does not tell its format"),
        (["import", "none.csv", "--name", "a@b"], "@ separates the version"),
        (["export", "capitals", "out.txt"], "does not tell its format"),
        (["export", "capitals", "-", "--json"], "leave --json out"),
        (["export", "capitals", "out.csv", "--format", "xml"], "Unknown format 'xml'"),
        (["add", "capitals", "--row", "{"], "--row, line 1, column 2: this is not valid JSON"),
        (["add", "capitals", "--row", "[]"], "--row, line 1, column 1: a row is an object"),
        (["add", "capitals", "--row", " "], "no rows for the test set 'capitals'"),
        (["delete", "capitols", "--yes"], "Did you mean 'capitals'"),
    ],
)
def test_what_is_mistyped_changes_nothing(
    imported: Greenroom,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    result = imported("testset", *arguments)
    assert (result.status, words in result.err) == (2, True), result.err
    assert len(result.err.strip().splitlines()) <= 2
    assert result.out == ""
    assert list(folder.iterdir()) == []
    assert [one["version"] for one in imported("testset", "list", "--json").json] == [1]


def test_a_broken_file_leaves_the_set_as_it_was(imported: Greenroom, file: Path) -> None:
    lines = [json.dumps({"n": number}) for number in range(1500)]
    file.write_text("\n".join([*lines, "{broken"]))
    result = imported("testset", "import", file)
    assert (result.status, "line 1501, column 2" in result.err) == (2, True), result.err
    assert imported("testset", "show", "capitals", "--json").json["first_rows"] == ROWS


def test_a_file_that_cannot_be_written_is_left_as_it_was(
    imported: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("what was there before")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    result = imported("testset", "export", "capitals", target)
    assert (result.status, "No space left on device" in result.err) == (2, True)
    assert target.read_text() == "what was there before"
    assert {path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"} == set()


def test_versions_are_compared(greenroom: Greenroom, tmp_path: Path) -> None:
    for number, rows in enumerate(
        [
            [{"q": "a", "n": 1}, {"q": "b", "n": 2}, {"q": "[c]", "n": 3}],
            [{"q": "new"}, {"q": "a", "n": 10}, {"q": "[c]", "n": 3}],
        ]
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        greenroom("testset", "import", str(path), "--name", "set")
    shown = greenroom("testset", "diff", "set@1", "set@2")
    assert shown.out.splitlines() == [
        "set@1 to set@2: 1 row added, 1 row changed, 1 row removed",
        "Row 1 was added",
        "  q: new",
        "Row 2, which was row 1, changed",
        "  n: 1 -> 10",
        "Row 2 was removed",
        "  q: b",
        "  n: 2",
    ]
    facts = json.loads(greenroom("testset", "diff", "set@2", "set@1", "--rows", "1", "--json").out)
    assert facts["counts"] == {"added": 1, "changed": 1, "removed": 1}
    assert facts["rows"] == [
        {"kind": "removed", "before": 1, "after": None, "cells": {"q": {"before": "new"}}}
    ]
    assert "the same rows" in greenroom("testset", "diff", "set", "set@2").out
    greenroom("testset", "add", "other", "--row", '{"a": 1}')
    refused = greenroom("testset", "diff", "set", "other")
    assert (refused.status, "different test sets" in refused.err) == (2, True)
