"""The pages of evaluations, as people use them in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from greenroom.store import Store
from tests.playground.conftest import Enter, Open, Running, until
from tests.playground.evaluated import fill, finished, request, write_app
from tests.store.samples import sample_evaluation, sample_result

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="window.hacked=1"> [x](javascript:window.hacked=1) <script>1</script>'


@pytest.fixture
def app(tmp_path: Path) -> str:
    return write_app(tmp_path)


@pytest.fixture
def running(store: Store, open_playground: Open, app: str) -> Running:
    """A playground with workflows and test sets, on each kind of database in turn."""
    fill(store)
    return open_playground(store, [app])


@pytest.fixture
def plain(open_playground: Open, app: str) -> Running:
    """The same on one kind of database."""
    opened = open_playground(sources=[app])
    fill(opened.store)
    return opened


def evaluated(running: Running, *given: Any, **changes: Any) -> str:
    answer = running.api.post("evaluations", json=request(*given, **changes))
    assert answer.status_code == 201, answer.text
    key: str = answer.json()["key"]
    finished(running.api, key)
    return key


def table(page: Page, label: str = "Results") -> Locator:
    return page.get_by_role("table", name=label).locator("tbody tr:not(.space)")


def test_an_evaluation_is_started_by_keyboard_and_watched_to_its_end(
    running: Running, enter: Enter
) -> None:
    page = enter(running, "/evaluations")
    expect(page.get_by_text("There are no evaluations yet.")).to_be_visible()
    page.get_by_role("link", name="New evaluation").click()
    workflows = page.get_by_label("Workflow")
    expect(workflows.get_by_role("option", name=re.compile("guide"))).to_be_attached()
    workflows.select_option(label="guide (app.py:guide)")
    expect(page.get_by_text("chat: Knows some capitals.")).to_be_visible()
    page.get_by_label("Test set").fill("chats")
    expect(page.get_by_text("3 rows; columns messages, correct_answer")).to_be_visible()
    page.get_by_label("Add an evaluator").select_option("exact_match")
    card = page.get_by_role("region", name="exact_match")
    card.get_by_text("Settings", exact=True).click()
    card.get_by_label("Name of its scores").fill("same")
    page.get_by_label("Name of the evaluation").fill("first")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/evaluations/first")
    expect(page.get_by_text("complete", exact=True)).to_be_visible()
    expect(page.get_by_text("67 % pass same; 3 of 3 calls answered")).to_be_visible()
    expect(table(page)).to_have_count(3)
    # What was compared with what, and the conversation, beside the table and with an address.
    page.get_by_role("button", name="Only failures").click()
    expect(table(page)).to_have_count(1)
    table(page).first.click()
    page.wait_for_url("**/evaluations/first?only=failed&row=2")
    panel = page.get_by_role("complementary")
    expect(panel.locator(".messages")).to_contain_text("What is the capital of Chad?")
    compared = panel.locator(".score-row .compared")
    expect(compared).to_contain_text("N'Djamena")
    expect(compared).to_contain_text("Abeche")
    page.reload()
    expect(panel.locator(".messages")).to_contain_text("capital of Chad")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)


def test_what_the_server_refuses_is_told_at_its_place_and_nothing_is_lost(
    plain: Running, app: str, enter: Enter
) -> None:
    page = enter(plain, f"/evaluations/new?workflow={app}:capital&test_set=countries")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("Say how outputs are scored")
    page.get_by_label("Add an evaluator").select_option("regex")
    card = page.get_by_role("region", name="regex")
    card.get_by_text("Settings", exact=True).click()
    card.get_by_role("textbox", name="Pattern").fill("(")
    page.get_by_role("button", name="Run").click()
    expect(card.get_by_role("alert")).to_contain_text("pattern")
    page.goto(f"{plain.address}/evaluations")
    page.goto(f"{plain.address}/evaluations/new")
    card = page.get_by_role("region", name="regex")
    expect(card.get_by_role("textbox", name="Pattern")).to_have_value("(")
    card.get_by_role("textbox", name="Pattern").fill("^P")
    page.get_by_text(re.compile("^Options:")).click()
    page.get_by_role("textbox", name="Rows", exact=True).fill("2")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("50 % pass regex; 2 of 2 calls answered")).to_be_visible()
    # The same again, with the form filled in.
    page.get_by_role("link", name="Run again").click()
    expect(page.get_by_label("Workflow")).to_have_value(f"{app}:capital")
    expect(page.get_by_label("Test set")).to_have_value("countries@1")
    expect(
        page.get_by_role("region", name="regex").get_by_role("textbox", name="Pattern")
    ).to_have_value("^P")


def test_it_is_stopped_and_resumed_and_two_browsers_see_the_same(
    plain: Running, app: str, enter: Enter, tmp_path: Path
) -> None:
    plain.api.post("evaluations", json=request(app, "slow", name="slow")).raise_for_status()
    first, second = enter(plain, "/evaluations/slow"), enter(plain, "/evaluations")
    row = second.get_by_role("row", name=re.compile("slow"))
    expect(row).to_contain_text("running")
    first.get_by_role("button", name="Stop").click()
    expect(first.get_by_text("interrupted", exact=True)).to_be_visible()
    expect(first.get_by_text("greenroom evals resume slow")).to_be_visible()
    expect(row).to_contain_text("interrupted")
    (tmp_path / "open").touch()
    first.get_by_role("button", name="Resume").click()
    expect(first.get_by_text("complete", exact=True)).to_be_visible()
    expect(table(first)).to_have_count(3)
    second.reload()
    expect(second.get_by_role("row", name=re.compile("slow"))).to_contain_text("complete")


def test_results_are_walked_through_with_j_and_k_and_opened_as_a_thread(
    plain: Running, app: str, enter: Enter
) -> None:
    key = evaluated(plain, app, "guide", "chats", name="talks")
    page = enter(plain, f"/evaluations/{key}")
    expect(table(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/talks?row=0")
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", level=2)).to_have_text("row 1")
    page.keyboard.press("j")
    page.wait_for_url("**/talks?row=1")
    expect(panel.locator(".messages")).to_contain_text("capital of Peru")
    page.keyboard.press("k")
    page.wait_for_url("**/talks?row=0")
    panel.get_by_text("Raw output").click()
    expect(panel.get_by_text('"role"').first).to_be_visible()
    panel.get_by_role("button", name="Open as a thread").click()
    page.wait_for_url("**/boards/*")
    (board,) = plain.api.get("boards").json()["items"]
    assert board["title"] == "talks, row 1"
    found = plain.api.get(f"boards/{board['id']}").json()["threads"][0]
    said = found["last"]
    assert [one["content"] for one in said["said"]] == ["What is the capital of France?"]
    assert [one["content"] for one in said["replies"]] == ["Paris"]


def test_a_result_is_copied_marked_and_kept_as_a_row(
    plain: Running, app: str, enter: Enter
) -> None:
    key = evaluated(plain, app, "facts", name="told")
    page = enter(plain, f"/evaluations/{key}?row=1")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel = page.get_by_role("complementary")
    output = {"country": "Peru", "capital": "Lima", "known": True}
    for form, wanted in (
        ("Text", "country: Peru\n\noutput: "),
        ("Output as JSON", '"capital": "Lima"'),
        ("JSON", '"scores"'),
        ("curl", f"curl -s '{plain.address}/api/v1/evaluations/told/results/1/0'"),
        ("Python", "open_store"),
    ):
        panel.get_by_role("button", name="Copy").click()
        page.get_by_role("menuitem", name=form, exact=True).click()
        until(page, lambda text=wanted: text in page.evaluate("navigator.clipboard.readText()"))
    code = page.evaluate("navigator.clipboard.readText()")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert str(output) in ended.stdout
    # The raw output of a workflow of any kind is what is expected from now on.
    panel.get_by_role("button", name="Add to test set").click()
    dialog = page.get_by_role("dialog", name="Add to test set")
    dialog.get_by_role("combobox", name="Test set").fill("kept")
    dialog.get_by_role("button", name="Add the row").click()
    expect(dialog.get_by_role("link", name="row 1 of kept")).to_be_visible()
    page.keyboard.press("Escape")
    [row] = plain.store.test_sets.rows(plain.store.test_sets.find("kept"))
    assert row == {"country": "Peru", "expected": output}
    panel.get_by_role("button", name="Note", exact=True).click()
    notes = page.get_by_role("dialog")
    notes.get_by_label("Note", exact=True).fill("Too terse.")
    notes.get_by_role("button", name="Add note").click()
    expect(notes.locator(".note")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(panel.get_by_role("button", name="Notes 1")).to_be_visible()
    page.goto(f"{plain.address}/notes")
    page.get_by_role("link", name="told, row 2").click()
    page.wait_for_url("**/evaluations/told?row=1&repeat=0")
    expect(panel.get_by_role("button", name="Notes 1")).to_be_visible()


def test_two_evaluations_are_compared_row_by_row(plain: Running, app: str, enter: Enter) -> None:
    evaluated(plain, app, "capital", name="before")
    evaluated(plain, app, "fragile", name="after")
    page = enter(plain, "/evaluations")
    page.get_by_label("Compare before").check()
    page.get_by_label("Compare after").check()
    page.get_by_role("link", name="Compare the two").click()
    page.wait_for_url("**/evaluations/compare?a=before&b=after")
    expect(page.get_by_text("1 broke, 0 healed")).to_be_visible()
    rows = table(page, "Rows of both evaluations")
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="broke (1)").click()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Lima")
    expect(rows.first).to_contain_text("no such country")
    rows.first.click()
    page.wait_for_url("**/compare?a=before&b=after&change=broke&row=1")
    beside = page.get_by_role("region", name="Row 2 of both evaluations")
    expect(beside.locator(".beside-side").first).to_contain_text("passed")
    expect(beside.locator(".beside-side").last).to_contain_text("ValueError")
    # A phone shows what changed, too.
    changed = rows.first.get_by_text(re.compile("^exact_match: .* → ")).filter(visible=True)
    expect(changed).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(changed).to_have_count(1)
    page.get_by_role("link", name="Swap").click()
    expect(page.get_by_text("0 broke, 1 healed")).to_be_visible()


def test_a_phone_shows_scores_and_both_sides(plain: Running, app: str, enter: Enter) -> None:
    for name in ("one", "other"):
        evaluated(plain, app, "guide", "chats", name=name)
    page = enter(plain, "/evaluations/one", width=390, height=844)
    expect(table(page)).to_have_count(3)
    frame = page.locator(".table-scroll")
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(table(page).first.locator(".score")).to_be_in_viewport()
    page.goto(f"{plain.address}/evaluations/compare?a=one&b=other")
    expect(table(page, "Rows of both evaluations")).to_have_count(3)
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_evaluations_that_cannot_be_compared_say_why(
    plain: Running, app: str, enter: Enter
) -> None:
    evaluated(plain, app, "capital", name="one")
    evaluated(plain, app, "guide", "chats", name="other")
    page = enter(plain, "/evaluations/compare?a=one&b=other")
    expect(page.get_by_role("alert")).to_contain_text("rows cannot be paired")
    page.goto(f"{plain.address}/evaluations/compare?a=one")
    expect(page.get_by_text("Choose the other evaluation.")).to_be_visible()
    page.goto(f"{plain.address}/evaluations/nowhere")
    expect(page.get_by_role("alert")).to_contain_text("Unknown evaluation 'nowhere'")


def test_a_large_evaluation_is_in_the_page_as_far_as_it_is_seen(
    plain: Running, enter: Enter
) -> None:
    rows = 10_000
    store = plain.store
    version, _ = store.test_sets.save("many", ({"country": f"Country {n}"} for n in range(rows)))
    store.evaluations.create(sample_evaluation(version, name="large", repeats=1, is_chat=False))
    store.evaluations.add("id-evaluation", [sample_result(row) for row in range(rows)])
    page = enter(plain, "/evaluations/large")
    expect(page.get_by_text("10,000 of 10,000 calls answered")).to_be_visible()
    nodes = page.evaluate("document.querySelectorAll('*').length")
    assert nodes < 2_000
    frame = page.locator(".table-scroll")

    def further_down() -> bool:
        frame.evaluate("one => one.scrollTo(0, one.scrollHeight)")
        return int(table(page).last.get_attribute("data-index") or 0) >= 150

    until(page, further_down)
    assert page.evaluate("document.querySelectorAll('*').length") < 2_000
    page.get_by_label("Find words in rows and outputs").fill("Country 9999")
    expect(table(page)).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=Country"))


def test_hostile_texts_are_shown_and_never_run(plain: Running, enter: Enter) -> None:
    store = plain.store
    version, _ = store.test_sets.save("hostile", [{"country": HOSTILE, "correct_answer": HOSTILE}])
    name = "<b>bold</b>/../x?y#z"
    store.evaluations.create(
        sample_evaluation(version, name=name, repeats=1, workflow=HOSTILE, is_chat=True)
    )
    result = sample_result(0, outputs={"role": "assistant", "content": HOSTILE}, error=None)
    score = result.scores["exact_match"].model_copy(
        update={"compared": HOSTILE, "against": HOSTILE, "reason": HOSTILE, "passed": False}
    )
    result = result.model_copy(update={"scores": {"exact_match": score}})
    store.evaluations.add("id-evaluation", [result])
    page = enter(plain, "/evaluations")
    page.get_by_role("link", name=name).click()
    page.wait_for_url("**/evaluations/id-evaluation")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    table(page).first.click()
    panel = page.get_by_role("complementary")
    expect(panel.get_by_text("onerror").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_message_of_a_megabyte_is_cut_until_somebody_wants_it(
    plain: Running, enter: Enter
) -> None:
    store = plain.store
    version, _ = store.test_sets.save("long", [{"country": "x" * 1_000_000}])
    store.evaluations.create(sample_evaluation(version, name="long", repeats=1))
    outputs = {"role": "assistant", "content": "word " * 200_000}
    store.evaluations.add("id-evaluation", [sample_result(0, outputs=outputs)])
    page = enter(plain, "/evaluations/long?row=0", width=390, height=800)
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("button", name="Show more").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    # A narrow screen has no part that is wider than it.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
