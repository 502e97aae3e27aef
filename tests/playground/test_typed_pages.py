"""Fields of pages that are typed in, and what has to fit where."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.playground.conftest import Enter, Open, Running, settle, until
from tests.playground.seeding import play
from tests.playground.talking import APP, Talk

pytestmark = pytest.mark.slow


@pytest.fixture
def running(open_playground: Open) -> Running:
    """A playground with the workflows of talk_app.py."""
    return open_playground(sources=[str(APP)])


def test_a_title_is_kept_by_enter_and_left_by_escape(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    board = talk.board("parrot", title="Old")
    page = enter(running, f"/boards/{board['id']}")
    title = page.get_by_label("Title of the board")
    title.fill("Never")
    title.press("Escape")
    expect(title).to_have_value("Old")
    title.fill("New")
    title.press("Enter")
    until(page, lambda: talk.get(f"boards/{board['id']}")["title"] != "Old")
    assert talk.get(f"boards/{board['id']}")["title"] == "New"


def test_a_search_is_typed_anywhere_and_follows_the_address(running: Running, enter: Enter) -> None:
    talk = Talk(running.api)
    for name in ("red tea", "green tea", "coffee"):
        talk.board("parrot", title=name)
        running.store.test_sets.save(name.replace(" ", "-"), [{"a": 1}])
    for path, first in (("/boards", "green"), ("/test-sets", "green")):
        page = enter(running, path)
        field = page.get_by_role("searchbox")
        field.fill("tea")
        expect(page).to_have_url(re.compile("q=tea$"))
        rows = page.get_by_role("table").get_by_role("row")
        expect(rows).to_have_count(3)
        # The cursor stays where it is, also in the middle.
        page.keyboard.press("Home")
        page.keyboard.type(f"{first}-" if path == "/test-sets" else f"{first} ")
        expect(rows).to_have_count(2)
        assert field.input_value().replace("-", " ") == "green tea"
        # Another address of the page is another search.
        page.get_by_role("navigation", name="Areas").get_by_role("link", name="Runs").click()
        expect(page.get_by_role("heading", name="Runs")).to_be_visible()
        page.go_back()
        expect(field).to_have_value(re.compile("^green.tea$"))
        page.get_by_role("navigation", name="Areas").locator(f"[href='{path}']").click()
        expect(field).to_have_value("")
        expect(rows).to_have_count(4)


def test_a_phone_shows_all_areas_and_the_title_of_a_board(running: Running, enter: Enter) -> None:
    board = Talk(running.api).board("parrot", "recorder", title="Which of the two is kinder")
    page = enter(running, f"/boards/{board['id']}", width=390)
    title = page.get_by_label("Title of the board")
    expect(title).to_have_value("Which of the two is kinder")
    assert title.evaluate("one => one.scrollWidth <= one.clientWidth")
    title.fill("Which of the two is kinder, and to whom, and why it should matter to anybody")
    title.press("Enter")
    expect(page).to_have_title(re.compile("anybody"))
    back = page.locator(".above a")
    assert back.evaluate("one => one.getClientRects().length") == 1
    areas = page.get_by_role("navigation", name="Areas")
    assert areas.evaluate("one => one.scrollWidth <= one.clientWidth")


def _cut(page: Page) -> bool:
    frame = page.get_by_label("Runs over time, the newest first")
    return frame.evaluate("one => one.scrollWidth > one.clientWidth")


def test_a_trend_fits_the_page(running: Running, enter: Enter) -> None:
    for name in ("monday", "tuesday"):
        play(running.store, "synthetic", name, tasks=2)
    page = enter(running, "/trends?agent=synthetic")
    expect(page.get_by_role("link", name="with the one before")).to_be_visible()
    settle(page)
    assert not _cut(page)
    areas = page.get_by_role("navigation", name="Areas")
    expect(areas.locator("[aria-current=page]")).to_have_text(["Runs"])
