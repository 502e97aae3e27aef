"""How quick the playground's pages are in a real browser, on loopback.

The clock of the token is the workflow's own: the time between the moment when it is yielded and the
moment when it stands in the page. That is more than the time since its arrival.
"""

from __future__ import annotations

import gzip
import os
import statistics
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page
from sqlalchemy import make_url
from tests.browser import running_browser
from tests.playground.seeding import play

from benchmarks.measures import Measure
from greenroom.playground.access import Access
from greenroom.playground.app import create_app, guarded
from greenroom.playground.state import Playground
from greenroom.store import Store, open_engine
from greenroom.workflows.serve.server import running_app

TASKS, TRIALS = 96, 21
MESSAGES = 300
ROWS = 10_000
TOKENS = 20
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower

MOST_SCRIPT = 400.0
MOST_TO_INTERACTIVE = 1000.0
MOST_TO_TOKEN = 50.0

CLOCK = """
import asyncio, time
from greenroom import chat_workflow

@chat_workflow
async def clock(messages):
    for _ in range(%d):
        await asyncio.sleep(0.1)
        yield f"t{time.time() * 1000:.1f} "
"""
INTERACTIVE = """() => Boolean(document.querySelector("h1"))
  && !document.querySelector(".loading") && document.querySelectorAll("main *").length > 20"""
WATCH = """() => {
  window.late = [];
  const seen = new Set();
  new MutationObserver(() => {
    const now = performance.timeOrigin + performance.now();
    for (const [, at] of document.querySelector("main").innerText.matchAll(/t(\\d{13}\\.\\d)/g)) {
      if (!seen.has(at)) { seen.add(at); window.late.push(now - Number(at)); }
    }
  }).observe(document.querySelector("main"), {childList: true, subtree: true, characterData: true});
}"""


@dataclass(frozen=True)
class Opened:
    """A playground with large things in it."""

    address: str
    link: str
    api: httpx.Client
    store: Store


def playground_pages() -> Iterator[Measure]:
    """The first page's scripts, pages until they can be used, tokens until they are shown."""
    with _opened() as opened, running_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(opened.link)
        page.wait_for_url(f"{opened.address}/")
        yield _scripts(page)
        for name, path in _large_pages(opened).items():
            seconds = min(_to_interactive(page, opened.address + path) for _ in range(ROUNDS))
            yield Measure(
                f"Playground: {name} until it can be used",
                f"{seconds:,.0f} ms",
                "",
                seconds,
                " ms",
                at_most=MOST_TO_INTERACTIVE,
            )
        yield from _tokens(page, opened)


@contextmanager
def _opened() -> Generator[Opened]:
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder) / "clock.py"
        app.write_text(CLOCK % TOKENS)
        store = Store(open_engine(make_url(f"sqlite:///{folder}/store.db")))
        access = Access(os.urandom(32))
        served = guarded(create_app(Playground(store, [str(app)])), access)
        with (
            running_app(served, seconds_to_end=1) as address,
            httpx.Client(base_url=f"{address}/api/v1/", timeout=60) as api,
        ):
            api.get(access.new_link(address))
            yield Opened(address, access.new_link(address), api, store)
        store.close()


def _large_pages(opened: Opened) -> dict[str, str]:
    play(opened.store, "synthetic", "large", tasks=TASKS, trials=TRIALS)
    rows = ({"question": f"What is {n}?", "expected": str(n)} for n in range(ROWS))
    opened.store.test_sets.save("large", rows)
    said = [
        {"role": ("user", "assistant")[n % 2], "content": f"Message {n}."} for n in range(MESSAGES)
    ]
    return {
        f"a run of {TASKS * TRIALS:,} episodes": "/runs/large",
        f"a test set of {ROWS:,} rows": "/test-sets/large",
        f"a thread of {MESSAGES} messages": f"/boards/{_board(opened, said)}",
    }


def _board(opened: Opened, messages: list[dict[str, str]]) -> str:
    (workflow,) = (
        one for one in opened.api.get("workflows").json()["items"] if one["name"] == "clock"
    )
    thread: dict[str, Any] = {"address": workflow["address"], "messages": messages}
    made = opened.api.post("boards", json={"title": "clock", "threads": [thread]})
    return made.raise_for_status().json()["id"]


def _scripts(page: Page) -> Measure:
    page.reload()
    page.get_by_role("heading", level=1).wait_for()
    names = page.evaluate(
        "() => performance.getEntriesByType('resource').map(one => one.name)"
        ".filter(name => name.endsWith('.js'))"
    )
    fetched = (page.request.get(name).body() for name in names)
    size = sum(len(gzip.compress(content)) for content in fetched) / 1024
    return Measure(
        "Playground: scripts of the first page, compressed",
        f"{size:,.0f} KB",
        "",
        size,
        " KB",
        at_most=MOST_SCRIPT,
    )


def _to_interactive(page: Page, url: str) -> float:
    page.goto("about:blank")
    page.goto(url, wait_until="commit")
    # The policy of the pages forbids what Playwright would wait with: a script made of text.
    while not page.evaluate(INTERACTIVE):
        page.wait_for_timeout(5)
    return page.evaluate("performance.now()")


def _tokens(page: Page, opened: Opened) -> Iterator[Measure]:
    answers = [_answer(page, opened) for _ in range(ROUNDS)]
    figures = {
        "the first token of an answer": min(late[0] for late in answers),
        "a token": min(statistics.median(late) for late in answers),
    }
    for name, late in figures.items():
        yield Measure(
            f"Playground: {name} from the workflow to the page",
            f"{late:,.0f} ms",
            "",
            late,
            " ms",
            at_most=MOST_TO_TOKEN,
        )


def _answer(page: Page, opened: Opened) -> list[float]:
    """How late each token of an answer is, in milliseconds."""
    page.goto(f"{opened.address}/boards/{_board(opened, [])}")
    page.get_by_role("textbox").last.wait_for()
    page.evaluate(WATCH)
    page.get_by_role("textbox").last.fill("Go")
    page.keyboard.press("Enter")
    while page.evaluate("window.late.length") < TOKENS:
        page.wait_for_timeout(100)
    return page.evaluate("window.late")
