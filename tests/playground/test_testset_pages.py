"""Test sets in a browser: looking, filtering, editing, versions, files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from greenroom.store import Store
from greenroom.store.test_set_edits import DeleteRow, SetCell, edit_test_set
from tests.playground.conftest import Enter, Open, Running, held, late, settle, until
from tests.playground.talking import APP, Talk

pytestmark = pytest.mark.slow

CHAT = [
    {"role": "user", "content": "Which is the capital of Chad?"},
    {"role": "assistant", "content": "N'Djamena."},
]
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
ROWS: list[dict[str, Any]] = [
    {"question": "Capital of France?", "expected": "Paris", "n": 12345678901234567890123},
    {"question": CHAT, "expected": {"role": "assistant", "content": "yes"}},
    {"question": json.dumps(CHAT), "expected": HOSTILE},
    {"question": "[a link](javascript:document.title='owned')", "expected": None},
]


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    store.test_sets.save("capitals", ROWS, note="at first")
    return open_playground(store)


def cell(page: Page, index: int, column: str) -> Locator:
    return page.locator(f"tr[data-index='{index}'] td[data-column='{column}']")


def rows_of(running: Running, name: str = "capitals", version: int | None = None) -> list[Any]:
    return list(running.store.test_sets.rows(running.store.test_sets.find(name, version)))


def save(page: Page) -> None:
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Saved as version")).to_be_visible()


def test_an_empty_store_says_what_to_do(playground: Running, enter: Enter) -> None:
    page = enter(playground, "/test-sets")
    expect(page.get_by_text("There are no test sets yet.")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Import a file").last.click()
    expect(page.get_by_role("dialog", name="Import a test set")).to_be_visible()
    page.goto(f"{playground.address}/test-sets/none")
    expect(page.get_by_role("alert")).to_contain_text("Unknown test set 'none'")


def test_cells_are_shown_by_their_shape_and_never_run(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets")
    page.get_by_role("link", name="capitals").click()
    expect(cell(page, 1, "question")).to_contain_text("user Which is the capital of Chad?")
    expect(cell(page, 2, "question")).to_contain_text("assistant N'Djamena.")
    expect(cell(page, 2, "expected")).to_contain_text(HOSTILE)
    expect(cell(page, 0, "n")).to_have_text("12345678901234567890123")
    page.get_by_role("button", name="4", exact=True).click()
    dialog = page.get_by_role("dialog", name="Row 4 of capitals")
    expect(dialog).to_contain_text("a link")
    assert dialog.locator("a").count() == 0
    page.keyboard.press("Escape")
    assert page.title() == "capitals – Greenroom"


def test_keys_alone_edit_a_cell_and_save(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals?row=1")
    expect(cell(page, 0, "question")).to_contain_text("France")
    cell(page, 0, "question").focus()
    page.keyboard.press("ArrowRight")
    expect(cell(page, 0, "expected")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("row 1, expected", exact=True)).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Lutetia")
    page.keyboard.press("Escape")
    expect(cell(page, 0, "expected")).to_have_text("Paris")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("Lutetia")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 0, "expected")).to_have_text("Lutetia")
    expect(cell(page, 0, "expected")).to_be_focused()
    page.keyboard.press("j")
    expect(cell(page, 1, "expected")).to_be_focused()
    expect(page).to_have_url(re.compile("row=2$"))
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved as version 2: 1 cell changed.")).to_be_visible()
    assert rows_of(running) == [{**ROWS[0], "expected": "Lutetia"}, *ROWS[1:]]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Saved as version 3: version 1 again.")).to_be_visible()
    expect(cell(page, 0, "expected")).to_have_text("Paris")
    assert rows_of(running) == ROWS


def test_a_chat_is_edited_as_a_conversation(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    for index in (1, 2):  # a value, and a text that encodes one
        cell(page, index, "question").dblclick()
        label = f"Message 2 of row {index + 1}, question"
        page.get_by_label(label).fill("It is N'Djamena.")
        page.get_by_role("button", name="Add a message").click()
        page.get_by_label(f"Message 3 of row {index + 1}, question").fill("Thanks!")
        page.keyboard.press("Control+Enter")
        expect(cell(page, index, "question")).to_contain_text("user Thanks!")
    save(page)
    chat = [CHAT[0], {**CHAT[1], "content": "It is N'Djamena."}]
    chat.append({"role": "user", "content": "Thanks!"})
    found = rows_of(running)
    assert found[1]["question"] == chat
    assert json.loads(found[2]["question"]) == chat


def test_json_keeps_its_digits_and_broken_json_is_told(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "n").dblclick()
    field = page.get_by_label("row 1, n", exact=True)
    expect(field).to_have_value("12345678901234567890123")
    field.fill("[98765432109876543210,")
    expect(page.get_by_text("This is no valid JSON yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Keep")).to_be_disabled()
    field.fill("[98765432109876543210, 1.0]")
    page.get_by_role("button", name="Keep").click()
    save(page)
    assert json.dumps(rows_of(running)[0]["n"]) == "[98765432109876543210, 1.0]"


def test_rows_and_columns_are_changed_together(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    expect(cell(page, 0, "question")).to_contain_text("France")
    page.get_by_role("button", name="Row 2", exact=True).click()
    page.get_by_role("menuitem", name="Delete the row").click()
    page.get_by_role("button", name="Row 4", exact=True).click()
    page.get_by_role("menuitem", name="Move the row …").click()
    page.get_by_label("To row (1 to 4)").fill("1")
    page.get_by_role("button", name="Move", exact=True).click()
    page.get_by_role("button", name="Add a row").click()
    cell(page, 5, "question").dblclick()
    page.get_by_label("row 6, question", exact=True).fill("Capital of Mali?")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Column n").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("number")
    page.get_by_role("button", name="Take this name").click()
    expect(page.get_by_text("4 changes, not saved")).to_be_visible()
    page.reload()  # this browser keeps what is not saved
    expect(page.get_by_text("4 changes, not saved")).to_be_visible()
    page.get_by_label("Note for the new version").fill("tidied up")
    save(page)
    first = {"question": ROWS[0]["question"], "expected": "Paris", "number": ROWS[0]["n"]}
    assert rows_of(running) == [ROWS[3], first, ROWS[2], {"question": "Capital of Mali?"}]
    assert running.store.test_sets.find("capitals").note == "tidied up"


def test_two_people_edit_and_nothing_is_lost(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "expected").dblclick()
    page.get_by_label("row 1, expected", exact=True).fill("mine")
    page.keyboard.press("Control+Enter")
    theirs = [SetCell(row=3, column="expected", value="theirs")]
    edit_test_set(running.store.test_sets, "capitals", theirs, base_version=1)
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Version 2 was saved in the meantime.")).to_be_visible()
    expect(cell(page, 0, "expected")).to_have_text("mine")
    page.get_by_role("button", name="Save on top of version 2").click()
    expect(page.get_by_text("Saved as version 3")).to_be_visible()
    found = rows_of(running)
    assert (found[0]["expected"], found[3]["expected"]) == ("mine", "theirs")


def test_versions_are_compared_and_restored(running: Running, enter: Enter) -> None:
    edits = [SetCell(row=0, column="expected", value="Lyon"), DeleteRow(row=1)]
    edit_test_set(running.store.test_sets, "capitals", edits, base_version=1, note="wrong")
    page = enter(running, "/test-sets/capitals")
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_text("wrong").first).to_be_visible()
    page.get_by_role("link", name="What changed").click()
    expect(page.get_by_text("1 row removed, 1 row changed")).to_be_visible()
    changed = page.locator(".difference[data-kind='changed']")
    expect(changed.locator(".was")).to_have_text("Paris")
    expect(changed.locator(".is")).to_have_text("Lyon")
    expect(page.get_by_role("heading", name="Row 2 was removed")).to_be_visible()
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Saved as version 3: version 1 again.")).to_be_visible()
    assert rows_of(running) == ROWS
    page.goto(f"{running.address}/test-sets/capitals?version=2")
    expect(page.get_by_text("This is an older version, as it was.")).to_be_visible()
    expect(cell(page, 0, "expected")).to_have_text("Lyon")
    assert page.get_by_role("button", name="Add a row").count() == 0


def test_files_come_in_and_go_out(playground: Running, enter: Enter, tmp_path: Path) -> None:
    page = enter(playground, "/test-sets")
    page.get_by_role("button", name="Import a file").first.click()
    broken = tmp_path / "cities.csv"
    broken.write_text("city,expected\nParis,France,Europe\n", "utf-8")
    page.get_by_label("File").set_input_files(broken)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("cities.csv, line 2: there are 3 cells")
    assert playground.store.test_sets.all() == []
    good = tmp_path / "cities.jsonl"
    good.write_text('{"city": "Paris", "n": 1}\n{"city": "Lima", "n": [2]}\n', "utf-8")
    page.get_by_label("File").set_input_files(good)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="cities")).to_be_visible()
    for name, form in (("JSON Lines", "jsonl"), ("JSON", "json"), ("CSV", "csv")):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as waiting:
            page.get_by_role("menuitem", name=name, exact=True).click()
        assert waiting.value.suggested_filename == f"cities@1.{form}"
        target = tmp_path / f"again.{form}"
        waiting.value.save_as(target)
        assert "Lima" in target.read_text("utf-8")


def test_the_filter_is_in_the_address(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    expect(cell(page, 0, "question")).to_contain_text("France")
    page.keyboard.press("/")
    expect(page.get_by_label("Search in the rows")).to_be_focused()
    page.keyboard.type("chad")
    expect(page.get_by_text("2 rows of 4")).to_be_visible()
    page.wait_for_url(re.compile("q=chad"))
    page.get_by_label("Kind of value").select_option("message")
    expect(page.get_by_text("No row is like that.")).to_be_visible()
    page.goto(f"{running.address}/test-sets/capitals?column=expected&kind=message")
    expect(page.get_by_text("1 row of 4")).to_be_visible()
    expect(cell(page, 0, "expected")).to_contain_text("yes")


def test_the_filter_can_be_read_on_a_phone(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals", width=390, height=844)
    search = page.get_by_label("Search in the rows").bounding_box()
    kind = page.get_by_label("Kind of value").bounding_box()
    assert search is not None
    assert kind is not None
    assert search["width"] > 300
    assert kind["y"] >= search["y"] + search["height"]


def test_a_cell_is_edited_on_a_phone(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals", width=390, height=844)
    cell(page, 1, "question").dblclick()
    field = page.get_by_label("Message 1 of row 2, question").bounding_box()
    assert field is not None
    assert field["x"] + field["width"] <= 390


def test_ten_thousand_rows_are_bounded(store: Store, open_playground: Open, enter: Enter) -> None:
    long = "x" * 20_000
    rows = [
        {"question": f"Question {n}?", "expected": long if n % 7 == 0 else n} for n in range(10_000)
    ]
    store.test_sets.save("large", rows)
    running = open_playground(store)
    page = enter(running)
    sizes: list[int] = []
    page.on(
        "response",
        lambda one: sizes.append(len(one.body())) if "/api/v1/test-sets" in one.url else None,
    )
    page.goto(f"{running.address}/test-sets/large?row=9000")
    expect(cell(page, 8_999, "question")).to_have_text("Question 8999?")
    scroll = page.locator(".rows-scroll")
    for place in (0, 0.25, 0.5, 0.75, 1):
        scroll.evaluate("(part, place) => { part.scrollTop = part.scrollHeight * place; }", place)
        page.wait_for_timeout(250)
    last = cell(page, 9_999, "question").filter(has_text="Question 9999?")

    def at_the_end() -> bool:
        scroll.evaluate("part => { part.scrollTop = part.scrollHeight; }")
        return last.is_visible()

    until(page, at_the_end)
    assert page.evaluate("document.querySelectorAll('*').length") < 1_500
    assert len(sizes) < 25
    assert max(sizes) < 200_000
    page.get_by_label("Search in the rows").fill("question 9998")
    expect(cell(page, 0, "question")).to_have_text("Question 9998?")


def test_a_turn_is_added_to_a_test_set(store: Store, open_playground: Open, enter: Enter) -> None:
    running = open_playground(store, [str(APP)])
    talk = Talk(running.api)
    thread = talk.say(talk.say(talk.thread("recorder"), "hello"), "and again")
    page = enter(running, f"/boards/{thread['board_id']}?as=chat")
    page.get_by_role("button", name="Add to test set").last.click()
    dialog = page.get_by_role("dialog", name="Add to test set")
    dialog.get_by_role("combobox", name="Test set").fill("kept")
    expect(dialog.get_by_text("Makes a new test set.")).to_be_visible()
    expect(dialog.get_by_role("row", name="expected")).to_contain_text("3 messages")
    dialog.get_by_role("button", name="Add the row").click()
    dialog.get_by_role("link", name="row 1 of kept").click()
    expect(page.get_by_role("heading", name="kept")).to_be_visible()
    (row,) = rows_of(running, "kept")
    assert [one["content"] for one in row["messages"]] == ["hello", "1 messages", "and again"]
    assert row["expected"] == {"role": "assistant", "content": "3 messages"}
    # Loaded, it is the same call again.
    board = talk.board("recorder")
    loaded = talk.post(f"boards/{board['id']}/load", test_set="kept")["threads"][0]
    turns = talk.get(f"threads/{loaded['id']}")["turns"]
    assert [one["status"] for one in turns] == ["done", "draft"]


def test_copied_moved_and_new_rows_are_edited_too(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    expect(cell(page, 0, "question")).to_contain_text("France")
    page.get_by_role("button", name="Row 1", exact=True).click()
    page.get_by_role("menuitem", name="Copy the row").click()
    cell(page, 1, "expected").dblclick()
    field = page.get_by_label("row 2, expected", exact=True)
    expect(field).to_have_value("Paris")
    field.fill("Lyon")
    page.keyboard.press("Control+Enter")
    expect(cell(page, 1, "question")).to_contain_text("France")
    page.get_by_role("button", name="Row 4", exact=True).click()
    page.get_by_role("menuitem", name="Move the row …").click()
    page.get_by_label("To row (1 to 4)").fill("1")
    page.get_by_role("button", name="Move", exact=True).click()
    cell(page, 0, "question").dblclick()
    field = page.get_by_label("row 1, question", exact=True)
    expect(field).to_have_value(ROWS[3]["question"])
    field.fill("moved")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Add a row").click()
    cell(page, 6, "n").dblclick()
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("row 7, n", exact=True).fill("98765432109876543210")
    page.keyboard.press("Control+Enter")
    save(page)
    assert rows_of(running) == [
        {**ROWS[3], "question": "moved"},
        ROWS[0],
        {**ROWS[0], "expected": "Lyon"},
        *ROWS[1:3],
        {"n": 98765432109876543210},
    ]


def test_a_new_column_is_filled_before_it_is_saved(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    page.get_by_role("button", name="Add a column").click()
    page.get_by_role("dialog").get_by_label("Name").fill("tag")
    page.get_by_role("button", name="Take this name").click()
    cell(page, 1, "tag").dblclick()
    page.get_by_label("row 2, tag", exact=True).fill("chat")
    page.keyboard.press("Control+Enter")
    save(page)
    assert [row["tag"] for row in rows_of(running)] == ["", "chat", "", ""]


def test_changes_that_were_dropped_come_back(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    page.get_by_role("button", name="Column n").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Row 2", exact=True).click()
    page.get_by_role("menuitem", name="Delete the row").click()
    expect(page.get_by_text("2 changes, not saved")).to_be_visible()
    page.get_by_role("button", name="Drop the changes").click()
    expect(cell(page, 0, "n")).to_be_visible()
    page.get_by_role("button", name="Bring the changes back").click()
    expect(page.get_by_text("2 changes, not saved")).to_be_visible()
    cell(page, 0, "question").click()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(cell(page, 0, "n")).to_be_visible()
    expect(page.get_by_text("not saved")).to_have_count(0)


def test_two_tabs_of_a_browser_share_what_is_not_saved(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    other = page.context.new_page()
    other.goto(page.url)
    expect(cell(other, 0, "expected")).to_have_text("Paris")
    for count, tab, row in ((1, page, 0), (2, other, 2)):
        cell(tab, row, "expected").dblclick()
        tab.get_by_label(f"row {row + 1}, expected", exact=True).fill(f"tab {row}")
        tab.keyboard.press("Control+Enter")
        for one in (page, other):
            expect(one.get_by_text(re.compile(f"^{count} changes?, not saved"))).to_be_visible()
    save(page)
    found = rows_of(running)
    assert (found[0]["expected"], found[2]["expected"]) == ("tab 0", "tab 2")


def test_a_server_that_is_away_takes_nothing_from_what_is_typed(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "expected").dblclick()
    field = page.get_by_label("row 1, expected", exact=True)
    field.fill("typed")
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route("**/api/v1/test-sets/**", refuse)
    until(page, lambda: len(asked) >= 3)  # the page asks twice again before it believes it
    expect(page.get_by_role("alert").or_(field)).to_be_visible()
    expect(field).to_have_value("typed")


def test_columns_may_be_named_as_anything(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    rows = [{"constructor": "a", "__proto__": "b"}, {"toString": "c"}]
    store.test_sets.save("odd", rows)
    page = enter(open_playground(store), "/test-sets/odd")
    expect(cell(page, 1, "toString")).to_have_text("c")
    expect(cell(page, 1, "constructor")).to_have_text("")
    page.get_by_role("button", name="Add a row").click()
    cell(page, 2, "constructor").dblclick()
    page.get_by_label("row 3, constructor", exact=True).fill("d")
    page.keyboard.press("Control+Enter")
    save(page)
    found = list(store.test_sets.rows(store.test_sets.find("odd")))
    assert found == [*rows, {"constructor": "d"}]


def test_a_cell_that_is_edited_stays_that_cell(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 2, "expected").dblclick()
    page.get_by_label("row 3, expected", exact=True).fill("of the third row")
    # Rows above it come, and others are filtered out.
    page.get_by_role("button", name="Row 1", exact=True).click()
    page.get_by_role("menuitem", name="Copy the row").click()
    field = page.get_by_label("row 3, expected", exact=True)
    expect(field).to_have_value("of the third row")
    page.get_by_label("Search in the rows").fill("chad")
    expect(page.get_by_text("2 rows of 4")).to_be_visible()
    expect(field).to_have_value("of the third row")
    field.press("Control+Enter")
    page.get_by_label("Search in the rows").fill("")
    save(page)
    found = rows_of(running)
    third = {**ROWS[2], "expected": "of the third row"}
    assert found == [ROWS[0], ROWS[0], ROWS[1], third, ROWS[3]]


def test_what_is_typed_into_a_cell_is_kept_when_another_is_opened_and_when_saved(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "expected").dblclick()
    page.get_by_label("row 1, expected", exact=True).fill("one")
    cell(page, 3, "expected").dblclick()
    expect(cell(page, 0, "expected")).to_have_text("one")
    field = page.get_by_label("row 4, expected", exact=True)
    field.fill("[")
    # What makes no sense yet is not dropped.
    cell(page, 1, "question").dblclick()
    expect(field).to_have_value("[")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("This is no valid JSON yet.")).to_be_visible()
    assert rows_of(running) == ROWS
    field.fill("[4]")
    field.press("Control+s")
    expect(page.get_by_text("Saved as version 2: 2 cells changed.")).to_be_visible()
    found = rows_of(running)
    assert (found[0]["expected"], found[3]["expected"]) == ("one", [4])


def test_a_cell_that_is_scrolled_away_keeps_what_was_typed(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    store.test_sets.save("long", [{"question": f"Question {n}?"} for n in range(500)])
    page = enter(open_playground(store), "/test-sets/long")
    cell(page, 2, "question").dblclick()
    field = page.get_by_label("row 3, question", exact=True)
    field.fill("half a question")
    scroll = page.locator(".rows-scroll")

    def at_the_end() -> bool:
        scroll.evaluate("part => { part.scrollTop = part.scrollHeight; }")
        return cell(page, 499, "question").is_visible()

    until(page, at_the_end)
    expect(field).to_have_count(0)
    scroll.evaluate("part => { part.scrollTop = 0; }")
    expect(field).to_have_value("half a question")


def test_nothing_is_changed_while_changes_are_saved(running: Running, enter: Enter) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "expected").dblclick()
    page.get_by_label("row 1, expected", exact=True).fill("one")
    page.keyboard.press("Control+Enter")
    with held(page, "**/api/v1/test-sets/capitals"):
        page.get_by_role("button", name="Save as a new version").click()
        expect(page.get_by_role("button", name="Row 1", exact=True)).to_have_count(0)
        cell(page, 2, "expected").dblclick()
        expect(page.get_by_label("row 3, expected", exact=True)).to_have_count(0)
    expect(page.get_by_text("Saved as version 2")).to_be_visible()
    expect(page.get_by_role("button", name="Row 1", exact=True)).to_be_visible()


def test_an_answer_from_before_does_not_take_the_place_of_what_is_saved(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/test-sets/capitals")
    cell(page, 0, "expected").dblclick()
    page.get_by_label("row 1, expected", exact=True).fill("Lutetia")
    page.keyboard.press("Control+Enter")
    with late(page, "GET", "**/api/v1/test-sets/capitals") as answers:
        until(page, lambda: answers)  # the page looks now and then whether the test set is there
        save(page)
    settle(page)
    # At once: the page would look again in some seconds.
    assert cell(page, 0, "expected").inner_text() == "Lutetia"
    assert page.get_by_text("Version 2,").is_visible()


def test_rows_that_are_loaded_are_printed_and_no_others(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    store.test_sets.save("long", [{"question": f"Question {n}?"} for n in range(5000)])
    page = enter(open_playground(store), "/test-sets/long")
    expect(cell(page, 0, "question")).to_have_text("Question 0?")
    shown = page.locator("tr[data-index]").count()
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = "
        "[...document.querySelectorAll('tr[data-index]')].map((row) => row.innerText) })"
    )
    page.pdf()
    printed = page.evaluate("window.printed")
    assert shown < len(printed) < 1000
    assert all("Question" in text for text in printed)
