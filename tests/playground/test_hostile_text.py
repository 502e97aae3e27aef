"""Hostile text on every page: shown, never executed, followed or loaded."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from greenroom.store import NoteFilter
from tests.playground.addresses import PAGES
from tests.playground.conftest import Enter, Running, running_playground, settle
from tests.playground.hostile import APP, HUGE, MARK, NAME, OTHER, TEXT, fill
from tests.playground.stores import fresh_store
from tests.playground.talking import Talk

pytestmark = pytest.mark.slow

WATCH = """
window.seen = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.seen.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
FOUND = """() => {
  const foreign = "iframe, object, embed, base, meta[http-equiv], form[action]";
  const found = [...document.querySelectorAll(foreign)].map((one) => one.outerHTML);
  for (const one of document.querySelectorAll("link, script")) {
    if (!(one.href ?? one.src).startsWith(location.origin)) found.push(one.outerHTML);
  }
  for (const one of document.querySelectorAll("*")) {
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on")) found.push(one.outerHTML);
      if (["href", "src", "xlink:href", "action", "formaction", "srcdoc"].includes(name)) {
        const safe = /^(https?:|mailto:|\\/|#|data:image\\/(png|jpeg|gif|webp);)/i;
        if (!safe.test(value) || value.startsWith("//")) found.push(`${name}=${value}`);
      }
    }
    if (one.tagName === "IMG" && !/^data:image\\/(png|jpeg|gif|webp);/.test(one.src)) {
      found.push(one.outerHTML);
    }
  }
  return found.map((one) => one.slice(0, 300));
}"""
NAMES = {
    "monday": NAME,
    "oracle": OTHER,
    "desk-again": OTHER,
    "desk": NAME,
    "books": NAME,
    "questions": OTHER,
    "synthetic": NAME,
}
SILENT = ("/", "/nothing-here", "/evaluations/new")
"""Pages that name nothing of the store at first."""


class Watched:
    """A page, and what it did that it should not."""

    def __init__(self, page: Page, running: Running) -> None:
        self.page, self._running = page, running
        self.faults: list[str] = []
        page.context.add_init_script(WATCH)
        page.on("dialog", lambda dialog: self._dialog(dialog))
        page.on("request", lambda request: self._request(request.url))
        page.on("console", lambda said: self._console(said.text))
        page.on("popup", lambda popup: self.faults.append(f"popup {popup.url}"))

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str) -> None:
        if not url.startswith((self._running.address, "data:image/", "blob:")):
            self.faults.append(f"request {url[:200]}")

    def _console(self, text: str) -> None:
        if "Content Security Policy" in text or "Content-Security-Policy" in text:
            self.faults.append(f"console {text[:300]}")

    def visit(self, path: str) -> None:
        self.page.goto(f"{self._running.address}{path}")
        settle(self.page)

    def check(self) -> None:
        """Nothing ran, nothing was loaded, and nothing stands in the page that could."""
        self.page.wait_for_timeout(100)
        assert self.page.evaluate("window.hacked") is None
        assert self.page.evaluate("window.seen") == []
        assert self.page.evaluate(FOUND) == []
        assert self.page.url.startswith(self._running.address)
        assert self.page.locator("header.bar").is_visible()
        assert self.faults == []

    def open_all(self) -> None:
        """Open what can be opened: tool cards, details."""
        for summary in self.page.locator("main summary:visible").all()[:30]:
            if not summary.evaluate("e => e.parentElement.open"):
                summary.click()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Running, dict[str, Any]]]:
    """A playground in which every text is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    app = folder / "hostile_app.py"
    app.write_text(APP)
    with fresh_store(folder / "hostile.db") as store:
        fill(store)
        with running_playground(store, [str(app)]) as running:
            yield running, {**_boards(running), "task": 0, "trial": 0}


def _boards(running: Running) -> dict[str, str]:
    talk = Talk(running.api)
    listed = talk.get("workflows")["items"]
    known = {one["name"]: one["address"] for one in listed}
    chat = talk.post(
        "boards",
        title=TEXT[:200],
        threads=[{"address": known[NAME]}, {"address": known[OTHER], "column": 1}],
    )
    for thread in chat["threads"]:
        talk.say(thread, TEXT)
    threads = [
        {"address": known[f"{kind} {OTHER}"], "inputs": {"title": TEXT}, "column": column}
        for column, kind in enumerate(("form", "breaks"))
    ]
    completion = talk.post("boards", title=NAME, threads=threads)
    running.api.post(f"boards/{completion['id']}/run", json={}).raise_for_status()
    return {"chat": chat["id"], "completion": completion["id"]}


@pytest.fixture
def watched(hostile: tuple[Running, dict[str, Any]], enter: Enter) -> Watched:
    return Watched(enter(hostile[0]), hostile[0])


def address(path: str, names: dict[str, Any]) -> str:
    """The address of a page with hostile names in place of the usual ones."""
    for usual, name in NAMES.items():
        path = path.replace(usual, quote(name, safe=""))
    return path.format(**names)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_runs_loads_or_follows_what_others_wrote(
    path: str, hostile: tuple[Running, dict[str, Any]], watched: Watched
) -> None:
    watched.visit(address(path, hostile[1]))
    watched.check()
    watched.open_all()
    watched.check()
    if path not in SILENT:
        shown = watched.page.locator("main").inner_text() + watched.page.title()
        values = watched.page.locator("main input, main textarea").evaluate_all(
            "all => all.map((one) => one.value).join(' ')"
        )
        assert any(text in shown + values for text in (NAME, OTHER, MARK)), shown[:500]


def test_an_answer_is_harmless_while_it_comes(
    hostile: tuple[Running, dict[str, Any]], watched: Watched
) -> None:
    watched.visit(f"/boards/{hostile[1]['chat']}")
    field = watched.page.get_by_role("textbox", name="Message").first
    turns = watched.page.locator(".turn-view")
    before = turns.count()
    field.fill(TEXT)
    field.press("Enter")
    expect(turns).to_have_count(before + 1)
    watched.check()
    expect(watched.page.locator(".turn-view.running")).to_have_count(0)
    watched.check()
    watched.open_all()
    watched.check()


def test_hostile_notes_can_be_read_written_and_completed(
    hostile: tuple[Running, dict[str, Any]], watched: Watched
) -> None:
    running, _ = hostile
    watched.visit("/notes")
    page = watched.page
    page.locator("tbody tr[data-index='0'] .note-cell").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".note").first).to_contain_text(MARK)
    dialog.get_by_label("Note", exact=True).fill(TEXT)
    dialog.get_by_label("Tag").fill(NAME)
    dialog.get_by_label("Your name").fill(OTHER)
    before = len(list(running.store.notes.each(NoteFilter())))
    dialog.get_by_role("button", name="Add note").click()
    expect(dialog.get_by_role("status")).to_contain_text("kept")
    watched.check()
    assert len(list(running.store.notes.each(NoteFilter()))) == before + 1
    page.keyboard.press("Escape")
    watched.visit(f"/notes?tag={quote(NAME, safe='')}&q={quote(MARK, safe='')}")
    expect(page.locator("tbody tr[data-index]").first).to_contain_text(MARK)
    watched.check()


@pytest.mark.parametrize(
    "path",
    [
        f"/runs?q={quote(TEXT[:1500], safe='')}",
        f"/notes?run={quote(MARK, safe='')}",
        f"/notes/agreement?run={quote(NAME, safe='')}&about=tag&value={quote(MARK, safe='')}",
        f"/runs/{quote(MARK.replace('/', ''), safe='')}",
        "/boards/javascript%3Awindow.hacked=1?thread=%3Cscript%3E&turn=__proto__",
        f"/test-sets/{quote(NAME, safe='')}?version=1&q={quote(MARK, safe='')}",
        "/runs?q=%00%ff",
        "/notes?verdict=%5B%22x%22%5D&tag=%7B%22__proto__%22%3A1%7D",
        f"/{quote(NAME, safe='')}",
        "/%22%3E%3Cscript%3Ewindow.hacked=1%3C%2Fscript%3E",
        "//evil.test/%2e%2e",
    ],
)
def test_a_hostile_address_is_harmless(path: str, watched: Watched) -> None:
    watched.visit(path)
    watched.check()


def test_a_megabyte_of_markup_is_a_bounded_page(
    hostile: tuple[Running, dict[str, Any]], watched: Watched
) -> None:
    assert len(HUGE) > 900_000
    watched.visit(f"/runs/{quote(NAME, safe='')}/episodes/0/0")
    watched.open_all()
    assert watched.page.evaluate("document.querySelectorAll('*').length") < 6000
    watched.check()
