"""The database goes away in the middle of a job, and comes back or does not."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread

import anyio
import pytest
from sqlalchemy import URL, make_url, text

from greenroom.store import EpisodeRecord, Store, StoreOutage, database, open_engine
from greenroom.trials import run_job
from tests.postgres import running_postgres
from tests.store.samples import sample_run
from tests.trials.test_engine import PRICE, Work

pytestmark = pytest.mark.slow

CELLS = 12
AWAY_SECONDS = 2.0


@pytest.fixture(params=["sqlite", "postgres"])
def outage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[tuple[Store, Callable[[], None], Callable[[], None]]]:
    """A store, how its database goes away, and how it comes back."""
    if request.param == "postgres":
        with running_postgres() as server:
            url = make_url(server.url()).set(drivername="postgresql+psycopg")
            with _opened(url) as store:
                yield store, server.stop, server.start
        return
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    file = tmp_path / "runs.db"
    with _opened(URL.create("sqlite", database=str(file))) as store:
        other = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        yield store, lambda: _ignored(other.execute("BEGIN IMMEDIATE")), other.rollback
        other.close()


@contextmanager
def _opened(url: URL) -> Generator[Store]:
    store = Store(open_engine(url))
    yield store
    store.close()


def _ignored(_: object) -> None:
    pass


def _work() -> Work:
    run = sample_run(task_indices=list(range(CELLS)), num_trials=1)
    return Work(run, {(index, 0): 0 for index in range(CELLS)}, 0, 3)


def _play(store: Store, work: Work, away: Callable[[], None]) -> None:
    kept: list[EpisodeRecord] = []

    def note(record: EpisodeRecord) -> None:
        kept.append(record)
        if len(kept) == 3:
            away()

    anyio.run(partial(run_job, store.runs, work.run, work.order, work.open_plan, on_result=note))


def test_an_outage_is_waited_out(
    outage: tuple[Store, Callable[[], None], Callable[[], None]],
    capfd: pytest.CaptureFixture[str],
) -> None:
    store, away, back = outage
    work = _work()
    store.runs.create(work.run)
    threads: list[Thread] = []

    def come_back() -> None:
        time.sleep(AWAY_SECONDS)
        back()

    def go_away() -> None:
        away()
        threads.append(Thread(target=come_back))
        threads[0].start()

    _play(store, work, go_away)
    threads[0].join()
    assert len(store.runs.finished(work.run.id)) == CELLS
    assert set(work.attempts.values()) == {1}, "nothing is played twice"
    assert sum(used.cost or 0.0 for used in store.runs.usages(work.run.id)) == CELLS * PRICE
    told = capfd.readouterr().err
    assert "cannot be used" in told
    assert "Waiting for it" in told
    assert "is back after" in told


def test_an_outage_that_stays_ends_the_job_with_a_hint(
    outage: tuple[Store, Callable[[], None], Callable[[], None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, away, back = outage
    monkeypatch.setenv("GREENROOM_DATABASE_WAIT", "1")
    work = _work()
    store.runs.create(work.run)
    start = time.monotonic()
    with pytest.raises(StoreOutage, match="go on with: greenroom resume sample"):
        _play(store, work, away)
    assert time.monotonic() - start < 20
    back()
    with store.engine.begin() as connection:
        # The lease of a process that is gone counts no more; this one is still here.
        connection.execute(text("DELETE FROM workers"))
    kept = store.runs.finished(work.run.id)
    assert 3 <= len(kept) < CELLS
    _play(store, work, lambda: None)
    assert len(store.runs.finished(work.run.id)) == CELLS
    assert all(work.attempts[key] == 1 for key in kept)
