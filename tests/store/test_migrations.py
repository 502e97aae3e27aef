from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, inspect, text

from greenroom.store import (
    Store,
    StoreError,
    database_url,
    open_engine,
    open_store,
    schema_version,
)
from greenroom.store.migrations import prepare_database
from greenroom.store.schema import SCHEMA_VERSION, meta, metadata, runs
from tests.store.samples import sample_episode, sample_evaluation, sample_result, sample_run

TABLES_OF_VERSION_1 = ("meta", "runs", "episodes", "trajectories", "attempts", "judgements")
NEXT = SCHEMA_VERSION + 1


@pytest.fixture
def version_1(any_database: str) -> Engine:
    """A database as Greenroom left it with version 1 of the schema, with a run in it."""
    engine = open_engine(database_url())
    run = sample_run()
    with engine.begin() as connection:
        metadata.create_all(connection, tables=[metadata.tables[t] for t in TABLES_OF_VERSION_1])
        connection.execute(insert(meta).values(key="schema_version", value="1"))
        connection.execute(
            insert(runs).values(
                id=run.id,
                name=run.name,
                created_at=run.created_at.isoformat(),
                env=run.env,
                task_split=run.task_split,
                agent_strategy=run.agent_strategy,
                num_trials=run.num_trials,
                planned=run.planned,
                record=run.model_dump_json(),
            )
        )
    return engine


def test_version_1_becomes_version_2_and_keeps_what_it_has(
    version_1: Engine, any_database: str, tmp_path: Path
) -> None:
    store = Store(version_1)
    assert schema_version(store.engine) == SCHEMA_VERSION
    assert [run.name for run in store.runs.all()] == ["sample"]
    store.runs.add("id-sample", [sample_episode()])
    version, _ = store.test_sets.save("capitals", [{"country": "France"}])
    store.evaluations.create(sample_evaluation(version))
    assert store.evaluations.add("id-evaluation", [sample_result()]) == [True]
    store.close()
    copies = list(tmp_path.glob("runs.db.schema-1.*"))
    assert len(copies) == (1 if any_database == "sqlite" else 0)


@pytest.mark.usefixtures("any_database")
def test_a_migrated_database_is_like_a_new_one(
    version_1: Engine, tmp_path: Path, request: pytest.FixtureRequest, any_database: str
) -> None:
    prepare_database(version_1)
    if any_database == "sqlite":
        address = f"sqlite:///{tmp_path}/fresh.db"
    else:
        address = request.getfixturevalue("postgres").new_database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GREENROOM_DATABASE_URL", address)
        fresh = open_store()
    assert described(version_1) == described(fresh.engine)
    fresh.close()
    version_1.dispose()


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
    version_1: Engine, tmp_path: Path, any_database: str
) -> None:
    version_1.dispose()

    def opened(_: int) -> int | None:
        store = open_store()
        found = schema_version(store.engine)
        store.close()
        return found

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(opened, range(6))) == [SCHEMA_VERSION] * 6
    if any_database == "sqlite":
        assert len(list(tmp_path.glob("runs.db.schema-1.*"))) == 1


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
        connection.execute(text("ALTER TABLE runs ADD COLUMN colour TEXT DEFAULT 'blue'"))

    prepare_database(store.engine, version=NEXT, migrations={NEXT: add_colour})
    assert schema_version(store.engine) == NEXT
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT name, colour FROM runs")).one() == ("sample", "blue")
    copies = list(tmp_path.glob(f"runs.db.schema-{SCHEMA_VERSION}.*"))
    assert len(copies) == (1 if any_database == "sqlite" else 0)
    store.close()


@pytest.mark.usefixtures("any_database")
def test_a_migration_that_fails_changes_nothing() -> None:
    store = open_store()

    def fail(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE runs ADD COLUMN colour TEXT"))
        connection.execute(text("SELECT nonsense FROM nowhere"))

    with pytest.raises(StoreError):
        prepare_database(store.engine, version=NEXT, migrations={NEXT: fail})
    assert schema_version(store.engine) == SCHEMA_VERSION
    columns = {column["name"] for column in inspect(store.engine).get_columns("runs")}
    assert "colour" not in columns
    store.close()
