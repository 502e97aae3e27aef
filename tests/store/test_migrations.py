from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, Engine, inspect, text

from greenroom.benchmark import play_run, reopen_run
from greenroom.evaluation import reopen_evaluation, run_evaluation
from greenroom.store import (
    Store,
    StoreError,
    Usage,
    database_url,
    open_engine,
    open_store,
    schema_version,
)
from greenroom.store.migrations import prepare_database
from greenroom.store.schema import SCHEMA_VERSION
from tests.store.samples import sample_episode, sample_evaluation, sample_result, sample_run

NEXT = SCHEMA_VERSION + 1
VERSION_2 = Path(__file__).with_name("version_2.sql")
"""A database as Greenroom wrote it with version 2 of the schema.

It holds a complete run with judgements, one with broken episodes and failed attempts, one that was
interrupted, and an evaluation of app.py in which one row has no answer yet.
"""
ADDED_BY_2 = ("test_set", "evaluation")
APP = """
from greenroom import chat_workflow

@chat_workflow
def parrot(messages: list[dict]) -> dict:
    return {"role": "assistant", "content": messages[-1]["content"].upper()}
"""


def former_database(folder: Path, version: int) -> Engine:
    """A database of an older version of the schema, with what it held."""
    (folder / "app.py").write_text(APP, encoding="utf-8")
    script = VERSION_2.read_text(encoding="utf-8").replace("@FOLDER@", str(folder))
    engine = open_engine(database_url())
    postgres = engine.dialect.name == "postgresql"
    statements = re.split(r";\n(?=[A-Z])", script.strip().rstrip(";"))
    rows = [s for s in statements if s.startswith("INSERT")]
    tables = [s for s in statements if s.startswith("CREATE")]
    order = ("meta", "test_sets", "test_set_versions", "runs", "episodes", "evaluations")

    def place(statement: str) -> int:
        found = re.search(r'(?:TABLE|INTO) "?(\w+)', statement)
        name = found[1] if found else ""
        return order.index(name) if name in order else len(order)

    with engine.begin() as connection:
        for statement in [*sorted(tables, key=place), *sorted(rows, key=place)]:
            if version == 1 and any(f"{name}" in statement[:40] for name in ADDED_BY_2):
                continue
            adapted = statement
            if postgres:
                adapted = re.sub(r"\bid INTEGER NOT NULL", "id SERIAL NOT NULL", statement)
            connection.connection.cursor().execute(adapted)
        connection.execute(text("UPDATE meta SET value = :version"), {"version": str(version)})
    return engine


@pytest.fixture(params=[1, 2])
def former(any_database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Engine:
    """A database of each older version."""
    return former_database(tmp_path, request.param)


@pytest.fixture
def version_2(any_database: str, tmp_path: Path) -> Engine:
    return former_database(tmp_path, 2)


def test_an_older_database_keeps_what_it_has(
    former: Engine, any_database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    store = Store(former)
    assert schema_version(store.engine) == SCHEMA_VERSION
    runs = {run.name: run.status for run in store.runs.all()}
    assert runs == {"complete": "complete", "broken": "interrupted", "interrupted": "interrupted"}
    store.runs.create(sample_run())
    store.runs.add("id-sample", [sample_episode()])
    version, _ = store.test_sets.save("capitals", [{"country": "France"}])
    store.evaluations.create(sample_evaluation(version))
    assert store.evaluations.add("id-evaluation", [sample_result()]) == [True]
    store.close()
    copies = list(tmp_path.glob("runs.db.schema-*"))
    assert len(copies) == (1 if any_database == "sqlite" else 0)


def test_results_and_attempts_of_version_2_are_carried_over(version_2: Engine) -> None:
    store = Store(version_2)
    complete = store.runs.find("complete")
    episodes = list(store.runs.results(complete.id))
    assert [episode.key for episode in episodes] == [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    assert all(episode.steps and episode.task.instruction for episode in episodes)
    summaries = list(store.runs.summaries(complete.id))
    assert [s.step_count for s in summaries] == [len(episode.steps) for episode in episodes]
    assert [s.reward for s in summaries] == [episode.reward for episode in episodes]

    broken = store.runs.find("broken")
    assert sum(not e.has_result for e in store.runs.results(broken.id)) == 2
    assert len(store.runs.attempts(broken.id)) == 2
    assert sum(used.cost or 0 for used in store.runs.usages(broken.id)) > 0

    half = store.evaluations.find("half")
    assert half.status == "interrupted"
    assert len(store.evaluations.finished(half.id)) == 4
    results = list(store.evaluations.results(half.id))
    assert {result.outcome for result in results} == {"answered", "infrastructure_error"}
    assert [s.scores["exact_match"].score for s in store.evaluations.summaries(half.id) if s.scores]
    assert len(store.evaluations.attempts(half.id)) == 2

    (judging,) = store.judgings.all(parent=complete.id)
    assert (judging.judge, judging.planned, judging.status) == ("oracle", 3, "complete")
    judgements = list(store.judgings.results(judging.id))
    assert {one.author for one in judgements} == {"user"}
    assert Usage.total(store.judgings.usages(judging.id)).calls == 3
    store.close()


def test_runs_and_evaluations_begun_by_version_2_go_on(version_2: Engine) -> None:
    store = Store(version_2)
    run, context = reopen_run(store, "interrupted")
    before = {e.key: e for e in store.runs.results(run.id)}
    anyio.run(lambda: play_run(store, run, context))
    after = {e.key: e for e in store.runs.results(run.id)}
    assert len(before) == 4
    assert {key: after[key] for key in before} == before
    assert store.runs.find("interrupted").status == "complete"

    async def go_on() -> None:
        evaluation, prepared = await reopen_evaluation(store, "half")
        await run_evaluation(store, evaluation, prepared)

    anyio.run(go_on)
    half = store.evaluations.find("half")
    assert half.status == "complete"
    scores = [s.scores["exact_match"].score for s in store.evaluations.summaries(half.id)]
    assert scores == [1.0] * 6
    store.close()


def test_a_migrated_database_is_like_a_new_one(
    former: Engine, tmp_path: Path, request: pytest.FixtureRequest, any_database: str
) -> None:
    prepare_database(former)
    if any_database == "sqlite":
        address = f"sqlite:///{tmp_path}/fresh.db"
    else:
        address = request.getfixturevalue("postgres").new_database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GREENROOM_DATABASE_URL", address)
        fresh = open_store()
    assert described(former) == described(fresh.engine)
    fresh.close()
    former.dispose()


def described(engine: Engine) -> dict[str, Any]:
    """Everything about the tables that matters."""
    inspector = inspect(engine)
    return {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table)
            },
            "key": inspector.get_pk_constraint(table)["constrained_columns"],
            "foreign": sorted(
                (
                    key["constrained_columns"],
                    key["referred_table"],
                    key["referred_columns"],
                    key.get("options", {}),
                )
                for key in inspector.get_foreign_keys(table)
            ),
            "unique": sorted(
                unique["column_names"] for unique in inspector.get_unique_constraints(table)
            ),
            "indexes": sorted(
                (index["name"] or "", index["column_names"])
                for index in inspector.get_indexes(table)
                if not index["unique"]
            ),
        }
        for table in inspector.get_table_names()
    }


def test_several_processes_may_open_an_old_database_at_once(
    version_2: Engine, tmp_path: Path, any_database: str
) -> None:
    version_2.dispose()

    def opened(_: int) -> int | None:
        store = open_store()
        found = schema_version(store.engine)
        store.close()
        return found

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(opened, range(6))) == [SCHEMA_VERSION] * 6
    if any_database == "sqlite":
        assert len(list(tmp_path.glob("runs.db.schema-2.*"))) == 1


@pytest.mark.usefixtures("any_database")
def test_several_processes_may_create_a_database_at_once() -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = [pool.submit(open_store) for _ in range(6)]
    for store in (opened.result() for opened in stores):
        assert schema_version(store.engine) == SCHEMA_VERSION
        store.close()


@pytest.mark.usefixtures("any_database")
def test_a_newer_database_is_left_alone() -> None:
    store = open_store()
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '99'"))
    with pytest.raises(StoreError, match=r"newer Greenroom .schema 99"):
        open_store()
    assert schema_version(store.engine) == 99
    store.close()


def test_an_older_database_is_brought_up_to_date_after_a_backup(
    any_database: str, tmp_path: Path
) -> None:
    store = open_store()
    store.runs.create(sample_run())

    def add_colour(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE jobs ADD COLUMN colour TEXT DEFAULT 'blue'"))

    prepare_database(store.engine, version=NEXT, migrations={NEXT: add_colour})
    assert schema_version(store.engine) == NEXT
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT name, colour FROM jobs")).one() == ("sample", "blue")
    copies = list(tmp_path.glob(f"runs.db.schema-{SCHEMA_VERSION}.*"))
    assert len(copies) == (1 if any_database == "sqlite" else 0)
    store.close()


@pytest.mark.usefixtures("any_database")
def test_a_migration_that_fails_changes_nothing() -> None:
    store = open_store()

    def fail(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE jobs ADD COLUMN colour TEXT"))
        connection.execute(text("SELECT nonsense FROM nowhere"))

    with pytest.raises(StoreError):
        prepare_database(store.engine, version=NEXT, migrations={NEXT: fail})
    assert schema_version(store.engine) == SCHEMA_VERSION
    columns = {column["name"] for column in inspect(store.engine).get_columns("jobs")}
    assert "colour" not in columns
    store.close()
