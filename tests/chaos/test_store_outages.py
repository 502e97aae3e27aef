"""The database goes away in the middle of a job: for a moment, or for longer than the job waits."""

from __future__ import annotations

import itertools
import re
import signal
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from tests.chaos.cutting import Cutter, cutting
from tests.chaos.jobs import GUIDE, Process, Scene
from tests.chaos.provider import Connection, answers, unavailable
from tests.chaos.waiting import wait_for
from tests.postgres import Postgres, running_postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

Outage = tuple[Callable[[], None], Callable[[], None]]
"""How the database goes away, and how it comes back."""


@pytest.fixture(params=["sqlite", "postgres"])
def outage(
    request: pytest.FixtureRequest, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Outage]:
    # A locked file is waited for at two places: by SQLite, and by the job.
    monkeypatch.setenv("GREENROOM_DATABASE_WAIT", "40")
    if request.param == "postgres":
        with running_postgres() as server:
            monkeypatch.setenv("GREENROOM_DATABASE_URL", server.url())
            yield server.stop, server.start
            scene.stop()
        return
    with locking(tmp_path / "runs.db") as away_and_back:
        yield away_and_back


@contextmanager
def locking(file: Path) -> Generator[Outage]:
    other: list[sqlite3.Connection] = []

    def away() -> None:
        other.append(sqlite3.connect(file, isolation_level=None, timeout=30))
        other[0].execute("BEGIN IMMEDIATE")

    def back() -> None:
        other.pop().close()

    yield away, back
    if other:
        back()


def wait_until_all_wait(scene: Scene) -> None:
    """Wait until no call is under way any more: all workers wait for the database."""
    last = [-1, time.monotonic()]

    def is_still() -> bool:
        seen = len(scene.provider.seen) + scene.provider.under_way
        if seen != last[0]:
            last[:] = [seen, time.monotonic()]
        return not scene.provider.under_way and time.monotonic() - last[1] > 1.0

    wait_for(is_still, "stillness")


def test_an_outage_in_the_middle_of_a_run(scene: Scene, outage: Outage) -> None:
    away, back = outage
    process = scene.run()
    scene.wait_for_results(3, process)
    away()
    wait_until_all_wait(scene)
    assert process.alive, process.stderr
    back()
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_an_outage_in_the_middle_of_an_evaluation(scene: Scene, outage: Outage) -> None:
    away, back = outage
    scene.tasks, scene.at_once, scene.provider.delay = 230, 8, 0.005
    process = scene.evaluate(f"{GUIDE}:guide")
    scene.wait_for_results(60, process)
    away()
    wait_until_all_wait(scene)
    assert process.alive, process.stderr
    back()
    assert process.end() == 0, process.stderr
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_a_stop_during_an_outage(scene: Scene, outage: Outage) -> None:
    away, back = outage
    process = scene.run()
    scene.wait_for_results(3, process)
    away()
    wait_until_all_wait(scene)
    process.signal(signal.SIGTERM)
    back()
    assert process.end() == 128 + signal.SIGTERM, process.stderr
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since, cancelled=scene.at_once)


def test_an_outage_that_stays(scene: Scene, outage: Outage) -> None:
    away, back = outage
    scene.env["GREENROOM_DATABASE_WAIT"] = "1"
    process = scene.run()
    scene.wait_for_results(3, process)
    away()
    assert process.end() == 2
    assert "Waiting for it, up to 1 seconds." in process.stderr
    assert "go on with: greenroom resume disturbed" in process.stderr
    back()
    before, since = scene.assert_it_goes_on()
    scene.assert_nothing_is_lost_or_twice_or_unpaid(
        before, since=since, cancelled=scene.at_once, untold=unstored(process)
    )


@contextmanager
def cut_off(scene: Scene, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Generator[Cutter]:
    """Let processes reach the database through a cutter, and the test reach it directly."""
    url = postgres.new_database()
    monkeypatch.setenv("GREENROOM_DATABASE_URL", url)
    with cutting(postgres.socket) as (cutter, folder):
        before, after = quote_plus(str(postgres.socket.parent)), quote_plus(str(folder))
        scene.env["GREENROOM_DATABASE_URL"] = url.replace(before, after)
        yield cutter
    del scene.env["GREENROOM_DATABASE_URL"]


def test_rows_that_are_read_while_the_database_goes_away(
    scene: Scene, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of an evaluation are read page by page, while it is under way."""
    scene.tasks, scene.at_once, scene.provider.delay = 230, 8, 0.005
    with cut_off(scene, postgres, monkeypatch) as cutter:
        process = scene.evaluate(f"{GUIDE}:guide")
        scene.wait_for_results(10, process)
        cutter.marker, cutter.most = b"FROM test_set_rows", 2  # the report reads them once more
        assert process.end() == 0, process.stderr
        assert cutter.cuts == 2
    scene.assert_nothing_is_lost_or_twice_or_unpaid()


def test_commits_that_nobody_is_told_of(
    scene: Scene, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed before the connection broke is committed again, and counts once."""
    numbers = itertools.count(1)

    def sometimes(connection: Connection, answer: bytes) -> str:
        return (unavailable if next(numbers) % 4 == 0 else answers)(connection, answer)

    with cut_off(scene, postgres, monkeypatch) as cutter:
        process = scene.run("--model-retries", 0, "--max-retries", 1)
        scene.wait_for_results(3, process)
        scene.provider.behaviour, cutter.marker = sometimes, b"COMMIT"
        wait_for(lambda: not process.alive or cutter.cuts > 10, "cuts")
        scene.provider.behaviour, cutter.marker = answers, b""
        assert process.end() == 0, process.stderr
        assert cutter.cuts > 5
    before, since = scene.finished(), len(scene.provider.seen)
    assert scene.resume().end() == 0
    scene.assert_nothing_is_lost_or_twice_or_unpaid(before, since=since)


def unstored(process: Process) -> int:
    """How many answers a process could not store, as it says itself."""
    told = re.search(r"Not stored.*: \d+ calls with ([\d,]+) tokens", process.stderr)
    return int(told[1].replace(",", "")) // 110 if told else 0
