"""Playgrounds in processes of their own: killed, closed, and two on one store."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from greenroom.store import open_store
from tests.conftest import ROOT
from tests.playground.conftest import Open
from tests.playground.talking import (
    APP,
    Talk,
    address,
    events_of,
    listening,
    text_in,
    user,
    wait_for,
)

pytestmark = pytest.mark.slow


@contextmanager
def own_process() -> Generator[tuple[subprocess.Popen[str], Talk]]:
    """A playground in a process of its own."""
    command = [sys.executable, "-m", "tests.playground.victim", str(APP)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process,
        ExitStack() as stack,
    ):
        stack.callback(process.kill)
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        api = stack.enter_context(httpx.Client(base_url=f"{line}/api/v1/", timeout=30))
        yield process, Talk(api)


def begin(talk: Talk, thread: Any, text: str = "go") -> str:
    """Say something, and leave as soon as the answer begins: the turn's id."""
    body = {"version": thread["version"], "messages": [user(text)]}
    with talk.api.stream("POST", f"threads/{thread['id']}/turns", json=body) as answer:
        next(answer.iter_text())
        return answer.headers["x-turn-id"]


def shown(talk: Talk, thread: Any, word: str) -> str:
    """The text so far, once it has a word."""
    return wait_for(
        lambda: (
            (text := talk.get(f"threads/{thread['id']}")["last"]["text"]) and word in text and text
        )
    )


@pytest.mark.usefixtures("any_database")
def test_after_a_kill_everything_that_was_shown_is_there() -> None:
    with own_process() as (victim, talk):
        board = talk.board("slow", "recorder")
        thread, other = board["threads"]
        talk.say(other, "finished before")
        turn = begin(talk, thread)
        text = shown(talk, thread, "w30 ")
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    with own_process() as (_, talk):
        found = wait_for(
            lambda: (one := talk.get(f"turns/{turn}"))["status"] == "broken" and one, seconds=5
        )
        assert found["text"].startswith(text)
        assert "Run it again" in found["error"]
        assert found["said"] == [user("go")]
        assert talk.get(f"threads/{other['id']}")["last"]["status"] == "done"
        kept = talk.get(f"threads/{thread['id']}")
        assert kept["running"] is None
        told = events_of(talk.api.get(f"turns/{turn}/stream").text)
        assert text_in(told) == found["text"]
        changed = talk.patch(
            f"threads/{thread['id']}", version=kept["version"], address=address("recorder")
        )
        again = talk.say(changed, *found["said"], after="")
        assert again["last"]["outputs"]["content"] == "1 messages"


@pytest.mark.usefixtures("any_database")
def test_two_playgrounds_on_one_store_leave_each_other_alone(open_playground: Open) -> None:
    with own_process() as (_, far):
        here = Talk(open_playground(sources=[str(APP)]).api)
        thread = far.thread("slow")
        turn = begin(far, thread)
        time.sleep(6)  # this playground has looked for abandoned turns by now
        assert here.get(f"turns/{turn}")["status"] == "running"
        why = here.refused(
            "POST",
            f"threads/{thread['id']}/turns",
            409,
            version=here.get(f"threads/{thread['id']}")["version"],
            messages=[user("more")],
        )
        assert "running" in why
        stopped = here.post(f"turns/{turn}/stop")
        assert (stopped["status"], stopped["text"].startswith("w0 w1 ")) == ("stopped", True)
        time.sleep(1.5)  # the other has noticed
        assert far.get(f"turns/{turn}") == stopped
        again = begin(far, far.get(f"threads/{thread['id']}"), "again")
        followed: list[str] = []

        def follow() -> None:
            followed.append(here.api.get(f"turns/{again}/stream").text)

        following = threading.Thread(target=follow)
        following.start()
        shown(here, thread, "w20 ")
        end = far.post(f"turns/{again}/stop")
        following.join()
        assert end["text"].startswith(text_in(events_of(followed[0])))
        assert "w20 " in text_in(events_of(followed[0]))


def test_a_playground_that_is_closed_breaks_its_turns_at_once() -> None:
    with own_process() as (process, talk):
        thread = talk.thread("slow")
        turn = begin(talk, thread)
        shown(talk, thread, "w5 ")
        with talk.api.stream("GET", "events") as events:
            assert events.status_code == 200
            process.send_signal(signal.SIGTERM)
            events.read()  # it ends by itself
        assert process.wait(timeout=60) == 0
    store = open_store()
    found = store.turns.find(turn)
    assert (found.status, "closed" in str(found.error)) == ("broken", True)
    assert found.content.text.startswith("w0 ")
    store.close()


@pytest.mark.usefixtures("any_database")
def test_changes_of_other_processes_are_seen(open_playground: Open) -> None:
    with own_process() as (_, far):
        here = Talk(open_playground(sources=[str(APP)]).api)
        thread = far.thread("recorder")
        with listening(here) as events:
            said = far.say(thread, "hello")
            wanted = {"turn": said["last"]["id"], "thread": thread["id"]}
            while wanted:
                event = next(events)
                done = event.get("status") == "done" or event.get("version") == said["version"]
                if done and event["id"] == wanted.get(event["kind"]):
                    del wanted[event["kind"]]
