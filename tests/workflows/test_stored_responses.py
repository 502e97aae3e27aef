"""Responses are kept within limits."""

from __future__ import annotations

from typing import Any

from greenroom.workflows.serve.stored_responses import StoredResponses


def answered(identity: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"id": identity, "output": list(items)}


SAID: list[dict[str, Any]] = [{"role": "user", "content": "x" * 50}]


def test_a_response_is_found_by_its_own_workflow_alone() -> None:
    stored = StoredResponses()
    stored.keep(answered("r1"), "echo", "s-1", SAID)
    found = stored.find("r1", "echo")
    assert found is not None
    assert (found.session_id, found.messages) == ("s-1", SAID)
    assert stored.find("r1", "other") is None
    assert stored.find("r2", "echo") is None


def test_items_are_found_as_long_as_their_response_is_kept() -> None:
    stored = StoredResponses(max_responses=1)
    item = {"id": "msg_1", "type": "message"}
    stored.keep(answered("r1", item), "echo", "s-1", SAID)
    assert stored.find_item("msg_1", "echo") == item
    assert stored.find_item("msg_1", "other") is None
    stored.keep(answered("r2"), "echo", "s-1", SAID)
    assert stored.find_item("msg_1", "echo") is None


def test_the_least_recently_used_make_room() -> None:
    stored = StoredResponses(max_responses=2)
    for name in ("r1", "r2"):
        stored.keep(answered(name), "echo", "s", SAID)
    assert stored.find("r1", "echo")
    stored.keep(answered("r3"), "echo", "s", SAID)
    assert [bool(stored.find(name, "echo")) for name in ("r1", "r2", "r3")] == [True, False, True]
    assert len(stored) == 2


def test_all_together_stay_within_their_bytes() -> None:
    stored = StoredResponses(max_bytes=260)
    for number in range(10):
        stored.keep(answered(str(number)), "echo", "s", SAID)
    assert len(stored) == 2
    stored.keep(answered("large"), "echo", "s", SAID * 9)
    assert len(stored) == 0


def test_responses_that_nobody_continues_are_forgotten() -> None:
    now = 0.0
    stored = StoredResponses(max_idle_seconds=10, clock=lambda: now)
    stored.keep(answered("r1"), "echo", "s", SAID)
    now = 9.0
    assert stored.find("r1", "echo")
    now = 18.0
    assert stored.find("r1", "echo")
    now = 29.0
    assert stored.find("r1", "echo") is None


def test_a_deleted_response_and_its_items_are_gone() -> None:
    stored = StoredResponses()
    stored.keep(answered("r1", {"id": "msg_1"}), "echo", "s", SAID)
    stored.forget("r1")
    assert stored.find("r1", "echo") is None
    assert stored.find_item("msg_1", "echo") is None
    stored.keep(answered("r2"), "echo", "s", SAID)
    assert len(stored) == 1
