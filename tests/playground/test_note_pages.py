"""The pages of notes in a browser: write, change, undo, filter, export, and where people differ."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from greenroom.store import NoteFilter, NoteRecord, NoteSubject, Store
from tests.playground.conftest import Enter, Open, Running
from tests.playground.test_accessibility import violations
from tests.playground.test_notes import filled, judge

pytestmark = pytest.mark.slow

EPISODE = NoteSubject(job_id="id-sample", item=0, trial=0)


@pytest.fixture
def running(store: Store, open_playground: Open) -> Running:
    """A playground with a run of six tasks."""
    return open_playground(filled(store, tasks=6))


def note(running: Running, **said: Any) -> NoteRecord:
    return running.store.notes.add(said.pop("subject", EPISODE), **said)


def kept(running: Running) -> list[NoteRecord]:
    return list(running.store.notes.each(NoteFilter()))


def open_panel(page: Page) -> None:
    page.locator("tbody tr[data-index='0'] .note-cell").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_an_empty_list_says_what_to_do(running: Running, enter: Enter) -> None:
    page = enter(running, "/notes")
    expect(page.get_by_text("There are no notes yet.")).to_be_visible()
    expect(page.get_by_text("Open an episode of a run")).to_be_visible()
    page.goto(f"{running.address}/notes?q=nothing")
    page.get_by_role("link", name="Show all notes").click()
    page.wait_for_url(f"{running.address}/notes")


def test_filters_are_in_the_address_and_in_the_export(running: Running, enter: Enter) -> None:
    note(running, text="too rude", tag="tone", verdict="agent", author="Ann")
    note(running, text="fine", author="Bob")
    page = enter(running, "/notes?author=Ann")
    rows = page.locator("tbody tr[data-index]")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("too rude")
    page.get_by_label("Author").fill("Bob")
    expect(rows).to_contain_text("fine")
    page.wait_for_url("**/notes?author=Bob")
    page.get_by_label("Author").fill("")
    page.get_by_label("Verdict").select_option("agent")
    page.wait_for_url("**/notes?verdict=agent")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(page.get_by_label("Words")).to_be_focused()
    page.keyboard.type("rude")
    page.wait_for_url("**/notes?verdict=agent&q=rude")
    page.get_by_label("Run").fill("sample")
    page.get_by_label("Run").press("Enter")
    page.wait_for_url("**run=sample")
    expect(rows).to_have_count(1)
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="CSV", exact=True).click()
    text = downloaded.value.path().read_text("utf-8")
    assert "too rude" in text
    assert "fine" not in text
    page.reload()
    expect(page.get_by_label("Words")).to_have_value("rude")
    expect(rows).to_have_count(1)


def test_a_run_that_is_not_there_is_told(running: Running, enter: Enter) -> None:
    page = enter(running, "/notes?run=other")
    expect(page.get_by_role("alert")).to_contain_text("Unknown run 'other'")


def test_a_note_is_written_changed_and_undone(running: Running, enter: Enter) -> None:
    note(running, text="first", author="Ann")
    page = enter(running, "/notes")
    open_panel(page)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Add note")).to_be_disabled()
    dialog.get_by_label("task", exact=True).check()
    dialog.get_by_label("Tag").fill("odd task")
    dialog.get_by_label("Note", exact=True).fill("cannot be done")
    dialog.get_by_label("Your name").fill("Cid")
    dialog.get_by_role("button", name="Add note").click()
    expect(dialog.get_by_text("The note is kept.")).to_be_visible()
    expect(dialog.locator(".note")).to_have_count(2)
    newest = kept(running)[0]
    assert (newest.author, newest.tag, newest.verdict) == ("Cid", "odd task", "task")
    assert newest.text == "cannot be done"

    first = dialog.locator(".note").filter(has_text="first")
    first.get_by_role("button", name="Edit").click()
    first.get_by_label("Note", exact=True).fill("second")
    first.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("The note is changed.")).to_be_visible()
    assert {one.text for one in kept(running)} == {"second", "cannot be done"}
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.locator(".note").filter(has_text="first")).to_be_visible()
    assert {one.text for one in kept(running)} == {"first", "cannot be done"}

    dialog.locator(".note").filter(has_text="first").get_by_role("button", name="Delete").click()
    expect(dialog.get_by_text("The note is deleted.")).to_be_visible()
    expect(dialog.locator(".note")).to_have_count(1)
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.locator(".note")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    # The name is kept for the next note.
    page.reload()
    open_panel(page)
    expect(page.get_by_role("dialog").get_by_label("Your name")).to_have_value("Cid")


def test_a_note_that_is_not_added_yet_is_not_lost(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/sample/episodes/0/0")
    shown = page.get_by_role("heading", name="Task 0, trial 0")
    expect(shown).to_be_visible()
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Note", exact=True)
    field.fill("half a thought")
    # Who selects text may let go of it beside the dialog.
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    expect(shown).to_be_visible()
    page.keyboard.press("n")
    expect(field).to_have_value("half a thought")
    dialog.get_by_role("button", name="Add note").click()
    expect(field).to_have_value("")
    page.reload()
    expect(shown).to_be_visible()
    page.keyboard.press("n")
    expect(dialog.locator(".note")).to_have_count(1)
    expect(field).to_have_value("")
    page.mouse.click(5, 5)
    expect(dialog).to_be_hidden()


def test_of_two_people_the_second_sees_what_the_first_wrote(running: Running, enter: Enter) -> None:
    read = note(running, text="first")
    page = enter(running, "/notes")
    open_panel(page)
    card = page.get_by_role("dialog").locator(".note")
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("Note", exact=True).fill("mine")
    running.store.notes.change(read.id, read.updated_at, text="theirs")
    card.get_by_role("button", name="Save").click()
    expect(card.get_by_role("alert")).to_contain_text("Somebody changed this note")
    expect(card).to_contain_text("theirs")
    expect(card.get_by_label("Note", exact=True)).to_have_value("mine")
    assert kept(running)[0].text == "theirs"
    card.get_by_role("button", name="Save mine over it").click()
    expect(card.get_by_role("button", name="Edit")).to_be_visible()
    expect(card.locator(".note-text")).to_have_text("mine")
    assert kept(running)[0].text == "mine"


def test_deleted_notes_are_listed_and_restored(running: Running, enter: Enter) -> None:
    running.store.notes.delete(note(running, text="oops").id)
    page = enter(running, "/notes")
    page.get_by_label("Deleted ones").check()
    page.wait_for_url("**/notes?deleted=yes")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("No such notes.")).to_be_visible()
    assert [one.text for one in kept(running)] == ["oops"]


def test_links_lead_to_what_a_note_is_about(running: Running, enter: Enter) -> None:
    note(running, subject=EPISODE.model_copy(update={"step": 1}), text="a step")
    note(running, subject=NoteSubject(job_id="id-evaluation", item=0, trial=0), text="a row")
    note(running, subject=NoteSubject(thread_id="thread", turn_id="turn"), text="a turn")
    page = enter(running, "/notes")
    links = page.locator("tbody a")
    expect(links).to_have_count(3)
    assert [link.get_attribute("href") for link in links.all()] == [
        "/boards/board?thread=thread&turn=turn",
        "/evaluations/evaluation?row=0&repeat=0",
        "/runs/sample/episodes/0/0?step=1",
    ]
    links.nth(1).click()
    page.wait_for_url("**/evaluations/evaluation?row=0&repeat=0")
    page.go_back()
    page.wait_for_url("**/notes")


def test_a_thousand_notes_are_a_few_rows_of_the_page(running: Running, enter: Enter) -> None:
    for number in range(1000):
        note(running, text=f"note {number}")
    page = enter(running, "/notes")
    rows = page.locator("tbody tr[data-index]")
    expect(rows.first).to_contain_text("note 999")
    for _ in range(6):
        page.keyboard.press("j")
    assert rows.count() < 100
    assert page.evaluate("document.querySelectorAll('*').length") < 2000


def test_agreement_is_shown_with_the_cases(running: Running, enter: Enter) -> None:
    for task in range(6):
        episode = EPISODE.model_copy(update={"item": task})
        note(running, subject=episode, verdict="agent", author="Ann", text=f"Ann on {task}")
        note(running, subject=episode, verdict="agent" if task else "task", author="Bob")
    judge(running.store)
    page = enter(running, "/notes?run=sample")
    page.get_by_role("link", name="Agreement").click()
    expect(page.get_by_role("heading", name="Agreement about sample")).to_be_visible()
    expect(page.locator(".figure .value")).to_contain_text("α", timeout=20_000)
    expect(page.locator(".figure")).to_contain_text("no more than by chance")
    case = page.locator(".case")
    expect(case).to_have_count(1)
    expect(case).to_contain_text("Ann on 0")
    expect(case).to_contain_text("task at fault")
    assert case.get_by_role("link").get_attribute("href") == "/runs/sample/episodes/0/0"
    together = page.get_by_role("row").filter(has_text="people and judges").first
    together.get_by_role("link", name="who is at fault").click()
    page.wait_for_url("**judges=yes")
    expect(page.locator(".case")).to_have_count(2)
    expect(page.locator(".case").last).to_contain_text("because of 5")


def test_agreement_without_marks_says_what_it_needs(running: Running, enter: Enter) -> None:
    page = enter(running, "/notes/agreement?run=sample")
    expect(page.get_by_text("Nobody has marked anything here yet.")).to_be_visible()
    note(running, verdict="agent", author="Ann")
    note(running, verdict="agent", author="Bob")
    page.reload()
    expect(page.locator(".figure .value")).to_have_text("Not enough")
    expect(page.get_by_text("They differ nowhere.")).to_be_visible()
    page.goto(f"{running.address}/notes/agreement")
    expect(page.get_by_text("Agreement about which run?")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_panel_and_lists_have_no_grave_fault(running: Running, enter: Enter, theme: Any) -> None:
    note(running, text="first", tag="tone", verdict="agent", author="Ann")
    note(running, verdict="user", author="Bob")
    page = enter(running)
    page.emulate_media(color_scheme=theme)
    page.goto(f"{running.address}/notes")
    expect(page.locator("tbody tr[data-index]")).to_have_count(2)
    assert violations(page) == []
    open_panel(page)
    page.get_by_role("dialog").get_by_role("button", name="Edit").first.click()
    assert violations(page) == []
    page.goto(f"{running.address}/notes/agreement?run=sample")
    expect(page.locator(".case")).to_have_count(1)
    assert violations(page) == []


def test_keyboard_alone_marks_an_episode(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/sample/episodes/0/0")
    expect(page.get_by_role("heading", name="Task 0, trial 0")).to_be_visible()
    expect(page.get_by_role("button", name="Note", exact=True)).to_have_count(3)
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="no verdict")).to_be_visible()
    for _ in range(10):
        page.keyboard.press("Tab")
        if dialog.get_by_role("radio", name="no verdict").evaluate(
            "e => e === document.activeElement"
        ):
            break
    page.keyboard.press("ArrowRight")  # agent
    page.keyboard.press("Tab")
    page.keyboard.type("tone")
    page.keyboard.press("Tab")
    page.keyboard.type("line one")
    page.keyboard.press("Enter")
    page.keyboard.type("line two")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".note")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    (made,) = kept(running)
    assert (made.subject, made.verdict, made.tag) == (EPISODE, "agent", "tone")
    assert made.text == "line one\nline two"
    # The focus is back at the button, which counts now.
    expect(page.get_by_role("button", name="Notes 1")).to_be_focused()


def test_a_step_is_marked_and_found_again(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/sample/episodes/0/0")
    step = page.locator(".episode-item[data-step='0']")
    step.locator("summary").first.focus()
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("sample, task 0, trial 0, step 1")).to_be_visible()
    dialog.get_by_label("environment", exact=True).check()
    dialog.get_by_role("button", name="Add note").click()
    expect(dialog.locator(".note")).to_have_count(1)
    page.keyboard.press("Escape")
    (made,) = kept(running)
    assert (made.subject.step, made.verdict) == (0, "environment")
    expect(step.get_by_role("button", name="Notes 1")).to_be_visible()
    page.goto(f"{running.address}/notes")
    page.get_by_role("link", name="sample, task 0, trial 0, step 1").click()
    expect(page.locator(".named-step .episode-item")).to_have_attribute("data-step", "0")


def test_episodes_are_narrowed_by_verdict(running: Running, enter: Enter) -> None:
    note(running, verdict="agent")
    note(running, subject=EPISODE.model_copy(update={"item": 3}), text="odd")
    page = enter(running, "/runs/sample?tab=episodes")
    rows = page.locator("tbody tr[data-index]")
    expect(rows).to_have_count(12)
    page.get_by_label("Notes").select_option("with notes")
    page.wait_for_url("**noted=any")
    expect(rows).to_have_count(2)
    page.get_by_label("Notes").select_option("agent")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Task 0, trial 0")


def test_two_browsers_see_the_same_notes(running: Running, enter: Enter) -> None:
    first = enter(running, "/runs/sample/episodes/0/0")
    second = enter(running, "/runs/sample/episodes/0/0")
    expect(second.get_by_role("button", name="Note", exact=True)).to_have_count(3)
    first.keyboard.press("n")
    first.get_by_role("dialog").get_by_label("Tag").fill("seen by both")
    first.get_by_role("dialog").get_by_role("button", name="Add note").click()
    expect(second.get_by_role("button", name="Notes 1")).to_be_visible()
