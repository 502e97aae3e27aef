"""Large things: what a page asks for, what it is sent and what it builds stay small."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Response
from sqlalchemy import event

from greenroom.store import Store
from tests.playground.conftest import Enter, Running, running_playground, settle
from tests.playground.seeding import DESK, play
from tests.playground.stores import fresh_store

pytestmark = pytest.mark.slow

TASKS, TRIALS = 96, 21
EPISODES = TASKS * TRIALS
ROWS = 10_000
MESSAGES = 300
MOST_NODES = 3_000
MOST_BYTES = 500_000
MOST_ROWS = 1_500


class Counter:
    """Counts the rows that the database gives."""

    rows = 0


class _Cursor(sqlite3.Cursor):
    def fetchone(self) -> Any:
        found = super().fetchone()
        Counter.rows += found is not None
        return found

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        found = super().fetchmany(size)
        Counter.rows += len(found)
        return found

    def fetchall(self) -> list[Any]:
        found = super().fetchall()
        Counter.rows += len(found)
        return found


class _Connection(sqlite3.Connection):
    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)


def count_rows(store: Store) -> None:
    """Have all connections of a store count from now on."""

    def connect(_: Any, __: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        return sqlite3.connect(*arguments, **(options | {"factory": _Connection}))

    event.listen(store.engine, "do_connect", connect)
    store.engine.dispose()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Running, dict[str, str]]]:
    """A playground with 2,016 episodes, 10,000 rows, 300 messages and a message of 1 MB."""
    folder: Path = tmp_path_factory.mktemp("large")
    with fresh_store(folder / "large.db") as store:
        play(store, "synthetic", "large", tasks=TASKS, trials=TRIALS)
        rows = ({"question": f"What is {n}?", "expected": str(n)} for n in range(ROWS))
        store.test_sets.save("large", rows)
        count_rows(store)
        with running_playground(store, [str(DESK)]) as running:
            said = [_message(n, f"Message **{n}** of many.") for n in range(MESSAGES)]
            huge = [_message(0, "Tell me all."), _message(1, "word " * 200_000)]
            yield (
                running,
                {
                    "thread": f"/boards/{_board(running, said)}",
                    "message": f"/boards/{_board(running, huge)}",
                    "run": "/runs/large",
                    "tasks": "/runs/large?tab=tasks",
                    "episodes": "/runs/large?tab=episodes",
                    "test set": "/test-sets/large",
                },
            )


def _message(number: int, text: str) -> dict[str, str]:
    return {"role": ("user", "assistant")[number % 2], "content": text}


def _board(running: Running, messages: list[dict[str, str]]) -> str:
    listed = running.api.get("workflows").json()["items"]
    address = next(one["address"] for one in listed if one["name"] == "library_desk")
    thread = {"address": address, "messages": messages}
    made = running.api.post("boards", json={"title": "large", "threads": [thread]})
    return made.raise_for_status().json()["id"]


class Measured:
    """A page that counts the bytes that it is sent by the API."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.answers: list[Response] = []
        page.on("response", self._take)

    def _take(self, response: Response) -> None:
        if "/api/" in response.url and "/events" not in response.url:
            self.answers.append(response)

    @property
    def bytes(self) -> int:
        """What the API sent, unpacked."""
        return sum(int(one.headers.get("content-length", 0)) for one in self.answers)

    @property
    def nodes(self) -> int:
        """How many elements there are."""
        return self.page.evaluate("document.querySelectorAll('*').length")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("what", ["thread", "message", "run", "tasks", "episodes", "test set"])
def test_a_large_thing_is_shown_in_bounds(
    what: str, large: tuple[Running, dict[str, str]], enter: Enter
) -> None:
    running, paths = large
    page = enter(running)
    if what in ("run", "tasks", "episodes"):
        # The first look at a run reads its episodes once, for all figures.
        running.api.get("runs/large/report").raise_for_status()
    measured = Measured(page)
    Counter.rows = 0
    page.goto(f"{running.address}{paths[what]}")
    settle(page)
    assert 0 < Counter.rows <= MOST_ROWS
    assert 0 < measured.bytes <= MOST_BYTES
    assert measured.nodes <= MOST_NODES
    # Going to the end of it keeps within bounds, too.
    page.mouse.move(640, 500)
    for _ in range(20):
        page.mouse.wheel(0, 4000)
        page.wait_for_timeout(30)
    settle(page)
    assert measured.nodes <= MOST_NODES
