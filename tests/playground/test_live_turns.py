"""Turns that run, and pages that listen."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from greenroom.playground import changes
from greenroom.playground.changes import MOST_WAITING, Follower
from greenroom.playground.thread_models import ChangeEvent
from greenroom.store import Store, this_process
from greenroom.store.thread_records import BoardRecord, ThreadRecord, TurnRecord
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, listening, user, wait_for


def test_turns_of_processes_that_are_gone_are_broken_and_others_stay(store: Store) -> None:
    board = BoardRecord()
    store.boards.create(board)
    thread = ThreadRecord(board_id=board.id, address="a", history={"turns": []})  # pyright: ignore[reportArgumentType]
    gone, here = this_process(), this_process()
    dead = type(gone)(gone.host, 2**22 + 1, gone.token)  # no process has this number
    elsewhere = type(gone)("another-machine", 1, "0a1b2c3d")
    store.turns.processes.renew(here)
    store.turns.processes.renew(dead)
    store.turns.processes.renew(elsewhere)
    forgotten = this_process()  # never told that it is alive
    made = {
        name: TurnRecord(thread_id=thread.id, status="running", owner=str(owner))
        for name, owner in (
            ("dead", dead),
            ("here", here),
            ("elsewhere", elsewhere),
            ("forgotten", forgotten),
        )
    }
    store.threads.add(board.id, [thread], list(made.values()))
    ended = {one.id for one in store.turns.break_abandoned()}
    assert ended == {made["dead"].id, made["forgotten"].id}
    assert store.turns.break_abandoned() == []
    assert store.turns.find(made["here"].id).status == "running"
    assert not store.turns.end(made["dead"], dead)
    assert store.turns.running_in([thread.id])
    store.turns.processes.release(str(here))
    assert [one.id for one in store.turns.break_abandoned()] == [made["here"].id]


# Events


def test_two_browsers_see_the_same_thread(store: Store, open_playground: Open) -> None:
    running = open_playground(store, [str(APP)])
    talk = Talk(running.api)
    thread = talk.thread("recorder")
    with (
        httpx.Client(base_url=running.api.base_url, cookies=running.api.cookies) as other,
        listening(Talk(other)) as events,
    ):
        said = talk.say(thread, "hello")
        turn = {"kind": "turn", "id": said["last"]["id"], "thread_id": thread["id"]}
        wanted = [
            turn | {"status": "running"},
            turn | {"status": "done"},
            {
                "kind": "thread",
                "id": thread["id"],
                "board_id": thread["board_id"],
                "version": said["version"],
            },
        ]
        while wanted:
            event = next(events)
            wanted = [one for one in wanted if one != event]


def test_a_page_that_does_not_read_is_dropped() -> None:
    async def follow() -> int:
        follower = Follower()
        for number in range(MOST_WAITING + 5):
            follower.take(ChangeEvent(kind="thread", id=str(number)))
        return len([event async for event in follower.events()])

    assert anyio.run(follow) == 0


@pytest.mark.slow
def test_a_quiet_stream_has_a_heartbeat(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "SECONDS_BETWEEN_BEATS", 0.2)
    talk = Talk(open_playground().api)
    with talk.api.stream("GET", "events") as answer:
        lines = answer.iter_lines()
        heard = [next(lines) for _ in range(5)]
    assert heard == [": open", "", ": still here", "", ": still here"]


@pytest.mark.slow
def test_nobody_listens_so_nobody_looks(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []

    class Counted(changes.Watch):
        def look(self) -> list[dict[str, Any]]:
            looks.append(time.monotonic())
            return super().look()

    monkeypatch.setattr(changes, "Watch", Counted)
    monkeypatch.setattr(changes, "SECONDS_BETWEEN_LOOKS", 0.1)
    talk = Talk(open_playground().api)

    def nobody_looks() -> bool:
        before = len(looks)
        time.sleep(0.5)
        return len(looks) == before

    assert nobody_looks()
    assert looks == []
    with listening(talk):
        wait_for(lambda: len(looks) > 2)
    # The server notices after a moment that the page is gone.
    wait_for(nobody_looks)


def test_words_are_shown_as_they_come(open_playground: Open, tmp_path: Path) -> None:
    talk = Talk(open_playground(sources=[str(APP)]).api)
    thread = talk.thread("patient")
    body = {"version": thread["version"], "messages": [user(str(tmp_path))]}
    words: list[str] = []
    with talk.api.stream("POST", f"threads/{thread['id']}/turns", json=body) as answer:
        for line in answer.iter_lines():
            if "text-delta" in line:
                words.append(json.loads(line[6:])["delta"])
                # The workflow waits with the next word until this one was read.
                (tmp_path / words[-1].strip()).touch()
    assert words == [f"w{number} " for number in range(5)]


@pytest.mark.slow
def test_a_turn_that_cannot_be_kept_leaves_the_others_alone(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = open_playground(sources=[str(APP)])
    talk = Talk(running.api)
    thread, other = talk.thread("recorder"), talk.thread("recorder")
    real = running.store.turns.end

    def end(record: TurnRecord, owner: Any) -> bool:
        if record.thread_id == thread["id"]:
            raise OverflowError("too large for any database")
        return real(record, owner)

    monkeypatch.setattr(running.store.turns, "end", end)
    body = {"version": thread["version"], "messages": [user("go")]}
    told = talk.api.post(f"threads/{thread['id']}/turns", json=body).text
    assert "could not be kept: too large for any database" in told
    kept = talk.get(f"threads/{thread['id']}")
    assert (kept["running"], kept["last"]["status"]) == (None, "broken")
    assert talk.say(other, "hello")["last"]["status"] == "done"
