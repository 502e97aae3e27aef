"""The schema's versions: older databases are brought up to date, newer ones are left alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, select, update

from greenroom.store.database import StoreError, describe, transaction
from greenroom.store.schema import SCHEMA_VERSION, meta, metadata

Migration = Callable[[Connection], None]

MIGRATIONS: Mapping[int, Migration] = {}
"""By version: what turns a database of the version before into one of this version."""


def prepare_database(
    engine: Engine,
    *,
    version: int = SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Create the tables of a new database, or bring an older one up to date, after a backup."""
    found = schema_version(engine)
    if found == version:
        return
    if found is None:
        _create(engine, version)
        return
    if found > version:
        raise StoreError(
            f"The database {describe(engine.url)} is that of a newer Greenroom "
            f"(schema {found}, this one knows {version}). Upgrade, or name another database."
        )
    backup_before_migration(engine, found)
    with transaction(engine) as connection:
        for step in range(found + 1, version + 1):
            migrations[step](connection)
        connection.execute(
            update(meta).where(meta.c.key == "schema_version").values(value=str(version))
        )


def schema_version(engine: Engine) -> int | None:
    """The version of a database's schema; None if it has none of our tables yet."""
    with transaction(engine) as connection:
        if not inspect(connection).has_table("meta"):
            return None
        row = connection.execute(
            select(meta.c.value).where(meta.c.key == "schema_version")
        ).one_or_none()
    return int(row.value) if row is not None else None


def backup(engine: Engine, target: Path) -> None:
    """Copy an SQLite database, while others use it, to a file that is not there yet."""
    if engine.url.get_backend_name() != "sqlite":
        raise StoreError("Only SQLite files are backed up here; for PostgreSQL, use pg_dump.")
    if target.exists():
        raise StoreError(f"{target} exists already: name another file for the backup.")
    try:
        with (
            closing(sqlite3.connect(str(engine.url.database))) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{target} cannot be written: {error}.") from error


def backup_before_migration(engine: Engine, version: int) -> None:
    """Keep a copy of an SQLite database as it was before its schema changes."""
    if engine.url.get_backend_name() == "sqlite":
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        backup(engine, Path(f"{engine.url.database}.schema-{version}.{stamp}"))


def _create(engine: Engine, version: int) -> None:
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = postgresql if engine.dialect.name == "postgresql" else sqlite
    with transaction(engine) as connection:
        if engine.dialect.name == "postgresql":
            # Two processes that start at once must not both create the tables.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7367746)")
        metadata.create_all(connection)
        insert = dialect.insert(meta).values(key="schema_version", value=str(version))
        connection.execute(insert.on_conflict_do_nothing())
