"""A running playground, and browsers that are in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import httpx
import pytest
from playwright.sync_api import (
    APIResponse,
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    Route,
    expect,
)

from greenroom.playground.access import Access
from greenroom.playground.app import create_app, guarded
from greenroom.playground.pages import Pages
from greenroom.playground.state import Playground
from greenroom.store import Store, open_store
from greenroom.workflows.serve.server import running_app
from tests.browser import running_browser

expect.set_options(timeout=20_000)  # a machine that is busy with other tests takes its time

NO_BUNDLE = "the pages are not built (make playground)"


@dataclass(frozen=True)
class Running:
    """A playground that runs in a thread of this process."""

    address: str
    store: Store
    access: Access
    api: httpx.Client
    """Asks the API at `address/api/v1/`, with the cookie of a browser."""

    @property
    def link(self) -> str:
        """A new one-time link."""
        return self.access.new_link(self.address)


Open = Callable[..., Running]


@contextmanager
def running_playground(store: Store, sources: Sequence[str] = ()) -> Generator[Running]:
    """A playground over a store."""
    access = Access(os.urandom(32))
    playground = Playground(store, sources)
    app = guarded(create_app(playground), access)
    with (
        running_app(app, seconds_to_end=1, on_end=playground.end) as address,
        # Certificates, which nobody is asked for here, would take 20 ms to be read.
        httpx.Client(base_url=f"{address}/api/v1/", timeout=30, verify=False) as api,
    ):
        api.get(access.new_link(address)).raise_for_status()
        yield Running(address, store, access, api)


@pytest.fixture
def open_playground() -> Generator[Open]:
    """Opens playgrounds over stores; all of them end with the test."""
    with ExitStack() as stack:

        def opened(store: Store | None = None, sources: Sequence[str] = ()) -> Running:
            if store is None:
                store = open_store()
                stack.callback(store.close)
            return stack.enter_context(running_playground(store, sources))

        yield opened


@pytest.fixture
def playground(open_playground: Open) -> Running:
    """A playground over an empty store."""
    return open_playground()


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """The browser of a module's tests. While it is open, its event loop runs in this thread."""
    if not (Pages().bundle / "index.html").is_file():
        if os.environ.get("CI"):
            pytest.fail(NO_BUNDLE, pytrace=False)
        pytest.skip(NO_BUNDLE)
    with running_browser() as browser:
        yield browser


Enter = Callable[..., Page]

_UNANSWERED: WeakKeyDictionary[Page, set[Request]] = WeakKeyDictionary()
"""What the pages have asked the API and got no answer for."""


def _watch(page: Page) -> None:
    unanswered = _UNANSWERED.setdefault(page, set())

    def asked(request: Request) -> None:
        if "/api/" in request.url and not request.url.endswith("/events"):
            unanswered.add(request)

    page.on("request", asked)
    page.on("requestfinished", lambda request: unanswered.discard(request))
    page.on("requestfailed", lambda request: unanswered.discard(request))


@pytest.fixture
def enter(chromium: Browser) -> Generator[Enter]:
    """Opens a playground in a browser of its own; what breaks in its pages fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def entered(running: Running, path: str = "/", *, width: int = 1280, height: int = 900) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        _watch(page)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(running.link)
        page.wait_for_url(f"{running.address}/")
        page.goto(f"{running.address}{path}")
        return page

    yield entered
    for context in contexts:
        context.close()
    assert not errors, errors


def settle(page: Page) -> None:
    """Wait until a page shows all that it asks for. Its connection for events stays open."""
    page.locator("main h1").first.wait_for()
    quiet = 0
    for _ in range(600):
        page.wait_for_timeout(50)
        busy = _UNANSWERED.get(page) or page.locator(".loading").count()
        quiet = 0 if busy else quiet + 1
        if quiet == 3:
            return
    raise AssertionError(f"{page.url} still waits for {_UNANSWERED.get(page)}")


def until(page: Page, holds: Callable[[], object]) -> None:
    """Wait for what no locator tells."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come to that")


def tab_to(page: Page, target: Locator) -> None:
    """Go to something by the Tab key alone."""
    target.wait_for()
    for _ in range(150):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not reach {target}")


@contextmanager
def late(page: Page, method: str, pattern: str) -> Generator[list[APIResponse]]:
    """The first answer to a request comes when the block ends, as it was when it was asked for."""
    answers: list[APIResponse] = []
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if waiting or route.request.method != method:
            route.continue_()
            return
        waiting.append(route)
        answers.append(route.fetch())

    page.route(pattern, hold)
    yield answers
    for route, answer in zip(waiting, answers, strict=True):
        route.fulfill(response=answer)
    page.unroute(pattern)


@contextmanager
def held(page: Page, pattern: str) -> Generator[list[Route]]:
    """Requests that are not sent before the block ends: for what a page does while it waits."""
    routes: list[Route] = []
    page.route(pattern, lambda route: routes.append(route))
    yield routes
    page.unroute(pattern)  # lets them go
