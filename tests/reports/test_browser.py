"""The page in a real browser, at two widths, as a person uses it."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from greenroom.reports import Report, RunReport, render_html
from greenroom.reports.html import LONG
from greenroom.store import EpisodeRecord
from tests.browser import running_browser
from tests.reports.html_page import evaluated, every_section
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


def written(folder: Path, report: Report) -> str:
    path = folder / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def address(report: RunReport, tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("page"), report)


@pytest.fixture(scope="module")
def evaluation_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("evaluation"), evaluated())


@pytest.fixture(scope="module")
def sections_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("sections"), every_section())


def fetched(sent: Request) -> bool:
    """Whether the page asked for something, beside being opened itself."""
    return not sent.is_navigation_request()


@pytest.fixture(params=[1280, 400])
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Generator[Page]:
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda sent: problems.append(sent.url) if fetched(sent) else None)
    opened.goto(address)
    yield opened
    context.close()
    assert problems == [], "scripts ran without an error, and nothing was fetched"


def test_nothing_sticks_out(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0


def test_the_figures_are_those_of_the_report(page: Page, report: RunReport) -> None:
    value = report.metrics.main.pass_hat_k[1].value
    shown = f"{value:.1%}".replace("%", "\u00a0%")
    expect(page.get_by_test_id("figure-pass^1")).to_contain_text(shown)
    assert page.get_by_test_id("chart-reliability").locator("[data-x]").count() >= 4
    expect(page.get_by_test_id("outcome-grid")).to_be_visible()


def failed_episode(report: RunReport) -> EpisodeRecord:
    return next(episode for episode in report.episodes if episode.outcome == "failure")


def open_failed(page: Page, report: RunReport) -> EpisodeRecord:
    failed = failed_episode(report)
    page.goto(f"{page.url.split('#')[0]}#task-{failed.task_index}-trial-{failed.trial}")
    expect(page.get_by_test_id("conversation")).to_be_visible()
    return failed


def test_an_episode_is_opened_read_and_closed(page: Page, report: RunReport) -> None:
    failed = open_failed(page, report)
    dialog = page.get_by_test_id("conversation")
    expect(dialog).to_contain_text(f"Task {failed.task_index}, trial {failed.trial}")
    expect(page.get_by_test_id("conversation-items")).to_contain_text(failed.steps[0].action.name)
    expect(page.get_by_test_id("ground-truth")).to_be_attached()
    expect(page.get_by_test_id("conversation-aside")).to_contain_text(f"Seed{failed.seed}")
    expect(page.get_by_test_id("conversation-aside")).not_to_contain_text("[object")
    page.get_by_test_id("conversation-close").click()
    expect(dialog).to_be_hidden()
    assert "#" not in page.url


def test_the_reason_of_a_failure_is_seen_at_once(page: Page, report: RunReport) -> None:
    failed = open_failed(page, report)
    why = page.get_by_test_id("conversation-why")
    (reason,) = [
        one.explanation
        for one in report.errors.diagnoses
        if (one.task_index, one.trial) == failed.key
    ]
    expect(why).to_contain_text(reason)
    expect(why).to_be_in_viewport(ratio=1)


def test_the_arrow_keys_go_from_episode_to_episode(page: Page, report: RunReport) -> None:
    failed = open_failed(page, report)
    page.keyboard.press("ArrowRight")
    places = [one.key for one in report.episodes]
    task, trial = places[places.index(failed.key) + 1]
    expect(page.get_by_test_id("conversation")).to_contain_text(f"Task {task}, trial {trial}")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("conversation")).to_be_hidden()


def test_a_conversation_is_copied(page: Page, report: RunReport) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    failed = open_failed(page, report)
    page.get_by_test_id("conversation-copy").click()
    expect(page.get_by_test_id("conversation-copy")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    for step in failed.steps:
        said = step.observation.removesuffix("###STOP###")
        known = (
            [step.action.kwargs["content"]]
            if step.action.name == "respond"
            else [step.action.name, *re.findall(r"\w+", said)]
        )
        assert all(str(word) in copied for word in known)


def test_failures_are_searched_and_the_address_keeps_the_search(
    page: Page, report: RunReport
) -> None:
    wanted = report.errors.diagnoses[-1]
    words = f"Task {wanted.task_index}, trial {wanted.trial}"
    page.get_by_test_id("failures-list-search").fill(words)
    shown = page.get_by_test_id("failures-list").locator("> li:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text(wanted.explanation[:40])
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_test_id("failures-list-search")).to_have_value(words)
    expect(shown).to_have_count(1)


def test_a_table_is_sorted_and_the_address_keeps_the_order(page: Page, report: RunReport) -> None:
    first = page.get_by_test_id("cells-rows-table").locator("tbody tr").first
    page.get_by_test_id("cells-rows-table").get_by_role("button", name="Solved").click()
    worst = min(report.metrics.tasks, key=lambda task: task.successes / task.trials)
    expect(first).to_contain_text(f"{worst.successes}/{worst.trials}")
    page.reload()
    expect(first).to_contain_text(f"{worst.successes}/{worst.trials}")


def test_the_grid_is_ordered_and_moved_through_with_keys(page: Page) -> None:
    page.get_by_role("button", name="worst first").click()
    scores = (
        page.get_by_test_id("outcome-grid")
        .locator(".column")
        .evaluate_all("columns => columns.map((one) => Number(one.dataset.score))")
    )
    assert scores == sorted(scores)
    labels = page.get_by_test_id("outcome-grid").locator(".label")
    assert labels.count() == len(scores)
    assert all(labels.nth(place).is_visible() for place in range(0, len(scores), 7))
    cells = page.get_by_test_id("outcome-grid").locator("a.cell")
    cells.first.focus()
    page.keyboard.press("ArrowDown")
    expect(cells.nth(1)).to_be_focused()


def test_what_is_touched_is_far_enough_apart(page: Page, report: RunReport) -> None:
    cells = page.get_by_test_id("outcome-grid").locator("a.cell")
    first, below, beside = (
        cells.nth(place).bounding_box() for place in (0, 1, report.run.num_trials)
    )
    assert first
    assert below
    assert beside
    assert below["y"] - first["y"] >= 24
    assert beside["x"] - first["x"] >= 24
    least = {1280: 28, 400: 44}[page.evaluate("innerWidth")]
    for button in page.locator("main button:visible:not(th button)").all():
        box = button.bounding_box()
        assert box
        assert box["height"] >= least


def test_a_long_text_is_opened_with_a_key(page: Page) -> None:
    text = page.get_by_test_id("failures-list").locator(".clamped").first
    before = text.bounding_box()
    text.focus()
    page.keyboard.press("Enter")
    after = text.bounding_box()
    assert before
    assert after
    assert after["height"] > before["height"]


def test_the_contents_lead_to_every_section(page: Page) -> None:
    link = page.get_by_test_id("contents").get_by_role("link", name="What went wrong")
    link.click()
    expect(page.get_by_role("heading", name="What went wrong")).to_be_in_viewport()
    expect(link).to_have_attribute("data-read", "")
    expect(link).to_be_in_viewport()


def test_paper_shows_everything(page: Page, report: RunReport) -> None:
    failures = page.get_by_test_id("failures-list").locator("> li:visible")
    expect(failures).to_have_count(LONG)
    page.emulate_media(media="print")
    expect(failures).to_have_count(len(report.errors.diagnoses))
    expect(page.get_by_test_id("cells-rows-table").locator("tbody tr:visible")).to_have_count(
        len(report.metrics.tasks)
    )


def test_a_printed_episode_has_all_its_pages(page: Page, report: RunReport) -> None:
    longest = max(report.episodes, key=lambda episode: len(episode.steps))
    page.goto(f"{page.url.split('#')[0]}#task-{longest.task_index}-trial-{longest.trial}")
    expect(page.get_by_test_id("conversation")).to_be_visible()
    assert len(re.findall(rb"/Type /Page\b", page.pdf())) > 1
    expect(page.get_by_test_id("conversation")).to_be_visible()
    expect(page.locator(".printed")).to_have_count(0)


def test_the_theme_is_a_choice(page: Page) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    before = background()
    page.get_by_test_id("theme").click()
    assert background() != before


def test_a_result_of_an_evaluation_is_read(page: Page, evaluation_address: str) -> None:
    page.goto(f"{evaluation_address}#row-1-repeat-1")
    dialog = page.get_by_test_id("conversation")
    expect(dialog).to_contain_text("Row 1, repeat 1")
    expect(page.get_by_test_id("scores")).to_contain_text("exact")
    expect(page.get_by_test_id("scores")).to_contain_text("against")
    page.keyboard.press("ArrowRight")
    expect(dialog).to_contain_text("Row 1, repeat 2")
    expect(page.get_by_test_id("conversation-why")).to_contain_text("No answer")


def test_a_page_of_sections_alone_works(page: Page, sections_address: str) -> None:
    page.goto(sections_address)
    expect(page.get_by_test_id("gates").locator("li")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
