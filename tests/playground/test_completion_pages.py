"""Boards as tables in a browser: rows of inputs, and the outputs of workflows beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from greenroom.store import Store
from tests.playground.conftest import Enter, Open, Running, until
from tests.playground.talking import APP, Talk, address, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    """A playground with the workflows of talk_app.py, on each kind of database in turn."""
    return open_playground(store, [str(APP)])


def opened(running: Running, enter: Enter, board: Any) -> Page:
    return enter(running, f"/boards/{board['id']}?as=completion")


def row(page: Page, index: int) -> Locator:
    return page.locator(f"tr[data-index='{index}']")


def output(page: Page, index: int, column: int = 0) -> Locator:
    return row(page, index).locator(".output-cell").nth(column)


def to_the_end(page: Page, last: Locator) -> None:
    """Scroll down; rows that come in are higher than they were thought to be."""
    scroll = page.locator(".completion .table-scroll")

    def there() -> bool:
        scroll.evaluate("part => { part.scrollTop = part.scrollHeight; }")
        return last.is_visible()

    until(page, there)


def load(page: Page, name: str) -> None:
    page.get_by_role("button", name="Load a test set").click()
    page.get_by_role("combobox", name="Test set").fill(name)
    page.get_by_role("button", name="Load the rows").click()


def test_a_row_is_filled_in_and_run_by_keys(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    board = talk.board("capital")
    page = opened(running, enter, board)
    expect(output(page, 0)).to_contain_text("not run yet")
    row(page, 0).get_by_role("button", name="Edit").click()
    page.get_by_label("country").fill("Chad")
    page.keyboard.press("Control+Enter")
    expect(output(page, 0)).to_contain_text("the capital of Chad")
    expect(output(page, 0)).to_contain_text("ms")
    page.get_by_role("button", name="Raw outputs").click()
    expect(output(page, 0).locator(".json")).to_have_text('"the capital of Chad"')
    page.get_by_role("button", name="Add a row").click()
    expect(row(page, 1)).to_contain_text("no inputs yet")
    row(page, 1).get_by_role("button", name="Run the row").click()
    expect(output(page, 1).get_by_role("alert")).to_contain_text("country")
    row(page, 1).focus()
    page.keyboard.press("e")
    page.get_by_label("country").fill("Peru")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(row(page, 1)).to_contain_text("Peru")
    output(page, 1).get_by_role("button", name="Run again").click()
    expect(output(page, 1)).to_contain_text("the capital of Peru")


def test_an_output_stands_beside_its_inputs_on_a_phone(running: Running, enter: Enter) -> None:
    thread = {"address": address("facts"), "inputs": {"country": "Chad"}, "row": 0}
    board = Talk(running.api).post("boards", threads=[thread])
    page = enter(running, f"/boards/{board['id']}?as=completion", width=390, height=844)
    row(page, 0).get_by_role("button", name="Run the row").click()
    expect(output(page, 0)).to_contain_text("Chad")
    frame = page.get_by_role("region", name="Rows of inputs and their outputs")
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    row(page, 0).get_by_role("button", name="Edit").click()
    field = page.get_by_label("country").bounding_box()
    assert field is not None
    assert field["width"] > 150


def test_a_deleted_row_comes_back(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    board = talk.post(
        "boards",
        threads=[{"address": address("capital"), "inputs": {"country": "Chad"}, "row": 0}],
    )
    page = opened(running, enter, board)
    expect(row(page, 0)).to_contain_text("Chad")
    page.get_by_role("button", name="Delete row 1").click()
    expect(page.get_by_text("The row was deleted.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(row(page, 0)).to_contain_text("Chad")


def test_all_rows_of_a_test_set_run_over_several_workflows(running: Running, enter: Enter) -> None:
    names = [f"Country {number}" for number in range(30)]
    running.store.test_sets.save(
        "countries", [{"country": name, "expected": "x"} for name in names]
    )
    talk = Talk(running.api)
    board = talk.board("capital")
    talk.post(f"boards/{board['id']}/columns", address=address("facts"), parameters=None)
    page = opened(running, enter, board)
    load(page, "countries")
    expect(row(page, 3)).to_contain_text("Country 3")
    expect(page.get_by_text("from countries@1")).to_be_visible()
    page.get_by_role("button", name="Run all").click()
    expect(page.get_by_text("60 of 60 ended")).to_be_visible(timeout=30_000)
    expect(output(page, 3, 0)).to_contain_text("the capital of Country 3")
    expect(output(page, 3, 1)).to_contain_text('"country": "Country 3"')
    to_the_end(page, row(page, 29).filter(has_text="the capital of Country 29"))


def test_a_failure_is_told_in_words_and_can_be_run_again(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    board = talk.post(
        "boards",
        treat_as="completion",
        threads=[{"address": address("breaking"), "inputs": {"text": "go"}}],
    )
    page = opened(running, enter, board)
    page.get_by_role("button", name="Run all").click()
    cell = output(page, 0)
    expect(cell.get_by_role("alert")).to_contain_text("the printer is on fire")
    expect(cell).to_contain_text("Half an answer")
    expect(cell).to_contain_text("failed")
    before = _threads(talk, board)[0]["last"]["id"]
    cell.get_by_role("button", name="Run again").click()
    until(page, lambda: _threads(talk, board)[0]["last"]["id"] != before)
    expect(cell.get_by_role("alert")).to_contain_text("the printer is on fire")


def test_runs_are_stopped(running: Running, enter: Enter) -> None:
    rows = [{"text": f"Go {number}"} for number in range(12)]
    running.store.test_sets.save("goes", rows)
    talk = Talk(running.api)
    board = talk.board("slow", treat_as="completion")
    page = opened(running, enter, board)
    load(page, "goes")
    expect(row(page, 1)).to_contain_text("Go 1")
    page.get_by_role("button", name="Run all").click()
    expect(output(page, 0)).to_contain_text("w1")
    # A page that is loaded again, and any other, sees how far it is and can stop it.
    page.reload()
    expect(page.get_by_text("0 of 12 ended")).to_be_visible()
    page.locator(".tools").get_by_role("button", name="Stop").click()
    expect(page.get_by_text("12 of 12 ended")).to_be_visible()
    expect(output(page, 0)).to_contain_text("stopped")
    found = talk.get(f"boards/{board['id']}")["threads"]
    assert {one["last"]["status"] for one in found} == {"stopped"}


def test_one_text_goes_to_a_chat_and_to_a_completion(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    board = talk.board("parrot", "capital", treat_as="completion")
    page = opened(running, enter, board)
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("country").fill("Peru")
    page.get_by_role("button", name="Save and run").click()
    expect(output(page, 0, 0)).to_contain_text("kind: Peru")
    expect(output(page, 0, 1)).to_contain_text("the capital of Peru")


def test_a_chat_workflow_is_a_completion_and_chats_again(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    thread = talk.say(talk.say(talk.thread("recorder"), "hello"), "and now?")
    board = {"id": thread["board_id"]}
    talk.post(f"boards/{board['id']}/columns", address=address("parrot"), parameters=None)
    before = [talk.get(f"threads/{one['id']}") for one in _threads(talk, board)]
    page = enter(running, f"/boards/{board['id']}")
    page.get_by_role("button", name="Completion").click()
    expect(row(page, 0)).to_contain_text("and now?")
    expect(output(page, 0, 0)).to_contain_text("3 messages")
    expect(output(page, 0, 0)).to_contain_text("2 turns")
    page.get_by_role("button", name="Chat", exact=True).click()
    expect(page.locator("[data-role=assistant]").last).to_contain_text("3 messages")
    # Looking at it in another way has changed nothing.
    assert [talk.get(f"threads/{one['id']}") for one in _threads(talk, board)] == before
    page.get_by_role("button", name="Completion").click()
    output(page, 0, 0).get_by_role("button", name="Run again").click()
    again = wait_for(lambda: _idle(talk.get(f"threads/{thread['id']}")))
    assert [turn["said"][-1]["content"] for turn in again["turns"]] == ["hello", "and now?"]
    assert again["turns"][-1]["treated_as"] == "completion"
    assert again["turns"][-1]["outputs"] == "3 messages"
    expect(output(page, 0, 0)).to_contain_text("3 messages")


def _threads(talk: Talk, board: Any) -> Any:
    return talk.get(f"boards/{board['id']}")["threads"]


def _idle(thread: Any) -> Any:
    return thread if thread["running"] is None and thread["version"] > 3 else None


def test_a_chat_test_set_opens_a_thread_for_each_row(running: Running, enter: Enter) -> None:
    chats = [
        {"messages": [{"role": "user", "content": f"Hello {number}"}], "expected": "x"}
        for number in range(4)
    ]
    running.store.test_sets.save("chats", chats)
    talk = Talk(running.api)
    board = talk.board("parrot")
    page = opened(running, enter, board)
    load(page, "chats")
    expect(row(page, 3)).to_contain_text("Hello 3")
    page.get_by_role("button", name="Run all").click()
    expect(output(page, 3)).to_contain_text("kind: Hello 3")
    page.get_by_role("button", name="Chat", exact=True).click()
    expect(page.locator(".messages").filter(has_text="kind: Hello 0").first).to_be_visible()


def test_an_output_of_a_row_is_added_to_a_test_set(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    spec = {"address": address("facts"), "inputs": {"country": "Chad", "detail": 2}}
    board = talk.post("boards", threads=[spec])
    talk.say(board["threads"][0], inputs=spec["inputs"])
    page = opened(running, enter, board)
    output(page, 0).get_by_role("button", name="Add to test set").click()
    dialog = page.get_by_role("dialog", name="Add to test set")
    dialog.get_by_role("combobox", name="Test set").fill("kept")
    dialog.get_by_role("button", name="Add the row").click()
    expect(dialog.get_by_role("link", name="row 1 of kept")).to_be_visible()
    version = running.store.test_sets.find("kept")
    assert list(running.store.test_sets.rows(version)) == [
        {"country": "Chad", "detail": 2, "expected": {"country": "Chad", "detail": 2}}
    ]


def test_inputs_that_are_typed_stay_when_another_row_is_opened_and_when_scrolled_away(
    running: Running, enter: Enter
) -> None:
    rows = [{"country": f"Country {number}"} for number in range(60)]
    running.store.test_sets.save("countries", rows)
    talk = Talk(running.api)
    board = talk.board("capital")
    talk.post(f"boards/{board['id']}/load", test_set="countries")
    page = opened(running, enter, board)
    for index, text in ((0, "Chad"), (1, "Peru")):
        row(page, index).get_by_role("button", name="Edit").click()
        row(page, index).get_by_label("country").fill(text)
    to_the_end(page, row(page, 59))
    expect(row(page, 0)).to_have_count(0)
    page.locator(".completion .table-scroll").evaluate("part => { part.scrollTop = 0; }")
    for index, text in ((0, "Chad"), (1, "Peru")):
        field = row(page, index).get_by_label("country")
        expect(field).to_have_value(text)
        field.press("Control+Enter")
        expect(output(page, index)).to_contain_text(f"the capital of {text}")


def test_rows_that_are_loaded_are_printed(running: Running, enter: Enter) -> None:
    rows = [{"country": f"Country {number}"} for number in range(20)]
    running.store.test_sets.save("countries", rows)
    talk = Talk(running.api)
    board = talk.board("capital")
    talk.post(f"boards/{board['id']}/load", test_set="countries")
    page = opened(running, enter, board)
    expect(row(page, 0)).to_contain_text("Country 0")
    assert page.locator("tr[data-index]").count() < 20
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = "
        "[...document.querySelectorAll('tr[data-index]')].map((row) => row.innerText) })"
    )
    page.pdf()
    printed = page.evaluate("window.printed")
    assert len(printed) == 20
    assert all(f"Country {number}" in text for number, text in enumerate(printed))


def test_ten_thousand_rows_are_bounded(store: Store, open_playground: Open, enter: Enter) -> None:
    rows = [{"country": f"Country {number}"} for number in range(10_000)]
    store.test_sets.save("large", rows)
    running = open_playground(store, [str(APP)])
    talk = Talk(running.api)
    board = talk.board("capital")
    talk.post(f"boards/{board['id']}/load", test_set="large")
    page = enter(running)
    sizes: list[int] = []
    page.on(
        "response",
        lambda one: sizes.append(len(one.body())) if "/api/v1/boards" in one.url else None,
    )
    page.goto(f"{running.address}/boards/{board['id']}?as=completion")
    expect(row(page, 0)).to_contain_text("Country 0")
    scroll = page.locator(".completion .table-scroll")
    for place in (0.3, 0.6, 1):
        scroll.evaluate("(part, place) => { part.scrollTop = part.scrollHeight * place; }", place)
        page.wait_for_timeout(300)
    to_the_end(page, row(page, 9_999).filter(has_text="Country 9999"))
    assert page.evaluate("document.querySelectorAll('*').length") < 1_500
    assert len(sizes) < 20
    assert max(sizes) < 100_000
