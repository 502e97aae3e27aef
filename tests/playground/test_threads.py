"""Threads over the API: talking, editing, undoing, copying, and two browsers at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom.store import Store
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, address, events_of, text_in, user, wait_for


@pytest.fixture
def talk(store: Store, open_playground: Open) -> Talk:
    """A playground with the workflows of talk_app.py, on each kind of database in turn."""
    return Talk(open_playground(store, [str(APP)]).api)


def texts(thread: Any) -> list[str]:
    """What was said and answered, in order."""
    return [
        str(message["content"]).strip()
        for turn in thread["turns"]
        for message in [*turn["said"], *turn["replies"]]
    ]


def test_a_turn_streams_and_is_kept(talk: Talk) -> None:
    thread = talk.thread("parrot")
    assert (thread["turn_count"], thread["can_undo"], thread["last"]) == (0, False, None)
    body = {"version": thread["version"], "messages": [user("hello there")]}
    answer = talk.api.post(f"threads/{thread['id']}/turns", json=body)
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    events = events_of(answer.text)
    assert text_in(events) == "kind: hello there "
    assert events[0]["messageId"] == answer.headers["x-turn-id"]
    assert events[-1] == "[DONE]"

    kept = talk.get(f"threads/{thread['id']}")
    assert kept["version"] == int(answer.headers["x-thread-version"]) == thread["version"] + 1
    [turn] = kept["turns"]
    assert turn == kept["last"] == talk.get(f"turns/{turn['id']}")
    assert (turn["id"], turn["status"], turn["sent"]) == (answer.headers["x-turn-id"], "done", True)
    assert turn["said"] == [user("hello there")]
    assert turn["replies"] == [{"role": "assistant", "content": "kind: hello there "}]
    assert (turn["prompt_tokens"], turn["completion_tokens"], turn["cost"]) == (1, 2, 0.25)
    assert turn["seconds"] >= 0
    assert turn["text"] == ""
    again = talk.api.get(f"turns/{turn['id']}/stream")
    assert text_in(events_of(again.text)) == "kind: hello there "
    assert talk.get(f"boards/{thread['board_id']}")["title"] == "hello there"


def test_every_turn_gets_what_was_said_before(talk: Talk) -> None:
    thread = talk.thread("recorder", inputs={"place": "Rome"})
    for text in ("one", "two", "three"):
        thread = talk.say(thread, text)
    assert texts(thread) == ["one", "1 messages", "two", "3 messages", "three", "5 messages"]
    assert [turn["inputs"] for turn in thread["turns"]] == [{"place": "Rome"}] * 3
    assert len({turn["session_id"] for turn in thread["turns"]}) == 1


@pytest.mark.slow
def test_a_workflow_that_repeats_the_history_does_not_double_it(talk: Talk) -> None:
    thread = talk.thread("whole")
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    assert texts(thread) == ["one", "1 so far", "two", "3 so far"]
    assert len(thread["last"]["outputs"]) == 4  # raw, unchanged


@pytest.mark.slow
def test_regenerating_keeps_the_old_answer_for_undo(talk: Talk) -> None:
    thread = talk.thread("recorder")
    for text in ("one", "two", "three"):
        thread = talk.say(thread, text)
    first, second, third = thread["turns"]
    again = talk.say(thread, *second["said"], after=first["id"])
    assert again["turns"][0] == first
    assert texts(again) == ["one", "1 messages", "two", "3 messages"]
    assert again["last"]["id"] not in (second["id"], third["id"])
    assert again["last"]["session_id"] != second["session_id"]
    undone = talk.post(f"threads/{thread['id']}/undo", version=again["version"])
    assert [turn["id"] for turn in undone["turns"]] == [first["id"], second["id"], third["id"]]
    redone = talk.post(f"threads/{thread['id']}/redo", version=undone["version"])
    assert redone["turns"] == again["turns"]
    fresh = talk.say(redone, "other", after="")
    assert texts(fresh) == ["other", "1 messages"]


def test_a_message_is_edited_or_deleted_and_later_turns_stay(talk: Talk) -> None:
    thread = talk.thread("recorder")
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    first, second = thread["turns"]
    path = f"threads/{thread['id']}"
    edit = {"turn_id": first["id"], "side": "said", "index": 0}
    edited = talk.post(f"{path}/edit", version=thread["version"], message=user("ONE"), **edit)
    assert texts(edited) == ["ONE", "1 messages", "two", "3 messages"]
    assert edited["turns"][0]["edited"]
    assert edited["turns"][0]["outputs"] == first["outputs"]
    assert edited["turns"][1] == second
    assert talk.get(f"turns/{first['id']}") == first  # it never changes
    said = talk.say(edited, "three")
    assert said["last"]["outputs"]["content"] == "5 messages"

    deleted = talk.post(
        f"{path}/edit",
        version=said["version"],
        turn_id=second["id"],
        side="answer",
        index=0,
        message=None,
    )
    assert texts(deleted)[:4] == ["ONE", "1 messages", "two", "three"]
    gone = talk.post(
        f"{path}/edit",
        version=deleted["version"],
        turn_id=deleted["turns"][1]["id"],
        side="said",
        index=0,
        message=None,
    )
    assert texts(gone) == ["ONE", "1 messages", "three", "5 messages"]
    for _ in range(3):
        gone = talk.post(f"{path}/undo", version=gone["version"])
    assert texts(gone) == ["ONE", "1 messages", "two", "3 messages"]
    why = talk.refused(
        "POST",
        f"{path}/edit",
        422,
        version=gone["version"],
        message=user("x"),
        **(edit | {"turn_id": second["id"], "index": 9}),
    )
    assert "no message 10" in why


def test_what_was_undone_is_not_forgotten_by_another_change(talk: Talk) -> None:
    thread = talk.thread("recorder")
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    undone = talk.post(f"threads/{thread['id']}/undo", version=thread["version"])
    other = talk.say(undone, "other")
    assert texts(other)[-2:] == ["other", "3 messages"]
    for _ in range(2):
        other = talk.post(f"threads/{thread['id']}/undo", version=other["version"])
    assert texts(other)[-2:] == ["two", "3 messages"]
    while other["can_undo"]:
        other = talk.post(f"threads/{thread['id']}/undo", version=other["version"])
    assert other["turn_count"] == 0
    assert "nothing to undo" in talk.refused(
        "POST", f"threads/{thread['id']}/undo", 422, version=other["version"]
    )


def test_the_second_of_two_browsers_is_told(talk: Talk) -> None:
    thread = talk.thread("recorder")
    talk.say(thread, "from the first")
    for path, body in (
        ("turns", {"messages": [user("from the second")]}),
        ("undo", {}),
        ("redo", {}),
        (
            "edit",
            {
                "turn_id": talk.get(f"threads/{thread['id']}")["last"]["id"],
                "side": "said",
                "index": 0,
                "message": None,
            },
        ),
    ):
        why = talk.refused(
            "POST", f"threads/{thread['id']}/{path}", 409, version=thread["version"], **body
        )
        assert "Somebody changed this thread" in why
    why = talk.refused("PATCH", f"threads/{thread['id']}", 409, version=1, title="x")
    assert "load it again" in why
    assert texts(talk.get(f"threads/{thread['id']}")) == ["from the first", "1 messages"]


def test_a_copy_shares_turns_and_goes_its_own_way(talk: Talk) -> None:
    thread = talk.thread("recorder", title="mine")
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    first, second = thread["turns"]
    branch = talk.post(f"threads/{thread['id']}/copy", through=first["id"])
    assert branch["parent"] == {"thread_id": thread["id"], "turn_id": first["id"]}
    assert (branch["row"], branch["column"]) == (0, 1)
    assert branch["turns"] == [first]
    whole = talk.post(f"threads/{thread['id']}/copy")
    assert whole["turns"] == [first, second]
    branch = talk.say(branch, "instead")
    assert texts(branch) == ["one", "1 messages", "instead", "3 messages"]
    assert branch["last"]["session_id"] != first["session_id"]
    assert texts(talk.get(f"threads/{thread['id']}")) == ["one", "1 messages", "two", "3 messages"]
    board = talk.get(f"boards/{thread['board_id']}")
    assert [one["column"] for one in board["columns"]] == [0, 1, 2]


@pytest.mark.slow
def test_deleted_threads_and_boards_come_back(talk: Talk) -> None:
    board = talk.board("parrot", "recorder", title="Both")
    one, two = board["threads"]
    talk.delete(f"threads/{one['id']}")
    shown = talk.get(f"boards/{board['id']}")
    assert [thread["id"] for thread in shown["threads"]] == [two["id"]]
    assert [column["name"] for column in shown["columns"]] == ["recorder"]
    assert talk.get(f"threads/{one['id']}")["deleted_at"]
    assert talk.post(f"threads/{one['id']}/restore")["deleted_at"] is None
    talk.delete(f"boards/{board['id']}")
    assert talk.get("boards")["items"] == []
    [gone] = talk.get("boards", deleted=True)["items"]
    assert (gone["id"], gone["workflows"]) == (board["id"], ["parrot", "recorder"])
    assert len(talk.post(f"boards/{board['id']}/restore")["threads"]) == 2
    assert [item["id"] for item in talk.get("boards", q="OTH")["items"]] == [board["id"]]
    assert talk.get("boards", q="%")["items"] == []


@pytest.mark.slow
def test_a_broken_turn_says_why_and_can_be_run_again(talk: Talk) -> None:
    thread = talk.thread("breaking")
    body = {"version": thread["version"], "messages": [user("go")]}
    answer = talk.api.post(f"threads/{thread['id']}/turns", json=body)
    events = events_of(answer.text)
    assert [one["errorText"] for one in events if one != "[DONE]" and one["type"] == "error"] == [
        "RuntimeError: the printer is on fire"
    ]
    [turn] = talk.get(f"threads/{thread['id']}")["turns"]
    assert (turn["status"], turn["error"]) == (
        "broken",
        "RuntimeError: the printer is on fire",
    )
    assert (turn["text"], turn["replies"], turn["outputs"]) == ("Half an answer", [], None)
    changed = talk.patch(
        f"threads/{thread['id']}",
        version=int(answer.headers["x-thread-version"]),
        address=address("recorder"),
    )
    again = talk.say(changed, *turn["said"], after="")
    assert texts(again) == ["go", "1 messages"]


@pytest.mark.slow
def test_a_running_turn_is_stopped_and_followed(talk: Talk) -> None:
    thread = talk.thread("slow")
    body = {"version": thread["version"], "messages": [user("go")]}
    path = f"threads/{thread['id']}"
    with talk.api.stream("POST", f"{path}/turns", json=body) as answer:
        turn_id = answer.headers["x-turn-id"]
        next(answer.iter_text())  # then the page is closed
    shown = wait_for(lambda: "w20 " in talk.get(path)["last"]["text"] and talk.get(path))
    assert (shown["running"], shown["last"]["status"]) == (turn_id, "running")
    why = talk.refused(
        "POST", f"{path}/turns", 409, version=shown["version"], messages=[user("more")]
    )
    assert "running" in why
    stopped = talk.post(f"turns/{turn_id}/stop")
    assert stopped["status"] == "stopped"
    assert stopped["text"].startswith("w0 w1 ")
    assert stopped["replies"] == [{"role": "assistant", "content": stopped["text"]}]
    followed = talk.api.get(f"turns/{turn_id}/stream").text
    assert text_in(events_of(followed)) == stopped["text"]
    assert talk.post(f"turns/{turn_id}/stop") == stopped
    after = talk.get(path)
    assert after["running"] is None
    changed = talk.patch(path, version=after["version"], address=address("recorder"))
    assert texts(talk.say(changed, "and"))[-1] == "3 messages"


def test_a_handler_that_blocks_its_thread_is_left_behind(talk: Talk, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    thread = talk.thread("blocker", inputs={"gate": str(gate)})
    talk.post(f"boards/{thread['board_id']}/run")
    running = wait_for(lambda: talk.get(f"threads/{thread['id']}")["running"])
    try:
        stopped = talk.post(f"turns/{running}/stop")
        assert (stopped["status"], stopped["replies"]) == ("stopped", [])
        assert talk.say(talk.thread("capital", inputs={"country": "Chad"}))["last"]["outputs"]
    finally:
        gate.touch()


def test_a_tool_result_is_filled_in_by_hand(talk: Talk) -> None:
    thread = talk.say(talk.thread("clerk"), "help")
    turn = thread["last"]
    assert turn["tool_calls"] == [
        {
            "id": "own",
            "name": "look",
            "input": {"at": 7},
            "output": "found",
            "has_output": True,
            "is_error": False,
        }
    ]
    assert turn["replies"][0]["tool_calls"][0]["id"] == "call_1"
    result = {"role": "tool", "tool_call_id": "call_1", "content": "the red one"}
    thread = talk.say(thread, result)
    assert thread["last"]["replies"][0]["content"] == "The tool said the red one."


def test_a_draft_waits_until_it_is_run(talk: Talk) -> None:
    thread = talk.say(talk.thread("recorder"), "later", run=False)
    assert (thread["last"]["status"], thread["last"]["sent"]) == ("draft", False)
    ran = talk.say(thread)
    assert texts(ran) == ["later", "1 messages"]
    assert ran["turn_count"] == 1


def test_messages_of_all_shapes_go_through_unchanged(talk: Talk) -> None:
    parts = {
        "role": "user",
        "name": "Ann",
        "content": [
            {"type": "text", "text": "<script>alert(1)</script> \u0000 \U0001f600"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        ],
    }
    system = {"role": "system", "content": "Be brief.", "x-extra": {"deep": [1, 2.5, None]}}
    thread = talk.say(talk.thread("recorder"), system, parts)
    assert thread["last"]["said"] == [system, parts]
    for bad in ({"content": "no role"}, {"role": "user"}, {}):
        why = talk.refused(
            "POST",
            f"threads/{thread['id']}/turns",
            422,
            version=thread["version"],
            messages=[bad],
        )
        assert "Message 1 is no message" in why
    half = talk.api.post(
        f"threads/{thread['id']}/turns",
        content=json.dumps({"version": thread["version"], "messages": [user("half \ud83d")]}),
        headers={"content-type": "application/json"},
    )
    assert half.status_code == 200
    assert "half" in texts(talk.get(f"threads/{thread['id']}"))[-2]


def test_unknown_things_are_named(talk: Talk) -> None:
    for path in ("boards/x", "threads/x", "turns/x", "turns/x/stream", "turns/%00", "threads/%00"):
        assert "in this store" in talk.refused("GET", path, 404)
    assert "no thread 'x'" in talk.refused("POST", "threads/x/turns", 404, version=1)
    assert "no turn 'x'" in talk.refused("POST", "turns/x/stop", 404)
    for method, path in (
        ("POST", "turns/%00/stop"),
        ("POST", "threads/%00/restore"),
        ("DELETE", "boards/%00"),
        ("PATCH", "boards/%F0%9F"),
        ("POST", "boards/%00/broadcast"),
    ):
        body = {"messages": [user("x")]} if "broadcast" in path else {}
        assert "in this store" in talk.refused(method, path, 404, **body)
    why = talk.refused("POST", "boards", 422, threads=[{"address": "/etc/passwd:x"}])
    assert "not among the workflows of this playground" in why
