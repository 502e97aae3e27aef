"""Schema versions: migrate older databases, refuse newer ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, inspect, select, update

from greenroom.store.database import (
    URL_VARIABLE,
    StoreError,
    create_private,
    describe,
    sql_state,
    transaction,
)
from greenroom.store.migration_3 import unite_jobs
from greenroom.store.schema import SCHEMA_VERSION, meta, metadata

Migration = Callable[[Connection], None]

_KEY = "schema_version"
_NOT_PRIVILEGED = "42501"


def run_script(connection: Connection, name: str) -> None:
    """Run the SQL statements of a file beside this module; each ends with `;` and a line break."""
    counted = "SERIAL" if connection.dialect.name == "postgresql" else "INTEGER"
    script = files("greenroom.store").joinpath(name).read_text("utf-8")
    for statement in script.replace("{counted}", counted).strip().removesuffix(";").split(";\n"):
        connection.exec_driver_sql(statement)


def _add_test_sets_and_evaluations(connection: Connection) -> None:
    run_script(connection, "migration_2.sql")


def _unite_jobs(connection: Connection) -> None:
    run_script(connection, "migration_3.sql")
    unite_jobs(connection)


def _add_playground(connection: Connection) -> None:
    run_script(connection, "migration_4.sql")


def _add_workers(connection: Connection) -> None:
    run_script(connection, "migration_5.sql")


def _add_attempt_logs(connection: Connection) -> None:
    run_script(connection, "migration_6.sql")


MIGRATIONS: Mapping[int, Migration] = {
    2: _add_test_sets_and_evaluations,
    3: _unite_jobs,
    4: _add_playground,
    5: _add_workers,
    6: _add_attempt_logs,
}
"""By version: what turns a database of the version before into one of this version."""


def prepare_database(
    engine: Engine,
    *,
    version: int = SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Create the tables of a new database, or back up and migrate an older one."""
    if schema_version(engine) == version:
        return
    with _told_of_privileges(engine), transaction(engine) as connection:
        _lock(connection)
        # Another process may have migrated it in the meantime.
        found = _found_version(connection)
        if found is None:
            _refuse_foreign(engine, connection)
            metadata.create_all(connection)
            connection.execute(insert(meta).values(key=_KEY, value=str(version)))
            return
        if found > version:
            raise StoreError(
                f"The database {describe(engine.url)} is of a newer Greenroom (schema {found}, "
                f"this version knows {version}). Upgrade, or name another database."
            )
        if found < version:
            backup_before_migration(engine, found)
        for step in range(found + 1, version + 1):
            migrations[step](connection)
        connection.execute(update(meta).where(meta.c.key == _KEY).values(value=str(version)))


@contextmanager
def _told_of_privileges(engine: Engine) -> Generator[None]:
    """Say who may make or change the tables, if this role may not."""
    try:
        yield
    except StoreError as error:
        if sql_state(error.__cause__) != _NOT_PRIVILEGED:
            raise
        raise StoreError(
            f"This role may not make or change the tables of {describe(engine.url)}, which have to "
            "be brought up to date: let their owner run 'greenroom store show' with this version."
        ) from error


def schema_version(engine: Engine) -> int | None:
    """The version of a database's schema; None for a new database."""
    with transaction(engine) as connection:
        return _found_version(connection)


def backup(engine: Engine, target: Path) -> None:
    """Copy an SQLite database to a new file, even while others use it."""
    if engine.url.get_backend_name() != "sqlite":
        raise StoreError("Only SQLite files are backed up here; for PostgreSQL, use pg_dump.")
    if target.exists():
        raise StoreError(f"{target} exists already: name another file for the backup.")
    if not target.parent.is_dir():
        raise StoreError(f"There is no directory {target.parent}: create it, or name another.")
    whole = False
    try:
        create_private(target)
        with (
            closing(sqlite3.connect(str(engine.url.database))) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
        whole = True
    except sqlite3.Error as error:
        raise StoreError(f"{target} cannot be written: {error}.") from error
    finally:
        if not whole:
            target.unlink(missing_ok=True)


def backup_before_migration(engine: Engine, version: int) -> None:
    """Copy an SQLite database before its schema changes."""
    if engine.url.get_backend_name() == "sqlite":
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        backup(engine, Path(f"{engine.url.database}.schema-{version}.{stamp}"))


def _found_version(connection: Connection) -> int | None:
    if not inspect(connection).has_table("meta"):
        return None
    row = connection.execute(select(meta.c.value).where(meta.c.key == _KEY)).one_or_none()
    return int(row.value) if row is not None else None


def _refuse_foreign(engine: Engine, connection: Connection) -> None:
    """Leave the database of another program as it is."""
    tables = inspect(connection).get_table_names()
    # A PostgreSQL database may be shared, as long as no table has one of our names.
    taken = tables if engine.dialect.name == "sqlite" else sorted({*tables} & {*metadata.tables})
    if taken:
        raise StoreError(
            f"The database {describe(engine.url)} belongs to another program: it has a table "
            f"'{taken[0]}'. Name another in {URL_VARIABLE}."
        )


def _lock(connection: Connection) -> None:
    """Make other processes that open the database wait until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7367746)")
    else:
        # SQLite's driver begins a transaction at the first change of a row. New tables would be
        # outside of it, and stay if a later step fails.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
