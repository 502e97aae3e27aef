"""What pages are told while they listen: runs of others, and notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from greenroom.store import Store
from tests.playground.conftest import Open, Running
from tests.playground.seeding import play


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    return open_playground(store)


def told(running: Running, make: Callable[[], object]) -> Iterator[dict[str, Any]]:
    """The events that come while something is made in another thread."""
    with ThreadPoolExecutor(1) as pool, running.api.stream("GET", "events") as answer:
        made = None
        for line in answer.iter_lines():
            made = made or pool.submit(make)  # somebody listens now
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))


@pytest.mark.slow
def test_a_run_that_somebody_else_plays_is_told(running: Running) -> None:
    for event in told(running, lambda: play(running.store, "oracle", "theirs", tasks=2, trials=1)):
        if event["kind"] == "job" and event["status"] == "complete":
            assert (event["name"], event["finished"], event["planned"]) == ("theirs", 2, 2)
            break
    else:
        pytest.fail("the stream ended")


@pytest.mark.slow
def test_a_note_is_told(running: Running) -> None:
    play(running.store, "oracle", "mine", tasks=1, trials=1)
    note = {
        "subject": {"run": "mine", "task": 0, "trial": 0},
        "text": "Look here.",
        "author": "Ann",
    }
    kinds: set[str] = set()
    for event in told(running, lambda: running.api.post("notes", json=note).raise_for_status()):
        kinds.add(event["kind"])
        if "note" in kinds:
            break
    assert "note" in kinds


@pytest.mark.slow
def test_a_board_that_another_process_renames_is_told(
    running: Running, open_playground: Open
) -> None:
    board = running.api.post("boards", json={"title": "Old", "threads": []}).json()["id"]
    other = open_playground(running.store)

    def rename() -> None:
        other.api.patch(f"boards/{board}", json={"title": "New"}).raise_for_status()

    for event in told(running, rename):
        if event["kind"] == "board" and event.get("name") == "New":
            break
    else:
        pytest.fail("the stream ended")


def test_who_begins_to_listen_is_told_what_has_just_changed(running: Running) -> None:
    with running.api.stream("GET", "events") as first:
        next(first.iter_lines())  # somebody else listens already
        board = running.api.post("boards", json={"title": "New", "threads": []}).json()["id"]
        for event in told(running, lambda: None):
            if event["kind"] == "board" and event["id"] == board:
                break
        else:
            pytest.fail("the stream ended")
