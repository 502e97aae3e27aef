"""The page in a real browser, at two widths, as a person uses it."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from greenroom.reports import RunReport, render_html
from tests.browser import running_browser
from tests.reports.sample import full_report

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(address: str) -> Generator[Browser]:
    assert address, "written before: Playwright keeps an event loop running in this thread"
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def report() -> RunReport:
    return full_report()


@pytest.fixture(scope="module")
def address(report: RunReport, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(params=[1280, 400])
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Generator[Page]:
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda sent: problems.append(sent.url) if sent.url != address else None)
    opened.goto(address)
    yield opened
    context.close()
    assert problems == [], "scripts ran without an error, and nothing was fetched"


def test_nothing_sticks_out(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0


def test_the_figures_are_those_of_the_report(page: Page, report: RunReport) -> None:
    value = report.metrics.main.pass_hat_k[1].value
    expect(page.get_by_test_id("figure-pass_1")).to_contain_text(f"{value:.1%}".replace("%", " %"))
    dots = page.get_by_test_id("pass-chart").locator("[data-k]")
    assert dots.count() >= 4
    expect(page.get_by_test_id("outcome-grid")).to_be_visible()


def test_an_episode_is_opened_read_and_closed(page: Page, report: RunReport) -> None:
    failed = next(episode for episode in report.episodes if episode.outcome == "failure")
    page.goto(f"{page.url.split('#')[0]}#task-{failed.task_index}-trial-{failed.trial}")
    dialog = page.get_by_test_id("conversation")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text(f"Task {failed.task_index}, trial {failed.trial}")
    expect(page.get_by_test_id("conversation-steps")).to_contain_text(failed.steps[0].action.name)
    expect(page.get_by_test_id("ground-truth")).to_be_attached()
    page.get_by_test_id("conversation-close").click()
    expect(dialog).to_be_hidden()


def test_failures_are_searched(page: Page, report: RunReport) -> None:
    wanted = report.errors.diagnoses[-1]
    page.get_by_test_id("error-list-search").fill(f"Task {wanted.task_index}, trial {wanted.trial}")
    expect(page.get_by_test_id("error-list")).to_contain_text(wanted.explanation[:40])


def test_the_theme_is_a_choice(page: Page) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    before = background()
    page.get_by_test_id("theme").click()
    assert background() != before
