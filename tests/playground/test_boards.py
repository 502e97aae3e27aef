"""Boards over the API: columns, test sets, running and broadcasting, pages of rows."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from greenroom.store import Store
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, address, listening, user, wait_for


@pytest.fixture
def talk(store: Store, open_playground: Open) -> Talk:
    """A playground with the workflows of talk_app.py, on each kind of database in turn."""
    return Talk(open_playground(store, [str(APP)]).api)


def idle(talk: Talk, board: Any, **query: Any) -> Any:
    """The board, once nothing runs on it."""

    def settled() -> Any:
        found = talk.get(f"boards/{board['id']}", **query)
        return found if not any(one["running"] for one in found["threads"]) else None

    return wait_for(settled)


def outputs(board: Any) -> list[Any]:
    return [one["last"] and one["last"]["outputs"] for one in board["threads"]]


def test_a_message_goes_to_all_threads(talk: Talk) -> None:
    board = talk.board("recorder", "parrot", "whole")
    started = talk.post(f"boards/{board['id']}/broadcast", messages=[user("hello all")])
    assert {one["thread_id"] for one in started["started"]} == {
        one["id"] for one in board["threads"]
    }
    done = idle(talk, board)
    assert [one["last"]["replies"][-1]["content"].strip() for one in done["threads"]] == [
        "1 messages",
        "kind: hello all",
        "1 so far",
    ]
    assert done["title"] == "hello all"


def test_a_running_thread_is_left_out_of_a_broadcast(talk: Talk) -> None:
    board = talk.board("slow", "recorder")
    slow, quick = board["threads"]
    talk.post(f"boards/{board['id']}/broadcast", messages=[user("go")])
    wait_for(lambda: talk.get(f"threads/{quick['id']}")["running"] is None)
    again = talk.post(f"boards/{board['id']}/broadcast", messages=[user("more")])
    assert [one["thread_id"] for one in again["skipped"]] == [slow["id"]]
    assert "running" in again["skipped"][0]["why"]
    running = talk.get(f"threads/{slow['id']}")["running"]
    assert talk.post(f"turns/{running}/stop")["status"] == "stopped"


@pytest.mark.slow
def test_another_variant_has_the_same_said_to_it_in_turn(talk: Talk) -> None:
    board = talk.board("recorder")
    thread = board["threads"][0]
    for text in ("one", "two", "three"):
        thread = talk.say(thread, text)
    wide = talk.post(f"boards/{board['id']}/columns", address=address("parrot"), parameters=None)
    assert [(one["column"], one["name"]) for one in wide["columns"]] == [
        (0, "recorder"),
        (1, "parrot"),
    ]
    copy = talk.get(f"threads/{wide['threads'][1]['id']}")
    assert [turn["status"] for turn in copy["turns"]] == ["draft"] * 3
    assert [turn["said"] for turn in copy["turns"]] == [t["said"] for t in thread["turns"]]
    started = talk.post(f"boards/{board['id']}/run", threads=[copy["id"]])
    assert len(started["started"]) == 1
    ran = wait_for(
        lambda: (
            (found := talk.get(f"threads/{copy['id']}"))
            and all(turn["status"] == "done" for turn in found["turns"])
            and found
        )
    )
    assert [turn["replies"][0]["content"].strip() for turn in ran["turns"]] == [
        "kind: one",
        "kind: two",
        "kind: three",
    ]
    assert [turn["prompt_tokens"] for turn in ran["turns"]] == [1, 3, 5]
    assert talk.get(f"threads/{thread['id']}")["turns"] == thread["turns"]


@pytest.mark.slow
def test_completions_run_all_with_their_inputs(talk: Talk) -> None:
    board = talk.board("capital")
    first = board["threads"][0]
    talk.patch(f"threads/{first['id']}", version=1, inputs={"country": "Peru"})
    for country in ("Chad", "Laos"):
        talk.post(
            f"boards/{board['id']}/threads",
            address=address("capital"),
            column=0,
            inputs={"country": country},
        )
    talk.post(f"boards/{board['id']}/columns", address=address("facts"))
    started = talk.post(f"boards/{board['id']}/run")
    assert len(started["started"]) == 6
    done = idle(talk, board)
    assert [(one["row"], one["column"]) for one in done["threads"]] == [
        (row, column) for row in range(3) for column in range(2)
    ]
    assert outputs(done)[:3] == [
        "the capital of Peru",
        {"country": "Peru", "detail": 1},
        "the capital of Chad",
    ]
    turn = done["threads"][0]["last"]
    assert (turn["inputs"], turn["said"], turn["treated_as"]) == (
        {"country": "Peru"},
        [],
        "completion",
    )
    talk.post(f"boards/{board['id']}/run", threads=[first["id"]])
    again = idle(talk, board)["threads"][0]
    assert (again["turn_count"], again["can_undo"]) == (1, True)
    why = talk.get(f"threads/{done['threads'][1]['id']}")
    assert why["last"]["status"] == "done"


def test_parameters_of_a_column_change_at_once(talk: Talk) -> None:
    board = talk.board("recorder")
    talk.post(f"boards/{board['id']}/threads", address=address("recorder"), column=0)
    changed = talk.patch(
        f"boards/{board['id']}/columns/0", address=address("capital"), parameters={"a": 1}
    )
    assert changed["columns"] == [
        {"column": 0, "address": address("capital"), "name": "capital", "parameters": {"a": 1}}
    ]
    assert {one["address"] for one in changed["threads"]} == {address("capital")}
    empty = talk.api.delete(f"boards/{board['id']}/columns/0").json()
    assert (empty["columns"], empty["threads"], empty["rows"]) == ([], [], 0)
    talk.refused("PATCH", f"boards/{board['id']}/columns/7", 404, parameters={})


@pytest.mark.slow
def test_a_test_set_of_chats_opens_a_thread_for_each_row(talk: Talk, store: Store) -> None:
    chat = [
        {"role": "system", "content": "Be brief."},
        user("hi"),
        {"role": "assistant", "content": "Hello!"},
        user("bye"),
    ]
    rows = [
        {"messages": chat, "place": "Rome", "expected_output": "SECRET"},
        {"messages": [user("only")], "place": "Oslo", "expected_output": "SECRET"},
    ]
    store.test_sets.save("chats", rows)
    board = talk.board("recorder", "parrot")
    loaded = talk.post(f"boards/{board['id']}/load", test_set="chats")
    assert (loaded["rows"], loaded["test_set"], loaded["title"]) == (2, "chats@1", "chats")
    assert [(one["row"], one["column"], one["row_number"]) for one in loaded["threads"]] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert "SECRET" not in str(loaded)
    first = talk.get(f"threads/{loaded['threads'][0]['id']}")
    assert first["inputs"] == {"place": "Rome"}
    assert [(turn["status"], turn["said"], turn["replies"]) for turn in first["turns"]] == [
        ("done", chat[:2], chat[2:3]),
        ("draft", chat[3:], []),
    ]
    talk.post(f"boards/{board['id']}/run")
    done = idle(talk, board)
    assert done["threads"][0]["last"]["outputs"]["content"] == "4 messages"
    assert done["threads"][2]["last"]["outputs"]["content"] == "1 messages"
    more = talk.post(f"boards/{board['id']}/load", test_set="chats", start=1, limit=1)
    assert [one["row"] for one in more["threads"]] == [0, 0, 1, 1, 2, 2]


def test_a_chat_workflow_as_completion_takes_a_test_set_too(talk: Talk, store: Store) -> None:
    store.test_sets.save("texts", [{"question": "what?", "place": "Rome"}])
    board = talk.board("recorder", treat_as="completion")
    loaded = talk.post(f"boards/{board['id']}/load", test_set="texts")
    [thread] = loaded["threads"]
    assert thread["inputs"] == {"messages": [user("what?")], "place": "Rome"}
    talk.post(f"boards/{board['id']}/run")
    [ran] = idle(talk, board)["threads"]
    assert (ran["last"]["outputs"], ran["last"]["treated_as"]) == ("1 messages", "completion")


def test_a_goal_becomes_a_brief(talk: Talk, store: Store) -> None:
    store.test_sets.save("goals", [{"goal": "Return it.", "persona": "Ann", "max_turns": 3}])
    board = talk.board("recorder")
    [thread] = talk.post(f"boards/{board['id']}/load", test_set="goals")["threads"]
    assert thread["brief"] == {"goal": "Return it.", "persona": "Ann", "max_turns": 3}
    assert thread["turn_count"] == 0


@pytest.mark.slow
def test_a_view_changes_nothing_that_is_kept(talk: Talk) -> None:
    thread = talk.thread("recorder", inputs={"place": "Rome"})
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    path = f"threads/{thread['id']}"
    shown = thread
    for view in ("completion", "chat", None):
        shown = talk.patch(path, version=shown["version"], treat_as=view)
        assert shown["treat_as"] == view
    same = {"version", "updated_at"}
    assert {k: v for k, v in shown.items() if k not in same} == {
        k: v for k, v in thread.items() if k not in same
    }


@pytest.mark.slow
def test_a_chat_as_completion_and_a_completion_as_chat(talk: Talk) -> None:
    as_text = talk.thread("recorder", treat_as="completion", inputs={"question": "what?"})
    turn = talk.say(as_text)["last"]
    assert (turn["outputs"], turn["status"]) == ("1 messages", "done")
    assert turn["replies"] == [{"role": "assistant", "content": "1 messages"}]
    as_chat = talk.say(talk.thread("free", treat_as="chat", inputs={"a": 1}), "hello")["last"]
    assert as_chat["outputs"] == {"got": {"a": 1, "messages": [user("hello")]}}
    refused = talk.say(talk.thread("capital", treat_as="chat"), "hello")["last"]
    assert refused["status"] == "broken"
    assert "takes no messages" in refused["error"]
    # Beside chats on a board nobody chose anything, and a message would be lost as well.
    lost = talk.say(talk.thread("capital", inputs={"country": "Peru"}), "Not Peru")["last"]
    assert (lost["status"], "takes no messages" in lost["error"]) == ("broken", True)
    empty = talk.say(talk.thread("recorder"))["last"]
    assert (empty["status"], "write a message" in empty["error"]) == ("broken", True)


@pytest.mark.slow
def test_what_runs_on_a_board_is_told(talk: Talk) -> None:
    board = talk.board("slow", "parrot")
    place = f"boards/{board['id']}"
    assert talk.get(f"{place}/running")["started"] == []
    started = talk.post(f"{place}/broadcast", messages=[user("go")])["started"]
    slow = next(one for one in started if one["thread_id"] == board["threads"][0]["id"])
    wait_for(lambda: talk.get(f"{place}/running")["started"] == [slow])
    talk.post(f"turns/{slow['turn_id']}/stop")
    wait_for(lambda: talk.get(f"{place}/running")["started"] == [])


@pytest.mark.slow
def test_the_title_that_a_board_gets_is_told(talk: Talk) -> None:
    thread = talk.thread("parrot")
    with listening(talk) as events:
        talk.say(thread, "What is new?")
        board = next(one for one in events if one["kind"] == "board")
    assert talk.get(f"boards/{board['id']}")["title"] == "What is new?"


def test_boards_are_paged(talk: Talk) -> None:
    ids = [talk.board("recorder", title=f"Board {number}")["id"] for number in range(5)]
    talk.patch(f"boards/{ids[0]}", title="Board zero")
    seen: list[str] = []
    after = None
    while True:
        page = talk.get("boards", limit=2, **({"after": after} if after else {}))
        seen += [one["id"] for one in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [ids[0], *reversed(ids[1:])]


@pytest.mark.slow
def test_a_large_board_is_asked_for_row_by_row(talk: Talk, store: Store) -> None:
    store.test_sets.save("many", ({"country": f"C{number}"} for number in range(10_000)))
    board = talk.board("capital", "facts")
    loaded = talk.post(f"boards/{board['id']}/load", test_set="many")
    assert (loaded["rows"], len(loaded["threads"]), loaded["next"]) == (10_000, 100, 49)
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    page = talk.get(f"boards/{board['id']}", rows_after=9_900, limit=200)
    listed = talk.get("boards")
    assert (len(page["threads"]), page["next"]) == (198, None)
    assert page["threads"][0]["inputs"] == {"country": "C9901"}
    assert listed["items"][0]["rows"] == 10_000
    assert len(asked) < 30
