"""The pages of runs in a browser: what a person reads, clicks and types."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from benchmarks.large_store import make_runs, open_folder
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import event

from greenroom.store import Store, open_store
from tests.playground.conftest import (
    Enter,
    Open,
    Running,
    held,
    running_playground,
    settle,
    tab_to,
    until,
)
from tests.playground.stored_runs import HOSTILE, every_outcome, keep, official, other_sets, solved
from tests.playground.stores import fresh_store
from tests.playground.talking import wait_for
from tests.playground.test_accessibility import violations
from tests.reports.sample import START, played

pytestmark = pytest.mark.slow

MOST_NODES = 2_500
MOST_BYTES = 400_000


def _apart(work: Callable[[], Any]) -> None:
    """Do something in a thread of its own: the browser's has a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


@pytest.fixture(scope="module", autouse=True)
def _episodes() -> None:
    """Played once, before a browser is there."""
    _apart(played)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    """A playground over a run with every outcome, a solved one, and two later ones."""
    with fresh_store(tmp_path_factory.mktemp("runs") / "runs.db") as store:
        keep(store, "mixed", every_outcome())
        keep(store, "good", solved(), agent_strategy="oracle")
        for day in (1, 2):
            when = START + timedelta(days=day)
            keep(store, f"later-{day}", played()[: 4 * (10 + day)], created_at=when)
        with running_playground(store) as found:
            yield found


def _cells(page: Page) -> Locator:
    return page.get_by_role("link", name=re.compile(r"^Task \d+, trial \d+: "))


def test_runs_are_found_compared_and_opened_by_keys(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs")
    table = page.get_by_role("table", name="Runs")
    expect(table.get_by_role("row")).to_have_count(5)
    expect(table.get_by_role("row").nth(1)).to_contain_text("later-2")
    for name in ("later-2", "later-1"):
        page.keyboard.press("j")
        expect(table.get_by_role("row", name=name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/runs/later-1"))
    page.go_back()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("oracle")
    expect(page).to_have_url(re.compile(r"q=oracle"))
    expect(table.get_by_role("row")).to_have_count(2)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    expect(table.get_by_role("row")).to_have_count(5)
    for name in ("good", "mixed"):
        tab_to(page, page.get_by_label(f"Compare {name}"))
        page.keyboard.press("Space")
    compare = page.get_by_role("link", name="Compare the two")
    expect(compare).to_have_attribute("href", re.compile("a=good&b=mixed"))
    tab_to(page, compare)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("verdict")).to_be_visible()
    page.keyboard.press("j")
    flips = page.get_by_role("table", name="Tasks that broke or healed").get_by_role("row")
    expect(flips.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile(r"^Task \d+, side"))).to_be_visible()
    page.keyboard.press("g")
    expect(page.locator("#parting")).to_be_in_viewport()


def test_a_run_shows_what_matters_first_and_its_tabs_have_addresses(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/runs/mixed")
    report = running.api.get("runs/mixed/report").json()
    expect(page.locator(".headline")).to_have_text(report["headline"])
    for note in report["notes"]:
        expect(page.locator(".warnings")).to_contain_text(note.replace("pass^", "pass"))
    figures = next(one for one in report["sections"] if one["id"] == "figures")["figures"]
    large = page.locator(".figure.large")
    expect(large).to_have_count(4)
    expect(large.first).to_contain_text(figures[0]["value"])
    expect(large.first).to_contain_text(figures[0]["interval"])
    expect(page.get_by_role("img", name=re.compile("How reliably"))).to_be_visible()
    expect(page.get_by_text("greenroom resume mixed")).to_be_visible()
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    page.get_by_role("tab", name="Slices").click()
    expect(page).to_have_url(re.compile("tab=slices"))
    expect(page.get_by_role("heading", name="By tool")).to_be_visible()
    page.get_by_role("tab", name="Costs").click()
    expect(page.get_by_role("heading", name="Tools")).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="Costs")).to_have_attribute("data-state", "active")
    page.go_back()
    expect(page.get_by_role("heading", name="By tool")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_a_run_of_official_tasks_stands_among_published_rows(
    playground: Running, enter: Enter, width: int, theme: Literal["light", "dark"]
) -> None:
    official(playground.store)
    page = enter(playground, "/runs/official", width=width)
    page.emulate_media(color_scheme=theme)
    section = page.get_by_role("region", name="Leaderboard").first
    table = page.get_by_role("region", name="Leaderboard").last
    rows = table.locator("tbody tr")
    expect(rows.filter(has_text="(this run)")).to_contain_text("tool-calling (gpt-4o) (this run)")
    expect(rows.filter(has_text="TC (gpt-4o)")).to_contain_text("0.604")
    figures = [float(text) for text in rows.locator("td:nth-of-type(1)").all_inner_texts()]
    assert len(figures) == 8
    assert figures == sorted(figures, reverse=True)
    expect(section).to_contain_text("The other rows were published")
    expect(section).to_contain_text("What differs from this run:")
    settle(page)
    assert page.evaluate("document.querySelector('main').scrollWidth") <= width
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert violations(page) == []


@pytest.mark.parametrize("model", ["oracle", "synthetic"])
def test_an_agent_that_knows_the_answers_stands_among_no_published_rows(
    playground: Running, enter: Enter, model: str
) -> None:
    official(playground.store, "scripted", f"scripted/{model}")
    page = enter(playground, "/runs/scripted")
    table = page.get_by_role("region", name="Leaderboard").last
    expect(table.locator("tbody tr")).to_contain_text([f"tool-calling (scripted/{model})"])
    expect(page.get_by_text("The other rows were published")).to_have_count(0)


def test_failures_by_kind_lead_to_their_episodes_and_neighbours_follow(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/runs/mixed")
    page.get_by_role("link", name="Answer not given").click()
    expect(page).to_have_url(re.compile("kind=outputs_missing"))
    wanted = running.api.get("runs/mixed/episodes", params={"kind": "outputs_missing"}).json()
    rows = page.get_by_role("table", name="Episodes").get_by_role("row")
    expect(rows).to_have_count(len(wanted["items"]) + 1)
    expect(page.get_by_label("Kind of failure")).to_have_value("outputs_missing")
    first, second, third = wanted["items"][:3]
    page.get_by_role("link", name=f"Task {first['task']}, trial {first['trial']}").click()
    expect(_episode(page, first)).to_be_visible()
    expect(page.get_by_test_id("why")).to_contain_text(first["why"])
    expect(page.get_by_role("link", name="Next episode")).to_be_visible()
    expect(page.get_by_role("button", name="Episode before")).to_be_disabled()
    page.keyboard.press("j")
    expect(_episode(page, second)).to_be_visible()
    expect(page.get_by_test_id("why")).to_contain_text(second["why"])
    expect(page).to_have_url(re.compile("kind=outputs_missing"))
    page.keyboard.press("k")
    expect(_episode(page, first)).to_be_visible()
    # Keys are not lost while it is not known yet what comes next.
    with held(page, "**/neighbours*"):
        page.reload()
        expect(page.get_by_test_id("why")).to_contain_text(first["why"])
        expect(page.get_by_role("button", name="Next episode")).to_be_disabled()
        page.keyboard.press("j")
        page.keyboard.press("j")
    expect(_episode(page, third)).to_be_visible()
    expect(page.get_by_test_id("why")).to_contain_text(third["why"])


def _episode(page: Page, one: dict[str, Any]) -> Locator:
    return page.get_by_role("heading", name=f"Task {one['task']}, trial {one['trial']}", exact=True)


def test_keys_wait_for_a_page_that_is_loading_unless_something_else_is_done(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/runs")
    rows = page.get_by_role("table", name="Runs").get_by_role("row")
    with held(page, "**/api/v1/runs?*"):
        page.reload()
        expect(page.get_by_text("Loading the runs")).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()
    with held(page, "**/api/v1/runs?*"):
        page.reload()
        expect(page.get_by_text("Loading the runs")).to_be_visible()
        page.keyboard.press("j")
        page.get_by_role("heading", name="Runs").click()
    expect(rows).to_have_count(5)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.locator("tr[data-selected]")).to_have_count(0)


def test_filters_are_in_the_address(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed?tab=episodes&outcome=crashed")
    rows = page.get_by_role("table", name="Episodes").get_by_role("row")
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="All episodes").click()
    page.get_by_role("combobox", name="Tool").select_option("cancel_pending_order")
    expect(page).to_have_url(re.compile("tool=cancel_pending_order"))
    page.get_by_label("Find words in episodes").fill("no such words at all")
    expect(page.get_by_text("No episode is like that.")).to_be_visible()
    expect(page).to_have_url(re.compile("q=no"))


def test_every_cell_of_the_grid_leads_to_its_episode(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed?tab=tasks")
    expect(_cells(page)).to_have_count(48)
    crashed = page.get_by_role("link", name="Task 0, trial 3: Crashed")
    assert crashed.evaluate("one => getComputedStyle(one).backgroundColor") != "rgba(0, 0, 0, 0)"
    crashed.click()
    expect(page.get_by_role("heading", name="Task 0, trial 3")).to_be_visible()
    expect(page.get_by_test_id("outcome")).to_contain_text("Crashed")
    page.get_by_role("navigation", name="Trials of this task").get_by_role("link").nth(1).click()
    expect(page.get_by_role("heading", name="Task 0, trial 1")).to_be_visible()


def test_an_episode_stands_beside_the_ground_truth_with_its_database(
    running: Running, enter: Enter
) -> None:
    listed = running.api.get("runs/mixed/episodes", params={"kind": "missing_write"}).json()
    one = listed["items"][0]
    path = f"/runs/mixed/episodes/{one['task']}/{one['trial']}"
    known = running.api.get(path[1:]).json()
    page = enter(running, path)
    expect(page.get_by_test_id("why")).to_contain_text(one["why"])
    missing = next(truth for truth in known["truth"] if truth["writes"] and truth["step"] is None)
    card = page.locator(".truth.no", has_text=missing["tool"]).first
    expect(card).to_contain_text("never called")
    # An action that was done stands in the row of its step.
    done = next(truth for truth in known["truth"] if truth["relation"] == "same")
    row = page.locator(".aligned-row", has=page.locator(f"[data-step='{done['step']}']")).first
    expect(row.locator(".truth.yes")).to_contain_text(done["tool"])
    difference = known["differences"][0]
    expect(page.locator(".record-difference").first).to_contain_text(difference["record"])
    expect(page.locator(".record-difference").first).to_contain_text(
        difference["fields"][0]["path"]
    )
    expect(page.get_by_role("heading", name="Costs")).to_be_visible()
    expect(page.get_by_text("$0.0315")).to_be_visible()
    tool = page.locator(".call").first
    tool.locator("summary").click()
    expect(tool.locator(".answer")).to_be_visible()


def test_an_episode_is_copied_and_added_to_a_test_set(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed/episodes/1/0")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    record = running.api.get("runs/mixed/episodes/1/0/record").json()
    copied: list[str] = []
    for form, wanted in (
        ("Text", f"User: {record['opening']}"),
        ("JSON", '"task_index": 1'),
        ("curl", f"curl -s '{running.address}/api/v1/runs/mixed/episodes/1/0/record'"),
        ("Python", "open_store"),
    ):
        page.get_by_role("button", name="Copy").first.click()
        page.get_by_role("menuitem", name=form, exact=True).click()
        until(page, lambda text=wanted: text in page.evaluate("navigator.clipboard.readText()"))
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    assert json.loads(copied[1]) == record
    page.get_by_role("button", name="Add to test set").first.click()
    dialog = page.get_by_role("dialog", name="Add to test set")
    dialog.get_by_role("combobox", name="Test set").fill("episodes")
    dialog.get_by_role("button", name="Add the row").click()
    dialog.get_by_role("link", name="row 1 of episodes").click()
    expect(page.get_by_role("heading", name="episodes")).to_be_visible()
    [row] = running.store.test_sets.rows(running.store.test_sets.find("episodes"))
    assert {"messages", "expected"} <= row.keys()


def test_a_turn_has_an_address(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed/episodes/1/0")
    page.get_by_role("link", name="Turn 1").click()
    expect(page).to_have_url(re.compile("turn=1"))
    expect(page.get_by_role("link", name="Turn 1")).to_have_attribute("aria-current", "page")
    page.reload()
    expect(page.get_by_role("link", name="Turn 1")).to_be_in_viewport()
    page.keyboard.press("]")
    page.keyboard.press("]")
    last = max(item["turn"] for item in running.api.get("runs/mixed/episodes/1/0").json()["items"])
    expect(page).to_have_url(re.compile(f"turn={min(3, last)}$"))


def test_two_runs_are_compared_and_a_flip_is_read_step_by_step(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/runs/compare")
    expect(page.get_by_text("Choose two runs on the same tasks.")).to_be_visible()
    page.get_by_label("Before").fill("good")
    expect(page).to_have_url(re.compile("a=good"))
    page.get_by_label("Now").fill("mixed")
    known = running.api.get("comparisons", params={"a": "good", "b": "mixed"}).json()
    expect(page.locator(".headline")).to_have_text(known["sentence"].replace("^", ""))
    expect(page.get_by_test_id("verdict")).to_have_text(known["verdict"].replace("_", " "))
    expect(page.get_by_role("heading", name=f"{known['broke']} broke")).to_be_visible()
    flips = running.api.get("comparisons/flips", params={"a": "good", "b": "mixed"}).json()
    flip = flips["items"][0]
    page.get_by_role("link", name=f"Task {flip['task']}", exact=True).click()
    expect(page.get_by_role("heading", name=f"Task {flip['task']}, side by side")).to_be_visible()
    expect(page.get_by_text("Here they part")).to_be_visible()
    rows = page.locator(".beside-row[data-relation]")
    beside = running.api.get(
        f"runs/good/tasks/{flip['task']}/beside", params={"other": "mixed"}
    ).json()
    expect(rows).to_have_count(len(beside["rows"]))
    assert [row.get_attribute("data-relation") for row in rows.all()] == [
        row["relation"] for row in beside["rows"]
    ]
    page.get_by_role("group", name="Trials of good").get_by_role("button").last.click()
    expect(page).to_have_url(re.compile(r"\btrial=3"))
    expect(page.get_by_role("heading", name="good, trial 3")).to_be_visible()


def test_a_comparison_that_cannot_be_made_is_told_in_words(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/compare?a=good&b=nothing")
    expect(page.get_by_role("alert")).to_contain_text("Unknown run 'nothing'")


def test_a_phone_shows_which_part_of_a_run_is_open(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed?tab=setup", width=390, height=844)
    expect(page.get_by_role("tab", name="Setup")).to_be_in_viewport(ratio=0.95)


def test_the_trend_of_an_agent_is_drawn_and_told(running: Running, enter: Enter) -> None:
    page = enter(running, "/trends?agent=synthetic")
    chart = page.get_by_role("img", name=re.compile(r"pass\^1 over time"))
    expect(chart.locator(".bar-mark")).to_have_count(3)
    expect(chart.locator(".whisker")).to_have_count(3)
    described = chart.locator("desc").text_content() or ""
    assert "later-2" in described
    table = page.get_by_label("Runs over time, the newest first")
    expect(table.get_by_role("row").nth(1)).to_contain_text("later-2")
    table.get_by_role("link", name="with the one before").first.click()
    expect(page).to_have_url(re.compile("a=later-1&b=later-2"))


def test_a_trend_pairs_runs_of_one_domain(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    for day, domain in enumerate(("retail", "airline", "retail")):
        when = START + timedelta(days=day)
        keep(store, f"day-{day}", played()[:8], created_at=when, env=domain)
    page = enter(open_playground(store), "/trends?agent=synthetic")
    rows = page.get_by_label("Runs over time, the newest first").get_by_role("row")
    expect(rows.nth(2)).to_contain_text("airline")
    expect(rows.nth(2).get_by_role("link", name="with the one before")).to_have_count(0)
    rows.nth(1).get_by_role("link", name="with the one before").click()
    expect(page).to_have_url(re.compile("a=day-0&b=day-2"))


def test_a_trend_over_several_task_sets_says_so(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    other_sets(store)
    page = enter(open_playground(store), "/trends?agent=synthetic")
    expect(page.locator(".warnings")).to_contain_text("These runs are of 2 task sets")
    rows = page.get_by_label("Runs over time, the newest first").get_by_role("row")
    for row, name, played_on in ((1, "old-set", "(hash 1)"), (2, "new-set", "(hash 2)")):
        expect(rows.nth(row)).to_contain_text(name)
        expect(rows.nth(row)).to_contain_text(played_on)
    expect(page.get_by_role("link", name="with the one before")).to_have_count(0)


def test_two_different_tasks_side_by_side_are_said_to_be_so(
    store: Store, open_playground: Open, enter: Enter
) -> None:
    keep(store, "here", played()[:4])
    keep(store, "there", played()[:4], env="airline")
    running = open_playground(store)
    page = enter(running, "/runs/here/tasks/0/beside?other=there")
    expect(page.locator(".warnings")).to_contain_text("Task 0 of here (retail, test) is another")
    page.goto(f"{running.address}/runs/here/tasks/0/beside?other=here")
    expect(page.get_by_role("heading", name="here, trial 0").first).to_be_visible()
    expect(page.locator(".warnings")).to_have_count(0)


def test_a_strange_address_opens_all_the_same(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed?tab=nothing&task=x&noted=9")
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="Figures")).to_be_visible()
    expect(page).to_have_url(re.compile("/runs/mixed$"))


def test_all_rows_that_are_loaded_are_printed(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed?tab=episodes", height=500)
    rows = page.locator("tr[data-index]")
    expect(rows.first).to_be_visible()
    assert rows.count() < 48
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = "
        "document.querySelectorAll('tr[data-index]').length })"
    )
    page.pdf()
    assert page.evaluate("window.printed") == 48


def test_hostile_text_is_shown_and_never_run(running: Running, enter: Enter) -> None:
    page = enter(running, "/runs/mixed/episodes/0/3")
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
    expect(page.locator(".why")).to_contain_text(HOSTILE)
    expect(page.locator("img[src='x']")).to_have_count(0)
    page.goto(f"{running.address}/runs/mixed")
    expect(page.locator(".warnings")).to_contain_text("<img src=x")


def test_a_run_with_a_strange_name_is_reached_by_its_id(
    open_playground: Open, enter: Enter
) -> None:
    store = open_store()
    for name in ("compare", "a/b ..", HOSTILE):
        keep(store, name, [played()[0]], id=f"id{len(name)}")
    running = open_playground(store)
    page = enter(running, "/runs")
    for name in ("compare", "a/b ..", HOSTILE):
        page.goto(f"{running.address}/runs")
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        page.get_by_role("tab", name="Tasks").click()
        page.get_by_role("link", name=re.compile("^Task 0, trial 0")).click()
        expect(page.get_by_role("heading", name="Task 0, trial 0")).to_be_visible()
    store.close()


def test_an_empty_store_says_what_to_do(playground: Running, enter: Enter) -> None:
    page = enter(playground, "/runs")
    expect(page.get_by_text("There are no runs yet.")).to_be_visible()
    expect(page.get_by_text("greenroom run --agent-strategy")).to_be_visible()
    page.goto(f"{playground.address}/trends")
    expect(page.get_by_text("There are no runs yet.")).to_be_visible()
    page.goto(f"{playground.address}/runs/nothing")
    expect(page.get_by_role("alert")).to_contain_text("Unknown run 'nothing'")
    page.goto(f"{playground.address}/runs/nothing/episodes/0/0")
    expect(page.get_by_role("alert")).to_contain_text("Unknown run 'nothing'")


def test_two_browsers_see_a_run_that_is_played_in_a_terminal(
    playground: Running, enter: Enter
) -> None:
    listed, read = enter(playground, "/runs"), enter(playground, "/runs")
    command = ("run", "--agent-strategy", "synthetic", "--num-trials", "2000", "--name", "live")
    with subprocess.Popen(
        [sys.executable, "-c", "from greenroom.cli import main; main()", *command],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            wait_for(lambda: playground.api.get("runs/live").status_code == 200, 60)
            for page in (listed, read):
                page.reload()
            bar = listed.get_by_role("progressbar", name=re.compile("^live: "))
            expect(bar).to_be_visible()
            before = int(bar.get_attribute("value") or "0")
            read.goto(f"{playground.address}/runs/live")
            expect(read.get_by_text("greenroom runs watch live")).to_be_visible()
            shown = read.get_by_role("progressbar", name=re.compile("^live: "))
            first = int(shown.get_attribute("value") or "0")
            until(listed, lambda: int(bar.get_attribute("value") or "0") > before)
            until(read, lambda: int(shown.get_attribute("value") or "0") > first)
            expect(read.locator(".headline")).to_contain_text("Solved")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
    expect(read.get_by_text("greenroom resume live")).to_be_visible()
    expect(listed.get_by_text("interrupted")).to_be_visible()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    """A run of 2,000 episodes with what models leave behind."""
    folder: Path = tmp_path_factory.mktemp("large")
    _apart(lambda: make_runs(folder, ["large"], tasks=100, trials=20))
    store = open_folder(folder)
    with running_playground(store) as found:
        yield found
    store.close()


@pytest.mark.parametrize(
    "path",
    [
        "/runs",
        "/runs/large",
        "/runs/large?tab=tasks",
        "/runs/large?tab=episodes",
        "/runs/large?tab=slices",
        "/runs/large?tab=costs",
        "/runs/large/episodes/5/0",
    ],
)
def test_a_run_of_2000_episodes_has_bounded_pages(path: str, large: Running, enter: Enter) -> None:
    large.api.get("runs/large/report").raise_for_status()  # its episodes are counted once
    page = enter(large)
    sizes: list[int] = []

    def measured(response: Any) -> None:
        if "/api/v1/" in response.url and "events" not in response.url:
            sizes.append(len(response.body()))

    page.on("response", measured)
    statements: list[str] = []
    event.listen(
        large.store.engine, "before_cursor_execute", lambda *call: statements.append(call[2])
    )
    page.goto(f"{large.address}{path}")
    settle(page)
    nodes = page.evaluate("document.querySelectorAll('*').length")
    assert nodes < MOST_NODES
    assert sum(sizes) < MOST_BYTES
    # No statement reads the records of a whole run. Whether there is a body is told without it.
    read = [one.replace("results.body IS NULL", "") for one in statements]
    whole = [one for one in read if "results.body" in one]
    few = ("LIMIT", ") IN (", "results.trial =")
    assert all(any(word in one for word in few) for one in whole), whole


def test_runs_of_different_sets_are_compared_on_equal_tasks_by_a_tick(
    running: Running, enter: Enter
) -> None:
    _apart(lambda: other_sets(running.store))
    page = enter(running, "/runs/compare?a=old-set&b=new-set")
    refused = page.get_by_role("alert")
    expect(refused).to_contain_text(
        "3 tasks are equal in both: compare those with “Only equal tasks”."
    )
    expect(refused.get_by_role("button")).to_have_count(0)
    page.get_by_label("Only equal tasks").check()
    expect(page).to_have_url(re.compile("tasks=equal"))
    expect(page.get_by_text("Only tasks that are equal in both runs")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("On the 3 equal tasks of different sets")
    expect(page.get_by_text("greenroom compare old-set new-set --equal-tasks")).to_be_visible()
    page.reload()
    # Task 0 of the one stands in place 2 of the other.
    page.get_by_role("link", name="Task 0").click()
    expect(page).to_have_url(re.compile(r"/tasks/0/beside\?other=new-set&other_task=2"))
    right = page.get_by_role("link", name=re.compile("^new-set, trial"))
    expect(right).to_have_attribute("href", re.compile("/episodes/2/0"))
