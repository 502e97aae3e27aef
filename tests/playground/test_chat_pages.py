"""The pages of workflows and boards, in a browser."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from greenroom.model_server import running_server
from greenroom.store import Store
from tests.playground.conftest import Enter, Open, Running, held, late, settle, tab_to, until
from tests.playground.talking import APP, Talk, address, user

pytestmark = pytest.mark.slow

MOST_ELEMENTS = 1500
"""Of a board with a few threads, whatever they hold."""


@pytest.fixture
def running(open_playground: Open) -> Running:
    """A playground with the workflows of talk_app.py."""
    return open_playground(sources=[str(APP)])


@pytest.fixture
def talk(running: Running) -> Talk:
    return Talk(running.api)


def composer(page: Page, number: int = 0) -> Locator:
    return page.locator(".thread-composer textarea").nth(number)


def say(page: Page, text: str, number: int = 0) -> None:
    field = composer(page, number)
    field.fill(text)
    field.press("Enter")


def answers(page: Page) -> Locator:
    return page.locator("[data-role=assistant] .prose")


def ended(page: Page) -> None:
    """Wait until no answer is being written: a turn is laid out anew at its end."""
    expect(page.locator(".turn-view.running")).to_have_count(0)


def elements(page: Page) -> int:
    return page.evaluate("document.querySelectorAll('*').length")


# Workflows


def test_workflows_say_what_they_are_and_what_decided(running: Running, enter: Enter) -> None:
    page = enter(running, "/workflows")
    parrot = page.locator(f"[data-workflow='{address('parrot')}']")
    expect(parrot).to_contain_text("A chat workflow, decided by")
    expect(parrot).to_contain_text("the flag is_chat = true")
    expect(parrot).to_contain_text("messages, tone")
    capital = page.locator(f"[data-workflow='{address('capital')}']")
    expect(capital).to_contain_text("A completion workflow, decided by")
    parrot.get_by_role("button", name="Chat", exact=True).click()
    chosen = page.locator(".switch").get_by_role("button", name="Chat", exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("You chose this")).to_have_count(0)


def test_a_url_that_does_not_answer_is_kept_and_says_why(running: Running, enter: Enter) -> None:
    page = enter(running, "/workflows")
    page.get_by_label("Add a workflow by its URL").fill("http://127.0.0.1:9/nowhere")
    page.get_by_role("button", name="Add").click()
    added = page.locator("[data-workflow^='http://127.0.0.1:9']")
    expect(added.get_by_role("alert")).to_contain_text("127.0.0.1:9")
    expect(page.get_by_text("which cannot be reached")).to_be_visible()
    added.get_by_role("button", name="Remove").click()
    expect(added).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(added).to_have_count(1)


def test_files_and_metadata_addresses_are_refused_in_words(running: Running, enter: Enter) -> None:
    page = enter(running, "/workflows")
    settle(page)
    for bad, where in (
        (f"{APP}:secret", ".add-workflow [role=alert]"),
        ("http://169.254.169.254/latest", "[data-workflow*='169.254'] [role=alert]"),
    ):
        page.get_by_label("Add a workflow by its URL").fill(bad)
        page.get_by_role("button", name="Add").click()
        expect(page.locator(where)).not_to_be_empty()


def test_what_is_added_while_the_list_is_loaded_stands_in_it(
    running: Running, enter: Enter
) -> None:
    page = enter(running)
    with late(page, "GET", "**/api/v1/workflows") as answers:
        page.goto(f"{running.address}/workflows")
        until(page, lambda: answers)  # the answer is there, and does not know what is added now
        page.get_by_label("Add a workflow by its URL").fill("http://127.0.0.1:9/later")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("which cannot be reached")).to_be_visible()
        expect(page.get_by_text("Loading the workflows")).to_be_visible()
    expect(page.locator("[data-workflow='http://127.0.0.1:9/later']")).to_be_visible()


def test_the_interface_can_be_overridden_and_back(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("parrot")
    talk.say(board["threads"][0], "Hello")
    before = talk.get(f"threads/{board['threads'][0]['id']}")
    page = enter(running, f"/boards/{board['id']}")
    expect(answers(page)).to_have_text(["kind: Hello"])
    page.get_by_role("button", name="Completion", exact=True).click()
    expect(page.get_by_text("You chose this; the workflow says chat")).to_be_visible()
    page.reload()  # what was chosen is kept, however soon the page is left
    expect(page.get_by_text("You chose this; the workflow says chat")).to_be_visible()
    page.get_by_role("button", name="Chat", exact=True).click()
    expect(page.get_by_text("You chose this")).to_have_count(0)
    expect(answers(page)).to_have_text(["kind: Hello"])
    until(page, lambda: talk.get(f"boards/{board['id']}")["treat_as"] is None)
    assert talk.get(f"threads/{board['threads'][0]['id']}")["turns"] == before["turns"]


# Chat


def test_a_workflow_that_is_gone_says_so_and_keeps_its_interface(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    talk = Talk(open_playground(store, [str(APP)]).api)
    board = talk.board("facts")
    talk.patch(f"threads/{board['threads'][0]['id']}", version=1, inputs={"country": "Peru"})
    talk.say(board["threads"][0])
    later = open_playground(store)  # without the file
    page = enter(later, f"/boards/{board['id']}")
    expect(page.get_by_role("button", name="Completion")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("table")).to_contain_text("Peru")
    page.get_by_role("button", name="Chat", exact=True).click()
    expect(page.get_by_text("cannot be reached")).to_be_visible()
    expect(page.locator(".thread-bar").get_by_role("alert")).to_contain_text("greenroom playground")


def test_several_turns_and_the_focus_stays(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "One")
    expect(answers(page)).to_have_text(["kind: One"])
    expect(composer(page)).to_be_focused()
    expect(composer(page)).to_have_value("")
    composer(page).press_sequentially("a")
    composer(page).press("Shift+Enter")
    composer(page).press_sequentially("b")
    composer(page).press("Enter")
    expect(answers(page)).to_have_text(["kind: One", re.compile("kind: a\\s+b")])
    expect(page.locator(".turn-foot").last).to_contain_text("3 + 2 tokens · $0.25")
    assert [one["said"][0]["content"] for one in _turns(talk, board)] == ["One", "a\nb"]


def test_what_is_done_at_once_is_done_one_after_the_other(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("parrot")
    page = enter(running, f"/boards/{board['id']}")
    with held(page, "**/turns"):
        say(page, "One")
        expect(composer(page)).to_have_value("")
        say(page, "Two")
        expect(page.get_by_text("Sent when the answer is complete")).to_be_visible()
    expect(answers(page)).to_have_text(["kind: One", "kind: Two"])
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.keyboard.press("Escape")
    with held(page, "**/undo"):
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
    expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
    page.keyboard.press("Control+Shift+Z")
    page.keyboard.press("Control+Shift+Z")
    expect(answers(page)).to_have_text(["kind: One", "kind: Two"])
    # What cannot be sent comes back before what was typed since.
    with held(page, "**/turns") as requests:
        say(page, "Lost")
        say(page, "Later")
        requests.pop().abort()
        expect(composer(page)).to_have_value("Lost\nLater")


def test_an_answer_streams_survives_a_reload_and_is_stopped(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("slow")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "Go")
    expect(answers(page)).to_contain_text("w3")
    page.reload()
    expect(answers(page)).to_contain_text("w0 w1 w2 w3")
    expect(answers(page)).to_contain_text("w60")
    page.locator(".turn-foot").get_by_role("button", name="Stop").click()
    expect(page.locator(".turn-view.stopped")).to_contain_text("stopped")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    turn = _turns(talk, board)[0]
    assert turn["status"] == "stopped"
    expect(answers(page)).to_contain_text(turn["text"].strip()[-20:])


def test_many_threads_stream_at_once(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board(*["slow"] * 6)
    page = enter(running, f"/boards/{board['id']}", width=2600)
    page.get_by_label("Message to all threads").fill("Go")
    page.get_by_label("Message to all threads").press("Enter")
    expect(answers(page)).to_have_count(6)
    for number in range(6):
        expect(answers(page).nth(number)).to_contain_text("w20")
    # Six streams would take all connections of a browser: others get through while they go on.
    page.get_by_label("Title of the board").fill("Renamed")
    page.get_by_label("Title of the board").press("Enter")
    expect(page).to_have_title(re.compile("Renamed"))
    expect(page.locator(".turn-view.running")).to_have_count(6)


def test_messages_are_edited_deleted_undone_and_asked_again(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("parrot")
    for text in ("One", "Two"):
        talk.say(board["threads"][0], text)
    first = _turns(talk, board)
    page = enter(running, f"/boards/{board['id']}")
    said = page.locator("[data-role=user] .prose")
    expect(said).to_have_text(["One", "Two"])
    page.locator("[data-role=user]").first.hover()
    page.get_by_role("button", name="Edit").first.click()
    page.get_by_label("Message", exact=True).fill("Uno")
    page.get_by_label("Message", exact=True).press("Control+Enter")
    expect(said).to_have_text(["Uno", "Two"])
    expect(page.get_by_text("edited")).to_have_count(1)
    page.get_by_role("button", name="Regenerate").first.click()
    expect(answers(page)).to_have_text(["kind: Uno"])
    ended(page)
    page.locator("[data-role=assistant]").hover()
    page.get_by_role("button", name="Delete").last.click()
    expect(answers(page)).to_have_count(0)
    for _ in range(3):
        page.get_by_role("button", name="Undo").click()
    expect(said).to_have_text(["One", "Two"])
    assert _turns(talk, board) == first
    page.get_by_role("button", name="Redo").click()
    expect(said).to_have_text(["Uno", "Two"])


def test_a_tool_result_is_filled_in_by_hand(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("clerk")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "Help")
    card = page.locator("[data-tool=ask_person]")
    expect(card).to_contain_text("no result")
    own = page.locator("[data-tool=look]").first
    own.locator("summary").first.click()
    expect(own).to_contain_text("found")
    page.get_by_label("Result of ask_person").fill("the blue one")
    page.get_by_role("button", name="Send the result").click()
    expect(answers(page)).to_have_text(["The tool said the blue one."])
    assert _turns(talk, board)[1]["said"] == [
        {"role": "tool", "tool_call_id": "call_1", "content": "the blue one"}
    ]


def test_a_call_that_was_told_as_an_event_alone_is_answered_by_hand(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("teller")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "Help")
    expect(page.locator("[data-tool=look_up]")).to_contain_text("no result")
    page.get_by_label("Result of look_up").fill("seven")
    page.get_by_role("button", name="Send the result").click()
    expect(answers(page).last).to_have_text("The tool said seven.")
    call, result = _turns(talk, board)[1]["said"]
    assert [one["id"] for one in call["tool_calls"]] == ["told"]
    assert result == {"role": "tool", "tool_call_id": "told", "content": "seven"}


def test_results_of_tools_stay_with_their_thread_and_can_be_changed(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("clerks", "clerks")
    page = enter(running, f"/boards/{board['id']}")
    for number in range(2):
        say(page, "Help", number)
    first, second = page.get_by_label("Result of ask"), page.get_by_label("Result of tell")
    expect(second).to_have_count(2)
    keep = page.get_by_role("button", name="Keep the result")
    # Both threads have calls with the same ids; what is kept survives a reload.
    first.nth(0).fill("one")
    keep.nth(0).click()
    second.nth(1).fill("other")
    keep.nth(3).click()
    expect(page.get_by_text("Kept.")).to_have_count(2)
    page.reload()
    expect(first.nth(0)).to_have_value("one")
    expect(first.nth(1)).to_have_value("")
    expect(page.get_by_text("Kept.")).to_have_count(2)
    # What is changed has to be kept anew.
    first.nth(0).fill("changed")
    expect(page.get_by_text("Kept.")).to_have_count(1)
    keep.nth(0).click()
    second.nth(0).fill("two")
    keep.nth(1).click()
    expect(answers(page).first).to_have_text("Heard changed, two.")
    # The card of a call holds its result, which is a message like any other.
    ended(page)
    card = page.locator("[data-tool=note]").first
    card.locator("summary").click()
    page.get_by_role("button", name="Edit the result of note").click()
    page.get_by_label("Message", exact=True).fill("another note")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Message", exact=True)).to_have_count(0)
    expect(card).to_contain_text("another note")
    said = talk.get(f"threads/{board['threads'][0]['id']}")["turns"][1]
    assert [one["content"] for one in said["said"]] == ["changed", "two"]
    assert said["replies"][1]["content"] == "another note"


def test_a_broken_turn_says_so_and_runs_again(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("breaking")
    page = enter(running, f"/boards/{board['id']}")
    say(page, "Print")
    expect(page.locator(".turn-view.broken [role=alert]")).to_contain_text("printer is on fire")
    expect(answers(page)).to_have_text(["Half an answer"])
    broken = _turns(talk, board)[0]["id"]
    page.get_by_role("button", name="Run again").click()
    until(page, lambda: [one["id"] for one in _turns(talk, board)] != [broken])
    expect(page.locator(".turn-view.broken")).to_be_visible()


def test_branches_copies_and_variants_stand_aligned(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("parrot")
    for text in ("One", "Two"):
        talk.say(board["threads"][0], text)
    page = enter(running, f"/boards/{board['id']}")
    page.get_by_role("button", name="Branch").first.click()
    expect(page.locator("[data-thread]")).to_have_count(2)
    page.get_by_role("button", name="Compare with").click()
    page.get_by_label("Workflow").select_option(label="recorder")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("[data-thread]")).to_have_count(3)
    page.get_by_role("button", name="Run all 2").click()
    expect(page.get_by_text("3 messages")).to_be_visible()
    rows = page.locator(".turn-row")
    expect(rows).to_have_count(2)
    for number, texts in enumerate((["One", "One", "One"], ["Two", "Two"])):
        expect(rows.nth(number).locator("[data-role=user] .prose")).to_have_text(texts)
    page.get_by_label("Message to all threads").fill("Three")
    page.get_by_label("Message to all threads").press("Enter")
    expect(page.get_by_text("kind: Three")).to_have_count(2)
    expect(rows).to_have_count(3)
    expect(rows.nth(2).locator("[data-role=user] .prose")).to_have_text(["Three"] * 3)


def test_an_agent_of_the_benchmark_is_talked_to_and_threads_are_added_and_duplicated(
    open_playground: Open, enter: Enter, retail: Any
) -> None:
    with running_server(retail) as server:
        named = f"agent:tool-calling?model=oracle&api_base={server.api_base}"
        page = enter(open_playground(sources=[named, str(APP)]), "/workflows")
        card = page.locator(f"[data-workflow='{named}']")
        expect(card).to_contain_text("A chat workflow, decided by")
        card.get_by_role("button", name="Chat", exact=True).click()
        say(page, retail.task(5).instruction)
        expect(page.locator("[data-tool]").first).to_be_visible()
        ended(page)
        page.get_by_role("button", name="New thread").click()
        page.get_by_role("dialog").get_by_label("Workflow").select_option(label="parrot")
        page.get_by_role("button", name="Add the thread").click()
        expect(page.locator("[data-thread]")).to_have_count(2)
        say(page, "One", 1)
        expect(page.get_by_text("kind: One")).to_have_count(1)
        ended(page)
        page.get_by_role("button", name="More for this thread").last.click()
        page.get_by_role("menuitem", name="Duplicate").click()
        expect(page.locator("[data-thread]")).to_have_count(3)
        expect(page.get_by_text("kind: One")).to_have_count(2)


def test_two_browsers_see_the_same_thread(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot")
    one = enter(running, f"/boards/{board['id']}")
    other = enter(running, f"/boards/{board['id']}")
    expect(other.get_by_text("Nothing was said yet.")).to_be_visible()
    say(one, "From one")
    expect(answers(other)).to_have_text(["kind: From one"])
    say(other, "From the other")
    expect(answers(one)).to_have_text(["kind: From one", "kind: From the other"])
    one.get_by_role("button", name="Undo").click()
    expect(answers(other)).to_have_text(["kind: From one"])


def test_what_is_typed_survives_a_reload(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot")
    page = enter(running, f"/boards/{board['id']}")
    composer(page).fill("half a thou")
    page.reload()
    expect(composer(page)).to_have_value("half a thou")


def test_inputs_are_a_form_from_the_schema(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot")
    page = enter(running, f"/boards/{board['id']}")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Tone").fill("stern")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Settings")).to_be_focused()
    say(page, "Hello")
    expect(answers(page)).to_have_text(["stern: Hello"])


def test_a_form_that_cannot_be_understood_is_not_sent(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("facts", treat_as="completion")
    page = enter(running, f"/boards/{board['id']}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("country").fill("Peru")
    page.get_by_label("detail").fill("many")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("This is no number.")).to_be_visible()
    expect(page.get_by_label("detail")).to_have_value("many")
    page.get_by_label("detail").fill("3")
    page.get_by_label("detail", exact=True).fill("several")
    expect(page.get_by_text("This is no number.")).to_be_visible()
    # What is set elsewhere takes the place of what could not be understood.
    page.get_by_role("button", name="Unset detail").click()
    expect(page.get_by_text("This is no number.")).to_have_count(0)
    expect(page.get_by_label("detail", exact=True)).to_have_value("")
    page.get_by_label("detail", exact=True).fill("3")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".inputs-part")).to_contain_text("Peru")
    assert talk.get(f"boards/{board['id']}")["threads"][0]["inputs"] == {
        "country": "Peru",
        "detail": 3,
    }


def test_json_is_said_and_shown_from_the_root(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("whole", "facts")
    page = enter(running, f"/boards/{board['id']}?as=chat")
    page.get_by_role("button", name="as JSON").first.click()
    say(page, '[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]')
    expect(answers(page)).to_have_text(["2 so far"])
    said = _turns(talk, board)[0]["said"]
    assert said == [{"role": "system", "content": "Be brief"}, user("Hi")]
    page.get_by_role("button", name="Raw").first.click()
    expect(page.locator(".raw").first).to_contain_text('"said"')
    expect(page.locator(".raw").first).to_contain_text('"outputs"')
    say(page, "{broken", 0)
    expect(page.locator(".composer [role=alert]").first).to_contain_text("no valid JSON")
    expect(composer(page)).to_have_value("{broken")


def test_turns_are_copied_as_text_json_and_python(
    running: Running, talk: Talk, enter: Enter
) -> None:
    board = talk.board("parrot")
    talk.say(board["threads"][0], "It's")
    page = enter(running, f"/boards/{board['id']}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for form, wanted in (
        ("Text", "It's\n\nkind: It's "),
        ("JSON", '"outputs"'),
        ("Python", "import"),
    ):
        page.get_by_role("button", name="Copy").click()
        page.get_by_role("menuitem", name=form).click()
        expect(page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
        # "Copied" may still stand there from the one before.
        until(page, lambda text=wanted: text in page.evaluate("navigator.clipboard.readText()"))
    code = page.evaluate("navigator.clipboard.readText()")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "kind: It's " in ended.stdout


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def command(port: int) -> Generator[tuple[subprocess.Popen[str], str]]:
    """`greenroom playground` in a process of its own, and its link."""
    line = ["playground", str(APP), "--port", str(port), "--json", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-c", "from greenroom.cli import main; main()", *line],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())["link"]
        finally:
            process.kill()


def test_a_page_goes_on_when_its_server_was_killed(
    chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_TOKEN", "a token of this test alone")
    port = free_port()
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    page = context.new_page()
    with command(port) as (process, link):
        page.goto(link)
        page.goto(f"http://127.0.0.1:{port}/workflows")
        page.locator(f"[data-workflow='{address('slow')}'] button.main").click()
        say(page, "Go")
        expect(answers(page)).to_contain_text("w30")
        composer(page).fill("not sent yet")
        process.send_signal(signal.SIGKILL)
        process.wait()
    # While it is away, the page says so and keeps what it has shown.
    told = page.locator(".turn-view.running [role=alert]")
    for _ in range(20):
        expect(told).to_contain_text("Start it again with `greenroom playground`")
        expect(answers(page)).to_contain_text("w0 w1 w2")
        page.wait_for_timeout(100)
    with command(port):
        expect(page.locator(".turn-view.broken [role=alert]")).to_contain_text(
            "Run it again", timeout=20_000
        )
        expect(answers(page)).to_contain_text("w0 w1 w2")
        expect(composer(page)).to_have_value("not sent yet")
        page.get_by_role("button", name="Run again").click()
        expect(page.locator(".turn-view.running")).to_be_visible()
        expect(answers(page)).to_contain_text("w10")
        page.reload()
        expect(answers(page)).to_contain_text("w20")
    context.close()


# What is large, narrow or hostile


def test_a_thread_of_300_messages_is_bounded(running: Running, talk: Talk, enter: Enter) -> None:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": f"message {n}"} for n in range(300)]
    board = talk.post("boards", threads=[{"address": address("parrot"), "messages": messages}])
    page = enter(running, f"/boards/{board['id']}")
    expect(page.get_by_text("message 299", exact=True)).to_be_visible()
    assert elements(page) < MOST_ELEMENTS
    turns = page.get_by_role("region", name="Turns")

    def at_the_start() -> bool:
        turns.evaluate("part => part.scrollTo(0, 0)")
        assert elements(page) < MOST_ELEMENTS
        return page.get_by_text("message 0", exact=True).is_visible()

    until(page, at_the_start)


def test_a_message_of_1_mb_is_bounded(running: Running, talk: Talk, enter: Enter) -> None:
    text = "a *paragraph* of words\n\n" * 45_000
    board = talk.post(
        "boards",
        threads=[
            {
                "address": address("parrot"),
                "messages": [user("Long, please"), {"role": "assistant", "content": text}],
            }
        ],
    )
    page = enter(running, f"/boards/{board['id']}")
    expect(page.get_by_text("a paragraph of words").first).to_be_visible()
    assert elements(page) < MOST_ELEMENTS * 2
    page.get_by_role("button", name="Load all of it").click()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text("1.1 million characters are shown")).to_be_visible()
    assert elements(page) < MOST_ELEMENTS * 2


HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
    "[click](javascript:window.hacked=1) <svg onload='window.hacked=1'></svg>"
    "<style>body{display:none}</style>"
)


def test_hostile_text_is_shown_and_never_runs(running: Running, talk: Talk, enter: Enter) -> None:
    message = {"role": "assistant", "content": HOSTILE, "name": HOSTILE}
    board = talk.post(
        "boards",
        title=HOSTILE,
        threads=[
            {"address": address("parrot"), "title": HOSTILE, "messages": [user(HOSTILE), message]}
        ],
    )
    problems: list[str] = []
    page = enter(running, f"/boards/{board['id']}")
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    say(page, HOSTILE)
    expect(page.get_by_text("window.hacked=1").first).to_be_visible()
    expect(answers(page)).to_have_count(2)
    for name in page.get_by_role("button", name="Raw").all():
        name.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("a[href^=javascript]").count() == 0
    page.goto(f"{running.address}/boards")
    expect(page.get_by_text("window.hacked=1").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert not problems, problems


def test_threads_are_tabs_on_a_narrow_screen(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot", "recorder")
    page = enter(running, f"/boards/{board['id']}", width=390, height=800)
    expect(page.get_by_role("tab")).to_have_count(2)
    say(page, "Hello")
    expect(answers(page)).to_have_text(["kind: Hello"])
    page.get_by_role("tab", name="recorder").click()
    expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
    say(page, "Hello")
    expect(answers(page)).to_have_text(["1 messages"])
    expect(page).to_have_url(re.compile("thread="))
    page.reload()
    expect(answers(page)).to_have_text(["1 messages"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keys_alone_chat_and_compare(running: Running, talk: Talk, enter: Enter) -> None:
    page = enter(running, "/workflows")
    tab_to(page, page.locator(f"[data-workflow='{address('parrot')}'] button.main"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/boards/"))
    expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.type("Hello")
    page.keyboard.press("Enter")
    expect(answers(page)).to_have_text(["kind: Hello"])
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Undo in this thread")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    tab_to(page, page.get_by_role("button", name="Compare with"))
    page.keyboard.press("Enter")
    workflow = page.get_by_role("dialog").get_by_label("Workflow")
    expect(workflow.get_by_role("option", name="recorder")).to_be_attached()
    tab_to(page, workflow)
    page.keyboard.type("recorder")
    tab_to(page, page.get_by_role("button", name="Compare", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator("[data-thread]")).to_have_count(2)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("l")
    expect(composer(page, 1)).to_be_focused()
    # The same to both, and their answers side by side.
    everybody = page.get_by_label("Message to all threads")
    expect(everybody).to_have_attribute("placeholder", "Say the same in both threads")
    tab_to(page, everybody)
    page.keyboard.type("Second")
    page.keyboard.press("Enter")
    rows = page.locator(".turn-row")
    expect(rows.last).to_contain_text("kind: Second")
    expect(rows.last.locator("[data-role=assistant] .prose")).to_have_count(2)
    ended(page)
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.locator("[data-turn]:focus")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(rows.last.locator("[data-role=assistant] .prose")).to_have_count(1)


def test_deleted_threads_and_boards_come_back(running: Running, talk: Talk, enter: Enter) -> None:
    board = talk.board("parrot", "recorder", title="Precious")
    page = enter(running, f"/boards/{board['id']}")
    expect(page.locator("[data-thread]")).to_have_count(2)
    page.get_by_role("button", name="More for this thread").first.click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.locator("[data-thread]")).to_have_count(1)
    page.locator(".undo-note").get_by_role("button", name="Undo").click()
    expect(page.locator("[data-thread]")).to_have_count(2)
    page.goto(f"{running.address}/boards")
    page.get_by_role("button", name="Delete Precious").click()
    expect(page.get_by_role("link", name="Precious")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Precious")).to_have_count(1)


def test_a_long_list_of_boards_is_bounded_and_searched(
    running: Running, talk: Talk, enter: Enter
) -> None:
    for number in range(130):
        talk.board("parrot", title=f"Board {number:03}")
    page = enter(running, "/boards")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/api/v1/boards?" in one.url else None)
    expect(page.get_by_role("link", name="Board 129")).to_be_visible()
    settle(page)
    assert len(asked) <= 4  # also for what happened while it was opened
    assert elements(page) < MOST_ELEMENTS
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("007")
    expect(page.get_by_role("link", name=re.compile("Board \\d"))).to_have_text(["Board 007"])
    expect(page).to_have_url(re.compile("q="))
    page.reload()
    expect(page.get_by_role("link", name=re.compile("Board \\d"))).to_have_text(["Board 007"])
    page.keyboard.press("j")
    expect(page.locator("tr[data-selected]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title of the board")).to_have_value("Board 007")


def _turns(talk: Talk, board: Any) -> list[Any]:
    return talk.get(f"threads/{board['threads'][0]['id']}")["turns"]
