"""Pages whose subject is deleted while they are open, here or in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect

from greenroom.store import Store
from tests.playground.conftest import Enter, Open, Running, settle
from tests.playground.stored_runs import keep, solved
from tests.playground.talking import APP, Talk
from tests.reports.sample import played
from tests.store.samples import sample_evaluation, sample_result

pytestmark = pytest.mark.slow

SECONDS = 40_000
"""Pages look about every ten seconds."""


@pytest.fixture(scope="module", autouse=True)
def _episodes() -> None:
    """Played once, in a thread of their own: the browser's has a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(played).result()


@pytest.fixture
def running(open_playground: Open) -> Running:
    """A playground with a run, an evaluation and a test set."""
    opened = open_playground(sources=[str(APP)])
    store = opened.store
    for name in ("mine", "other"):
        keep(store, name, solved(2))
    store.test_sets.save("cities", [{"country": "Peru"}])
    version, _ = store.test_sets.save("questions", [{"country": "Peru"}])
    for name in ("checked", "again"):
        evaluation = sample_evaluation(version, name=name, id=f"id-{name}", repeats=1)
        store.evaluations.create(evaluation)
        store.evaluations.add(evaluation.id, [sample_result()])
    return opened


def _gone(page: Page, what: str, name: str) -> None:
    note = page.get_by_role("alert")
    expect(note).to_contain_text(f"The {what} “{name}” was deleted", timeout=SECONDS)
    note.get_by_role("link", name="Choose another").click()
    expect(page.get_by_role("alert")).to_have_count(0)


Delete = Callable[[Store], None]


def _run(store: Store) -> None:
    store.runs.delete(store.runs.find("mine"))


def _evaluation(store: Store) -> None:
    store.evaluations.delete(store.evaluations.find("checked"))


def _test_set(store: Store) -> None:
    store.test_sets.delete("cities")


@pytest.mark.parametrize(
    ("paths", "what", "name", "delete"),
    [
        (
            (
                "/runs/mine",
                "/runs/mine/episodes/0/0",
                "/runs/compare?a=mine&b=other",
                "/runs/other/tasks/0/beside?other=mine",
            ),
            "run",
            "mine",
            _run,
        ),
        (
            ("/evaluations/checked", "/evaluations/compare?a=again&b=checked"),
            "evaluation",
            "checked",
            _evaluation,
        ),
        (("/test-sets/cities",), "test set", "cities", _test_set),
    ],
    ids=["run", "evaluation", "test set"],
)
def test_pages_say_that_their_subject_was_deleted_and_where_to_go(
    running: Running, enter: Enter, paths: Sequence[str], what: str, name: str, delete: Delete
) -> None:
    pages = [enter(running, path) for path in paths]
    listed = enter(running, f"/{what.replace(' ', '-')}s")
    trend = enter(running, "/trends?agent=synthetic") if what == "run" else None
    for page in pages:
        settle(page)
        expect(page.get_by_role("alert")).to_have_count(0)
    if trend is not None:
        expect(trend.get_by_role("link", name="mine", exact=True)).to_be_visible()
    in_list = listed.get_by_role("link", name=name, exact=True)
    expect(in_list).to_be_visible()
    delete(running.store)
    for page in pages:
        _gone(page, what, name)
    expect(in_list).to_have_count(0, timeout=SECONDS)
    if trend is not None:
        gone = trend.get_by_role("link", name="mine", exact=True)
        expect(gone).to_have_count(0, timeout=SECONDS)
        expect(trend.get_by_role("link", name="other", exact=True)).to_be_visible()


def test_a_board_that_another_process_deletes_says_so_and_is_restored(
    running: Running, open_playground: Open, enter: Enter
) -> None:
    board = Talk(running.api).thread("parrot")["board_id"]
    other = open_playground(running.store, [str(APP)])
    page = enter(running, f"/boards/{board}")
    expect(page.get_by_role("button", name="New thread")).to_be_visible()
    other.api.delete(f"boards/{board}").raise_for_status()
    note = page.get_by_text("This board was deleted.")
    expect(note).to_be_visible()
    page.get_by_role("button", name="Restore it").click()
    expect(note).to_have_count(0)
    other.api.patch(f"boards/{board}", json={"title": "Renamed there"}).raise_for_status()
    expect(page.get_by_label("Title of the board")).to_have_value("Renamed there")
