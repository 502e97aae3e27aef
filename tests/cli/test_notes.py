"""`greenroom notes`: list, export, import and agreement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenroom.store import Store
from tests.cli.running import Greenroom
from tests.store.test_notes import EPISODE, with_run


@pytest.fixture
def marked(store: Store) -> Store:
    """A run that Ann and Bob marked."""
    with_run(store)
    store.notes.add(EPISODE, text="\x1b[31mtoo\nlong", tag="rude", verdict="agent", author="Ann")
    step = EPISODE.model_copy(update={"item": 1, "step": 0})
    store.notes.add(step, verdict="user", author="Bob")
    return store


@pytest.mark.slow
def test_notes_are_listed_and_filtered(greenroom: Greenroom, marked: Store) -> None:
    told = greenroom("notes", "list", "sample").out
    assert "sample, task 1, trial 0, step 0" in told
    assert "[31mtoo long" in told
    assert "\x1b" not in told
    assert [one["author"] for one in greenroom("notes", "list", "--json").json] == ["Bob", "Ann"]
    (ann,) = greenroom("notes", "list", "sample", "--search", "TOO", "--json").json
    assert (ann["run"], ann["item"], ann["verdict"]) == ("sample", 0, "agent")
    for option in (("--tag", "rude"), ("--verdict", "agent"), ("--author", "Ann"), ("--limit", 1)):
        assert len(greenroom("notes", "list", *option, "--json").json) == 1
    assert "No such notes" in greenroom("notes", "list", "--tag", "kind").out
    assert greenroom("notes", "list", "other").status == 2
    assert greenroom("notes", "list", "sample", "--evaluation", "x").status == 2


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_notes_go_to_a_file_and_come_back(
    greenroom: Greenroom, marked: Store, tmp_path: Path, form: str
) -> None:
    file = tmp_path / f"notes.{form}"
    assert greenroom("notes", "export", file).out == f"Wrote {file}\n"
    before = greenroom("notes", "list", "--json").json
    with marked.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM notes")
    assert greenroom("notes", "import", file, "--json").json == {"read": 2, "kept": 2}
    assert greenroom("notes", "list", "--json").json == before
    assert "0 are new here" in greenroom("notes", "import", file).out
    file.write_text(file.read_text().replace("sample", "other"))
    refused = greenroom("notes", "import", file)
    assert (refused.status, "Unknown run 'other'" in refused.err) == (2, True)


def test_notes_are_printed_as_lines_of_json(greenroom: Greenroom, marked: Store) -> None:
    printed = greenroom("notes", "export", "-", "--run", "sample", "--author", "Ann").out
    (row,) = map(json.loads, printed.splitlines())
    assert row["text"] == "\x1b[31mtoo\nlong"


def test_a_file_without_notes_is_refused(greenroom: Greenroom, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"id": "x", "created_at": "2026-01-01"}\n')
    refused = greenroom("notes", "import", file)
    assert refused.status == 2
    assert "notes.jsonl, note 1: created_at" in refused.err


def test_agreement_says_what_is_missing(greenroom: Greenroom, marked: Store) -> None:
    told = greenroom("notes", "agreement", "sample").out
    assert "who is at fault" in told
    assert "Not enough" in told
    found = greenroom("notes", "agreement", "sample", "--json").json
    assert [one["name"] for one in found["raters"]] == ["Ann", "Bob"]
    assert found["figures"][0]["alpha"] is None
