"""Sizes: threads of hundreds of messages, messages of a megabyte, many browsers at once."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from greenroom.store import Store
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, address, user, wait_for


@pytest.fixture
def talk(store: Store, open_playground: Open) -> Talk:
    return Talk(open_playground(store, [str(APP)]).api)


@contextmanager
def statements(store: Store) -> Generator[list[str]]:
    """The statements that the store gets while the block runs."""
    seen: list[str] = []

    def note(*given: Any) -> None:
        seen.append(given[2])

    event.listen(store.engine, "before_cursor_execute", note)
    yield seen
    event.remove(store.engine, "before_cursor_execute", note)


def conversation(messages: int) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"message {n} " * 20} for n in range(messages)]


def test_a_thread_of_300_messages_comes_in_pieces(talk: Talk, store: Store) -> None:
    thread = talk.thread("recorder", messages=conversation(300))
    with statements(store) as seen:
        answer = talk.api.get(f"threads/{thread['id']}")
    assert len(seen) < 8
    found = answer.json()
    assert (len(found["turns"]), found["turn_count"]) == (50, 150)
    assert len(answer.content) < 100_000
    seen_turns = [turn["id"] for turn in found["turns"]]
    while found["earlier"]:
        found = talk.get(f"threads/{thread['id']}", before=found["earlier"])
        seen_turns = [turn["id"] for turn in found["turns"]] + seen_turns
    assert len(seen_turns) == len(set(seen_turns)) == 150
    said = talk.say(thread, "and now?")
    assert said["last"]["outputs"]["content"] == "301 messages"
    copy = talk.post(f"threads/{thread['id']}/copy", through=seen_turns[100])
    assert copy["turn_count"] == 101


@pytest.mark.slow
def test_a_message_of_a_megabyte_is_cut_in_lists_and_whole_alone(talk: Talk, store: Store) -> None:
    large = "x" * 2**20
    thread = talk.thread("parrot")
    said = talk.say(thread, large)
    turn = said["last"]
    assert (turn["truncated"], turn["status"]) == (True, "done")
    assert turn["size"] > 2 * 2**20
    assert turn["said"][0]["content"].startswith("xxx")
    assert len(talk.api.get(f"threads/{thread['id']}").content) < 200_000
    assert len(talk.api.get(f"boards/{thread['board_id']}").content) < 200_000
    with statements(store) as seen:
        talk.get(f"boards/{thread['board_id']}")
    assert len(seen) < 8
    whole = talk.get(f"turns/{turn['id']}")
    assert (whole["truncated"], whole["said"]) == (False, [user(large)])
    assert whole["replies"][0]["content"].strip() == f"kind: {large}"
    again = talk.say(thread, "small")  # the whole message is sent along
    assert again["last"]["prompt_tokens"] == 3


def test_of_many_who_speak_at_once_one_is_heard(talk: Talk) -> None:
    thread = talk.thread("recorder")

    def speak(number: int) -> int:
        body = {"version": thread["version"], "messages": [user(f"from {number}")]}
        return talk.api.post(f"threads/{thread['id']}/turns", json=body).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(speak, range(8)))
    assert answers == [200, *[409] * 7]
    assert talk.get(f"threads/{thread['id']}")["turn_count"] == 1


@pytest.mark.slow
def test_many_threads_of_one_board_run_at_once(talk: Talk, store: Store) -> None:
    rows = [{"country": f"C{number}"} for number in range(300)]
    store.test_sets.save("some", rows)
    board = talk.board("capital", "facts")
    talk.post(f"boards/{board['id']}/load", test_set="some")
    started = talk.post(f"boards/{board['id']}/run")
    assert len(started["started"]) == 600

    def done() -> Any:
        found = talk.get(f"boards/{board['id']}", limit=500)["threads"]
        return all(one["last"]["status"] == "done" for one in found) and found

    found = wait_for(done, seconds=50)
    assert [one["last"]["outputs"] for one in found[::2]] == [
        f"the capital of C{number}" for number in range(300)
    ]


@pytest.mark.slow
def test_boards_change_beside_each_other(talk: Talk) -> None:
    board = talk.board("recorder", "parrot", "whole", title="busy")

    def work(number: int) -> None:
        thread = board["threads"][number % 3]
        if number % 4 == 0:
            talk.post(f"boards/{board['id']}/threads", address=address("recorder"))
        elif number % 4 == 1:
            talk.patch(f"boards/{board['id']}", title=f"busy {number}")
        elif number % 4 == 2:
            talk.post(f"threads/{thread['id']}/copy")
        else:
            talk.post(f"boards/{board['id']}/broadcast", messages=[user("hi")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    found = talk.get(f"boards/{board['id']}")
    assert len(found["threads"]) == 3 + 12
    places = {(one["row"], one["column"]) for one in found["threads"]}
    assert len(places) == len(found["threads"]) == len(found["columns"])
