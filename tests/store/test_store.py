from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, make_url, text

from greenroom.errors import InputError, UnknownName
from greenroom.store import (
    Attempt,
    EpisodeRecord,
    LeaseOwner,
    Store,
    StoreError,
    Usage,
    backup,
    database_url,
    open_engine,
    open_store,
    this_process,
)
from greenroom.store.records import small_usage
from tests.postgres import Postgres
from tests.store.samples import MOMENT, hold, sample_episode, sample_run


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.create(sample_run())
    return store


RUN = "id-sample"


def test_a_run_is_kept_and_found_by_name_or_id(filled: Store) -> None:
    expected = sample_run(status="interrupted")
    assert filled.runs.find("sample") == expected
    assert filled.runs.find(RUN) == expected
    with pytest.raises(UnknownName, match="Did you mean 'sample'"):
        filled.runs.find("smaple")


def test_two_runs_cannot_have_one_name(filled: Store) -> None:
    with pytest.raises(InputError, match="a run named 'sample' already"):
        filled.runs.create(sample_run(id="another"))
    assert filled.runs.free_name("sample") == "sample-1"
    filled.runs.create(sample_run("sample-1"))
    assert filled.runs.free_name("sample") == "sample-2"


def test_a_name_that_is_made_can_be_typed(filled: Store) -> None:
    made = filled.runs.create(sample_run(id="another"), stem="Agent #1 (beta)-retail")
    assert made.name == "Agent-1-beta-retail-1"
    assert filled.runs.find(made.name).id == "another"


def test_an_episode_comes_back_as_it_was(filled: Store) -> None:
    record = sample_episode(messages=[{"role": "user", "content": "hi"}])
    assert filled.runs.add(RUN, [record]) == [True]
    assert list(filled.runs.results(RUN)) == [record]
    (summary,) = filled.runs.summaries(RUN)
    assert (summary.step_count, summary.turns, summary.cost) == (2, 1, 0.25)
    assert summary.usage == small_usage(record.usage)


def test_an_episode_is_kept_once(filled: Store) -> None:
    first, second = sample_episode(), sample_episode(reward=0.0, outcome="failure")
    assert filled.runs.add(RUN, [first, second]) == [True, False]
    assert filled.runs.add(RUN, [second]) == [False]
    assert list(filled.runs.results(RUN)) == [first]


def test_what_broke_is_replaced_by_what_did_not(filled: Store) -> None:
    broken = sample_episode(outcome="infrastructure_error", reward=None, steps=[], error="no net")
    filled.runs.add(RUN, [broken])
    assert filled.runs.finished(RUN) == set()
    assert filled.runs.add(RUN, [sample_episode(attempts=2)]) == [True]
    assert list(filled.runs.results(RUN)) == [sample_episode(attempts=2)]
    assert filled.runs.finished(RUN) == {(0, 0)}
    assert filled.runs.add(RUN, [broken]) == [False]
    assert [(a.error, a.usage) for a in filled.runs.attempts(RUN)] == [("no net", broken.usage)]


def test_a_transaction_is_all_or_nothing(filled: Store) -> None:
    with pytest.raises(StoreError):
        filled.runs.add("no such run", [sample_episode(0), sample_episode(1)])
    assert list(filled.runs.results(RUN)) == []


def test_a_run_is_complete_when_every_episode_has_a_result(filled: Store) -> None:
    records = [sample_episode(task, trial) for task in (0, 1) for trial in (0, 1)]
    filled.runs.add(RUN, records[:3])
    assert filled.runs.find("sample").status == "interrupted"
    filled.runs.add(RUN, [records[3].model_copy(update={"outcome": "infrastructure_error"})])
    assert filled.runs.find("sample").status == "interrupted"
    filled.runs.add(RUN, records[3:])
    assert filled.runs.find("sample").status == "complete"


def test_deleting_a_run_takes_everything_along(filled: Store) -> None:
    filled.runs.add(RUN, [sample_episode()])
    filled.runs.create(sample_run("other"))
    filled.runs.delete(filled.runs.find("sample"))
    assert [run.name for run in filled.runs.all()] == ["other"]
    with filled.engine.connect() as connection:
        for table in ("results", "failed_attempts"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0


def test_attempts_that_came_to_nothing_are_kept(filled: Store) -> None:
    usage = {"agent": Usage(calls=2, cost=None)}
    started = MOMENT.isoformat()
    attempt = Attempt((1, 0), started, 2.0, "x", usage)
    filled.runs.add_attempt(RUN, attempt)
    assert filled.runs.attempts(RUN) == [attempt]


def test_one_process_at_a_time_plays_a_run(filled: Store) -> None:
    run = filled.runs.find("sample")
    mine, other = this_process(), LeaseOwner("elsewhere", 1, "x")
    hold(filled.runs, run, other)
    assert filled.runs.find("sample").status == "running"
    with pytest.raises(
        InputError, match=r"Another process works on the run 'sample' \(elsewhere/1\)"
    ):
        hold(filled.runs, run, mine)
    with pytest.raises(InputError, match="is under way: stop it first"):
        filled.runs.delete(run)
    assert filled.runs.workers.look(run.id, other, renew=True).member
    assert not filled.runs.workers.look(run.id, mine, renew=True).member
    filled.runs.workers.leave(run.id, mine)
    assert filled.runs.find("sample").status == "running"
    filled.runs.workers.leave(run.id, other)
    hold(filled.runs, run, mine)
    hold(filled.runs, run, mine)


def test_a_process_that_is_gone_holds_nothing(filled: Store) -> None:
    run, mine = filled.runs.find("sample"), this_process()
    hold(filled.runs, run, LeaseOwner(mine.host, 2**22 - 1, "x"))
    assert filled.runs.find("sample").status == "interrupted"
    hold(filled.runs, run, mine)


def test_many_writers_keep_each_episode_once(filled: Store) -> None:
    other = open_store()
    records = [sample_episode(task, trial) for task in range(20) for trial in range(2)]

    def add(number: int) -> int:
        store = (filled, other)[number % 2]
        return sum(sum(store.runs.add(RUN, [record])) for record in records)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, range(4))) == len(records)
    assert len(list(filled.runs.summaries(RUN))) == len(records)
    other.close()


def test_people_can_query_it(filled: Store) -> None:
    filled.runs.add(RUN, [sample_episode(), sample_episode(1, outcome="failure", reward=0.0)])
    question = (
        "SELECT jobs.name, avg(score) AS reward, count(*) AS episodes FROM results "
        "JOIN jobs ON jobs.id = job_id WHERE kind = 'run' GROUP BY jobs.name"
    )
    with filled.engine.connect() as connection:
        assert tuple(connection.execute(text(question)).one()) == ("sample", 0.5, 2)


def test_a_backup_is_a_whole_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store()
    store.runs.create(sample_run())
    store.runs.add(RUN, [sample_episode()])
    copy = tmp_path / "copy.db"
    backup(store.engine, copy)
    with pytest.raises(StoreError, match="exists already"):
        backup(store.engine, copy)
    store.close()
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{copy}")
    restored = open_store()
    assert list(restored.runs.results(RUN)) == [sample_episode()]
    restored.close()


def test_a_server_is_not_backed_up_here(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", postgres.new_database())
    store = open_store()
    with pytest.raises(StoreError, match="pg_dump"):
        backup(store.engine, Path("x"))
    assert "not-a-secret" not in store.location
    store.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "is not a database URL"),
        ("mysql://x", "mysql database"),
        ("postgresql://user:hush-hush@127.0.0.1:1/x", "cannot be used"),
    ],
)
def test_addresses_that_will_not_do(monkeypatch: pytest.MonkeyPatch, url: str, words: str) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", url)
    with pytest.raises(StoreError, match=words) as raised:
        open_store()
    assert "hush-hush" not in str(raised.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("just some text, long enough to be read as a header " * 20)
    with pytest.raises(StoreError, match="is not an SQLite database"):
        open_store()
    assert (tmp_path / "runs.db").read_text().startswith("just some text")


def test_a_damaged_database(tmp_path: Path) -> None:
    store = open_store()
    store.runs.create(sample_run())
    store.close()
    file = tmp_path / "runs.db"
    content = bytearray(file.read_bytes())
    content[4096 : len(content)] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        open_store().runs.all()


def test_a_read_only_database(tmp_path: Path) -> None:
    open_store().close()
    address = f"sqlite:///file:{tmp_path}/runs.db?mode=ro&uri=true"
    store = Store(open_engine(make_url(address)))
    with pytest.raises(StoreError, match="it is read-only"):
        store.runs.create(sample_run())
    store.close()


def test_a_full_disk() -> None:
    store = open_store()
    store.runs.create(sample_run())
    store.runs.add(RUN, [sample_episode()])

    def fill(connection: Any, _: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    store.close()
    event.listen(store.engine, "connect", fill)
    with pytest.raises(StoreError, match="the disk is full"):
        store.runs.add(RUN, [sample_episode(1, opening="x" * 200_000)])
    assert len(list(store.runs.results(RUN))) == 1
    store.close()


def test_the_default_place_is_the_users_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GREENROOM_DATABASE_URL")
    url = database_url()
    assert url.get_backend_name() == "sqlite"
    assert str(url.database).endswith("greenroom.db")


def test_the_cost_of_an_episode_is_unknown_if_a_price_is() -> None:
    def cost(**usage: Usage) -> float | None:
        return EpisodeRecord.model_validate(sample_episode().model_dump() | {"usage": usage}).cost

    assert cost() is None
    assert cost(agent=Usage(calls=1, cost=1.0), user=Usage(calls=1, cost=0.5)) == 1.5
    assert cost(agent=Usage(calls=1, cost=1.0), user=Usage(calls=1, cost=None)) is None
    assert cost(agent=Usage(calls=1, cost=1.0), user=Usage()) == 1.0


ODD_TEXT = "half \ud83d, NUL \0, and \x1b[31m"


@pytest.mark.parametrize(
    "odd",
    [
        {"error": ODD_TEXT, "opening": ODD_TEXT},
        {"messages": [{"role": "user", "content": ODD_TEXT, ODD_TEXT: 2**200}]},
        {"usage": {ODD_TEXT: Usage(calls=1, prompt_tokens=2**70, cost=float("nan"))}},
        {"seconds": float("nan"), "model_seconds": {"agent": [float("inf")]}},
        {"reward": float("nan"), "attempts": 2**70, "facts": {ODD_TEXT: ODD_TEXT}},
    ],
)
def test_odd_texts_and_numbers_are_kept(filled: Store, odd: dict[str, Any]) -> None:
    assert filled.runs.add(RUN, [sample_episode(0, 0, **odd), sample_episode(0, 1)]) == [True] * 2
    first, second = filled.runs.results(RUN)
    assert first.outcome == "success"
    assert second == sample_episode(0, 1)
    assert len(list(filled.runs.summaries(RUN))) == 2
    filled.runs.add_attempt(RUN, Attempt((0, 0), "", float("nan"), ODD_TEXT, first.usage))
    assert len(filled.runs.attempts(RUN)) == 1


@pytest.mark.parametrize(
    "value", [object(), b"\xff", reduce(lambda inner, _: [inner], range(3000), 0)]
)
def test_a_record_that_cannot_be_written_keeps_no_other_out(filled: Store, value: Any) -> None:
    bad = sample_episode(0, 1, messages=[{"role": "user", "content": value}])
    assert filled.runs.add(RUN, [sample_episode(0, 0), bad, sample_episode(1, 0)]) == [True] * 3
    kept = {one.key: one for one in filled.runs.results(RUN)}
    assert kept[0, 0] == sample_episode(0, 0)
    assert kept[1, 0] == sample_episode(1, 0)
    assert kept[0, 1].outcome == "infrastructure_error"
    assert "could not be stored" in str(kept[0, 1].error)
    assert kept[0, 1].usage == bad.usage
    # It is attempted again, and a result replaces it.
    assert filled.runs.finished(RUN) == {(0, 0), (1, 0)}
    assert filled.runs.add(RUN, [sample_episode(0, 1)]) == [True]


def test_a_row_that_the_database_refuses_keeps_no_other_out(filled: Store) -> None:
    impossible = sample_episode(0, 1).model_copy(update={"outcome": None})
    assert filled.runs.add(RUN, [sample_episode(0, 0), impossible]) == [True, True]
    good, bad = filled.runs.results(RUN)
    assert (good.outcome, bad.outcome) == ("success", "infrastructure_error")


@pytest.mark.slow
def test_a_store_that_is_opened_twice_keeps_its_locks() -> None:
    # Another process that closes the file last would take the log of changes away from this one.
    store = open_store()
    store.runs.create(sample_run())
    open_store().close()
    path = Path(str(store.engine.url.database))
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM jobs")).scalar() == 1
        subprocess.run([sys.executable, "-m", "greenroom", "runs", "list"], check=True)
        assert path.with_name(f"{path.name}-wal").exists()
    assert store.runs.find("sample").name == "sample"
    store.close()


def test_the_store_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "runs.db"
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{file}")
    store = open_store()
    store.runs.create(sample_run())
    backup(store.engine, tmp_path / "copy.db")
    found = [*file.parent.iterdir(), tmp_path / "copy.db"]
    assert {one.stat().st_mode & 0o777 for one in found} == {0o600}
    assert file.parent.stat().st_mode & 0o777 == 0o700
    store.close()


def test_the_file_of_another_program_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE films (title TEXT)")
    before = file.read_bytes()
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{file}")
    with pytest.raises(StoreError, match="belongs to another program: it has a table 'films'"):
        open_store()
    assert file.read_bytes() == before


def test_postgres_may_be_shared_unless_a_name_is_taken(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    for table, taken in (("films", False), ("jobs", True)):
        url = postgres.new_database()
        monkeypatch.setenv("GREENROOM_DATABASE_URL", url)
        engine = open_engine(database_url())
        with engine.begin() as connection:
            connection.execute(text(f"CREATE TABLE {table} (title TEXT)"))
        engine.dispose()
        if taken:
            with pytest.raises(StoreError, match="it has a table 'jobs'"):
                open_store()
        else:
            open_store().close()


def _refuse(*_: object) -> bool:
    return False


@pytest.mark.parametrize("pending", [False, True])
def test_a_read_only_store_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pending: bool
) -> None:
    file = tmp_path / "runs.db"
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{file}")
    writer = open_store()
    writer.runs.create(sample_run())
    writer.runs.add(RUN, [sample_episode()])
    if not pending:
        writer.close()
    monkeypatch.setattr(os, "access", _refuse)
    store = open_store()
    assert [run.name for run in store.runs.all()] == ["sample"]
    assert list(store.runs.results(RUN)) == [sample_episode()]
    with pytest.raises(StoreError, match="read-only"):
        store.runs.add(RUN, [sample_episode(1)])
    store.close()
    writer.close()


def test_how_jobs_stand_is_counted_by_the_database_at_once(filled: Store) -> None:
    filled.runs.create(sample_run("empty", created_at=MOMENT.replace(year=2025)))
    failed = {"outcome": "failure", "reward": 0.5}
    broken = {"outcome": "infrastructure_error", "reward": None}
    filled.runs.add(
        RUN,
        [
            sample_episode(0, 0),
            sample_episode(0, 1, **failed),
            sample_episode(1, 0),
            sample_episode(1, 1, **broken),
        ],
    )
    asked: list[str] = []
    event.listen(filled.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    sample, empty = filled.runs.standings()
    assert len(asked) == 1
    assert (sample.job, sample.finished, sample.mean) == (filled.runs.find("sample"), 3, 0.75)
    assert (empty.job.status, empty.finished, empty.mean) == ("interrupted", 0, None)


def test_the_digest_of_a_result_is_of_all_that_is_kept_of_it(store: Store) -> None:
    run = store.runs.create(sample_run())
    other = store.runs.create(sample_run("other"))
    store.runs.add(run.id, [sample_episode(0, 0), sample_episode(0, 1, seconds=0.75)])
    store.runs.add(other.id, [sample_episode(0, 0), sample_episode(0, 1, opening="Hallo.")])
    found, beside = store.runs.digests(run.id), store.runs.digests(other.id)
    assert sorted(found) == [(0, 0), (0, 1)]
    assert found == store.runs.digests(run.id)
    assert found[0, 0] == beside[0, 0]
    assert found[0, 1] != beside[0, 1]
    assert store.runs.digests("nothing") == {}
