"""A workflow by the real agenta SDK, in the playground."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from playwright.sync_api import expect

from greenroom.store import Store
from tests.playground.conftest import Enter, Open, Running
from tests.playground.talking import Talk, user
from tests.workflows.agenta_env import running_agenta

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def agenta() -> Generator[str]:
    """The SDK's app: its import takes many seconds."""
    with running_agenta() as address:
        yield address


def test_a_chat_of_the_sdk_is_found_and_talked_to(
    agenta: str, store: Store, open_playground: Open
) -> None:
    talk = Talk(open_playground(store).api)
    echo = talk.post("workflows", address=agenta)
    assert (echo["is_chat"], echo["error"], echo["parameters"]) == (True, None, {"tone": "kind"})
    assert "is_chat" in echo["decided_by"]
    thread = talk.thread(agenta, parameters={"tone": "dry"})
    for text in ("one", "two"):
        thread = talk.say(thread, text)
    assert [turn["replies"][0]["content"] for turn in thread["turns"]] == [
        "echo (dry): one",
        "echo (dry): two",
    ]
    assert thread["last"]["trace_id"]


def test_its_events_and_its_completions(agenta: str, store: Store, open_playground: Open) -> None:
    talk = Talk(open_playground(store, [f"{agenta}/events", f"{agenta}/completion"]).api)
    found = {one["address"]: one for one in talk.get("workflows")["items"]}
    assert found[f"{agenta}/completion"]["is_chat"] is False
    [turn] = talk.say(talk.thread(f"{agenta}/events"), "hello")["turns"]
    assert [(call["name"], call["output"]) for call in turn["tool_calls"]] == [("look_up", "found")]
    assert turn["replies"][-1]["content"].endswith("hello")
    capital = talk.thread(f"{agenta}/completion", inputs={"country": "Peru"})
    assert talk.say(capital)["last"]["outputs"] == "the capital of Peru"
    declared = talk.thread(f"{agenta}/not-chat", treat_as="chat")
    assert talk.say(declared, user("hi"))["last"]["outputs"] == "1 messages"


def test_a_person_adds_it_in_the_page_and_chats(
    agenta: str, playground: Running, enter: Enter
) -> None:
    page = enter(playground, "/workflows")
    page.get_by_label("Add a workflow by its URL").fill(agenta)
    page.get_by_role("button", name="Add", exact=True).click()
    card = page.locator(f'[data-workflow="{agenta}"]')
    expect(card).to_contain_text("in /inspect")
    card.get_by_role("button", name="Chat", exact=True).click()
    message = page.get_by_label("Message")
    for text in ("hello", "and again"):
        message.fill(text)
        message.press("Enter")
        expect(page.get_by_text(f"echo (kind): {text}")).to_be_visible()
