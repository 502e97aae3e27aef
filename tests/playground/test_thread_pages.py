"""A thread in a browser: what it is shown from, where it leads, how its workflow comes and goes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

from greenroom.store import NoteFilter, Store
from greenroom.workflows.serve import create_app, running_app
from tests.playground import talk_app
from tests.playground.conftest import Enter, Open, Running, settle, until
from tests.playground.talking import APP, Talk, address, user

pytestmark = pytest.mark.slow

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    """A playground with the workflows of talk_app.py, on each kind of database in turn."""
    return open_playground(store, [str(APP)])


@pytest.fixture
def plain(open_playground: Open) -> Running:
    """The same on one kind of database."""
    return open_playground(sources=[str(APP)])


@pytest.fixture
def talk(running: Running) -> Talk:
    return Talk(running.api)


def answers(page: Page) -> Locator:
    return page.locator("[data-role=assistant] .prose")


def say(page: Page, text: str) -> None:
    field = page.locator(".thread-composer textarea").first
    field.fill(text)
    field.press("Enter")


# What is known of a workflow


def _openapi(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    operation = {
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "The answer."}},
        **more,
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Others", "version": "1"},
        "paths": {"/run": {"post": operation}},
    }


@contextmanager
def described(document: dict[str, Any]) -> Generator[str]:
    """A server that says what it is by an OpenAPI document alone."""

    app = FastAPI(openapi_url=None)

    @app.get("/openapi.json")
    def _document() -> dict[str, Any]:
        return document

    with running_app(app) as address:
        yield address


MESSAGES = {"messages": {"type": "array", "items": {"type": "object"}}}


@pytest.mark.parametrize(
    ("document", "kind", "because"),
    [
        (
            _openapi(
                {"question": {"type": "string"}}, **{"x-agenta": {"flags": {"is_chat": True}}}
            ),
            "chat",
            "in the OpenAPI document",
        ),
        (
            _openapi({"messages": {"type": "array", "x-ag-type-ref": "messages"}}),
            "chat",
            "which marks messages as a message history",
        ),
        (_openapi(MESSAGES), "chat", "which has a list of messages"),
        (
            _openapi({"question": {"type": "string"}}),
            "completion",
            "there is no flag, and the inputs have no list of messages",
        ),
    ],
    ids=["OpenAPI", "schema", "shape", "nothing"],
)
def test_what_decided_is_told_and_decides(
    open_playground: Open, enter: Enter, document: dict[str, Any], kind: str, because: str
) -> None:
    with described(document) as served:
        page = enter(open_playground(sources=[served]), "/workflows")
        card = page.locator(f"[data-workflow='{served}']")
        expect(card).to_contain_text(f"A {kind} workflow, decided by")
        expect(card).to_contain_text(because)
        card.get_by_role("button", name={"chat": "Chat", "completion": "Run it"}[kind]).click()
        chosen = page.locator(".switch").get_by_role("button", name=kind.capitalize(), exact=True)
        expect(chosen).to_have_attribute("aria-pressed", "true")


def test_a_file_that_was_broken_is_loaded_once_it_is_mended(
    open_playground: Open, enter: Enter, tmp_path: Path
) -> None:
    source = tmp_path / "mine.py"
    source.write_text("import nothing_of_this_name\n")
    page = enter(open_playground(sources=[str(source)]), "/workflows")
    broken = page.locator(f"[data-workflow='{source}']")
    expect(broken.get_by_role("alert")).to_contain_text("nothing_of_this_name")
    # There is nothing to talk to.
    expect(broken.get_by_role("button")).to_have_text(["Try again", "Look again"])
    broken.get_by_role("button", name="Try again").click()
    expect(broken.get_by_role("alert")).to_contain_text("nothing_of_this_name")
    source.write_text("from greenroom import workflow\n@workflow\ndef mended(x: str): return x\n")
    broken.get_by_role("button", name="Try again").click()
    expect(page.locator(f"[data-workflow='{source}:mended']")).to_contain_text("A completion")
    expect(broken).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_served_workflow_goes_away_and_comes_back(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    with running_app(create_app(talk_app.parrot)) as served:
        running = open_playground(store, [served])
        talk = Talk(running.api)
        thread = talk.say(talk.thread(served), "One")
        page = enter(running, f"/boards/{thread['board_id']}")
        expect(answers(page)).to_have_text(["kind: One"])
    say(page, "Two")
    broken = page.locator(".turn-view.broken")
    expect(broken.get_by_role("alert")).to_contain_text("Nothing listens at")
    expect(broken).to_contain_text("Two")
    port = int(served.rpartition(":")[2])
    with running_app(create_app(talk_app.parrot), port=port):
        broken.get_by_role("button", name="Run again").click()
        expect(answers(page)).to_have_text(["kind: One", "kind: Two"])


# What is in a thread


def test_three_variants_of_one_workflow_answer_the_same_questions(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("singer")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "One")
    expect(answers(page)).to_have_text(["high: One"])
    for tone in ("low", "soft"):
        page.get_by_role("button", name="Compare with").click()
        page.get_by_role("dialog").get_by_label("tone").fill(tone)
        page.get_by_role("button", name="Compare", exact=True).click()
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text(f"{tone}: One")).to_be_visible()
    everybody = page.get_by_label("Message to all threads")
    expect(everybody).to_have_attribute("placeholder", "Say the same in all 3 threads")
    everybody.fill("Two")
    everybody.press("Enter")
    rows = page.locator(".turn-row")
    for number, text in enumerate(("One", "Two")):
        expect(rows.nth(number).locator("[data-role=assistant] .prose")).to_have_text(
            [f"{tone}: {text}" for tone in ("high", "low", "soft")]
        )
    # Each turn says how long it took, what it used, and what that cost.
    figures = re.compile(r"^[\d.,]+ (ms|s) · \d \+ 2 tokens · \$0\.250$")
    for foot in page.locator(".turn-foot > .quiet").all():
        expect(foot).to_have_text(figures)


def test_the_pages_of_a_browser_share_its_connections(plain: Running, enter: Enter) -> None:
    talk = Talk(plain.api)
    boards = [talk.board(*["slow"] * 4)["id"] for _ in range(2)]
    pages = [enter(plain, f"/boards/{boards[0]}", width=1800)]
    pages.append(pages[0].context.new_page())
    pages[1].goto(f"{plain.address}/boards/{boards[1]}")
    for page in pages:
        field = page.get_by_label("Message to all threads")
        field.fill("Go")
        field.press("Enter")
        for number in range(4):
            expect(answers(page).nth(number)).to_contain_text("w20")
    # Eight answers are written, and everything else still gets through.
    for page in pages:
        title = page.get_by_label("Title of the board")
        title.fill("Renamed")
        title.press("Enter")
        expect(page).to_have_title(re.compile("Renamed"))
        expect(page.locator(".turn-view.running")).to_have_count(4)


def test_only_threads_that_are_there_are_counted(
    running: Running, talk: Talk, enter: Enter
) -> None:
    rows = [{"address": address("parrot"), "row": row, "column": 0} for row in (0, 1)]
    board = talk.post("boards", threads=rows)
    talk.post(f"boards/{board['id']}/threads", address=address("recorder"))
    page = enter(running, f"/boards/{board['id']}")
    expect(page.locator("[data-thread]")).to_have_count(3)
    expect(page.get_by_label("Message to all threads")).to_have_attribute(
        "placeholder", "Say the same in all 3 threads"
    )


def test_parts_are_said_and_shown_from_the_root(running: Running, talk: Talk, enter: Enter) -> None:
    thread = talk.thread("whole")
    parts = [
        {"type": "text", "text": "What is **this**?"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "input_audio", "input_audio": {"format": "wav", "data": "UklGRg=="}},
    ]
    message = {"role": "user", "content": parts}
    page = enter(running, f"/boards/{thread['board_id']}")
    page.get_by_role("button", name="as JSON").first.click()
    say(page, json.dumps(message))
    expect(answers(page)).to_have_text(["1 so far"])
    said = page.locator("[data-role=user]").first
    expect(said.locator("strong")).to_have_text("this")
    expect(said.get_by_role("img", name="Part of the message")).to_have_attribute("src", PIXEL)
    expect(said.locator(".part-other")).to_contain_text("input_audio")
    page.get_by_role("button", name="Raw").first.click()
    expect(page.locator(".raw")).to_contain_text('"content":[{"type":"text"')
    [turn] = talk.get(f"threads/{thread['id']}")["turns"]
    assert turn["said"] == [message]


def test_a_change_that_is_being_typed_outlives_scrolling_and_a_reload(
    running: Running, talk: Talk, enter: Enter
) -> None:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": f"message {n}"} for n in range(80)]
    board = talk.post("boards", threads=[{"address": address("parrot"), "messages": messages}])
    page = enter(running, f"/boards/{board['id']}")
    last = page.locator("[data-turn]").filter(has_text="message 78")
    last.locator("[data-role=user]").hover()
    last.get_by_role("button", name="Edit").first.click()
    field = page.get_by_label("Message", exact=True)
    field.fill("half a thought")
    turns = page.get_by_role("region", name="Turns")
    turns.evaluate("part => part.scrollTo(0, 0)")
    expect(field).to_have_count(0)
    turns.evaluate("part => part.scrollTo(0, part.scrollHeight)")
    expect(field).to_have_value("half a thought")
    page.reload()
    expect(field).to_have_value("half a thought")
    field.press("Control+Enter")
    expect(page.get_by_text("half a thought")).to_be_visible()
    expect(field).to_have_count(0)
    page.reload()
    expect(page.get_by_text("half a thought")).to_be_visible()
    expect(field).to_have_count(0)


# Where a thread leads


def test_a_turn_of_a_long_thread_has_an_address(running: Running, talk: Talk, enter: Enter) -> None:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": f"message {n}"} for n in range(300)]
    board = talk.post("boards", threads=[{"address": address("parrot"), "messages": messages}])
    [thread] = board["threads"]
    turns: list[Any] = []
    before: str | None = None
    while not turns or before:
        query = {"before": before} if before else {}
        found = talk.get(f"threads/{thread['id']}", **query)
        turns, before = [*found["turns"], *turns], found["earlier"]
    wanted = turns[3]
    page = enter(running, f"/boards/{board['id']}?thread={thread['id']}&turn={wanted['id']}")
    place = page.locator(f"[data-turn='{wanted['id']}']")
    expect(place).to_be_in_viewport()
    expect(place).to_contain_text(wanted["said"][0]["content"])
    settle(page)
    expect(place).to_be_in_viewport()


def test_a_turn_is_marked_and_found_again(running: Running, talk: Talk, enter: Enter) -> None:
    thread = talk.say(talk.say(talk.thread("parrot"), "One"), "Two")
    page = enter(running, f"/boards/{thread['board_id']}")
    expect(answers(page)).to_have_count(2)
    page.keyboard.press("k")
    expect(page.locator("[data-turn]:focus")).to_contain_text("One")
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("agent", exact=True).check()
    dialog.get_by_label("Note", exact=True).fill("It only repeats.")
    dialog.get_by_role("button", name="Add note").click()
    expect(dialog.locator(".note")).to_have_count(1)
    page.keyboard.press("Escape")
    first = thread["turns"][0]["id"]
    marked = page.locator(f"[data-turn='{first}']")
    expect(marked.get_by_role("button", name="Notes 1")).to_be_visible()
    [note] = running.store.notes.each(NoteFilter())
    assert (note.subject.thread_id, note.subject.turn_id) == (thread["id"], first)
    page.goto(f"{running.address}/notes")
    page.locator("tbody tr[data-index='0'] a").click()
    page.wait_for_url(f"**/boards/{thread['board_id']}?thread={thread['id']}&turn={first}")
    expect(marked).to_be_in_viewport()


def test_a_turn_of_a_served_workflow_is_copied_as_curl(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    with running_app(create_app(talk_app.singer)) as served:
        running = open_playground(store, [served])
        talk = Talk(running.api)
        thread = talk.say(talk.thread(served, parameters={"tone": "dry"}), "It's $HOME `x`")
        page = enter(running, f"/boards/{thread['board_id']}")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("menuitem", name="curl").click()
        until(page, lambda: "curl" in page.evaluate("navigator.clipboard.readText()"))
        line = page.evaluate("navigator.clipboard.readText()")
        ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
        assert "dry: It's $HOME `x`" in json.loads(ended.stdout)["data"]["outputs"]["content"]


def test_all_turns_that_are_loaded_are_printed(running: Running, talk: Talk, enter: Enter) -> None:
    messages = [
        message
        for n in range(20)
        for message in (user(f"ask {n}"), {"role": "assistant", "content": f"answer {n}"})
    ]
    board = talk.post("boards", threads=[{"address": address("parrot"), "messages": messages}])
    page = enter(running, f"/boards/{board['id']}", height=500)
    expect(page.get_by_text("answer 19", exact=True)).to_be_visible()
    assert page.locator("[data-turn]").count() < 20
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = "
        "document.querySelectorAll('[data-turn]').length })"
    )
    page.pdf()
    assert page.evaluate("window.printed") == 20
