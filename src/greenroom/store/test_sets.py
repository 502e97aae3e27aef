"""Test sets in the database: a change makes a new version, and versions share their rows.

A row is stored once for all versions that have it at the same position. A new version of a large
set that changes or adds one row stores one more row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, ClassVar
from uuid import uuid4

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    delete,
    func,
    insert,
    select,
    update,
)

from greenroom.errors import Conflict, InputError, UnknownName
from greenroom.store.columns import ColumnRecord
from greenroom.store.database import insert_into, transaction
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.schema import jobs, test_set_rows, test_set_versions, test_sets
from greenroom.store.test_set_writer import BATCH, Row, VersionWriter, batches, now, of_version
from greenroom.util.raw_json import raw_value, storable

VERSION_MARK = "@"
"""Separates a test set's name from the number of a version."""

_LONGEST_NAME = 200
_HIGHEST = 2**31


class TestSets:
    """The test sets of a store. Safe to use from several threads and several processes."""

    __test__: ClassVar[bool] = False  # pytest would collect it as a test

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[TestSetVersion]:
        """The latest version of every test set, by name."""
        latest = (
            select(
                test_set_versions.c.test_set_id, func.max(test_set_versions.c.version).label("v")
            )
            .group_by(test_set_versions.c.test_set_id)
            .subquery()
        )
        statement = _version_rows().join(
            latest,
            (latest.c.test_set_id == test_set_versions.c.test_set_id)
            & (latest.c.v == test_set_versions.c.version),
        )
        with transaction(self._engine) as connection:
            return [
                _version_record(row)
                for row in connection.execute(statement.order_by(test_sets.c.name))
            ]

    def page(self, *, after: str = "", limit: int, text: str = "") -> list[TestSetVersion]:
        """The latest version of so many test sets, by name, from behind a name."""
        newer = test_set_versions.alias()
        statement = (
            _version_rows()
            .where(test_sets.c.name > storable(after))
            .where(
                ~select(newer.c.version)
                .where(newer.c.test_set_id == test_set_versions.c.test_set_id)
                .where(newer.c.version > test_set_versions.c.version)
                .exists()
            )
        )
        if text:
            statement = statement.where(test_sets.c.name.icontains(storable(text), autoescape=True))
        with transaction(self._engine) as connection:
            found = connection.execute(statement.order_by(test_sets.c.name).limit(limit))
            return [_version_record(row) for row in found]

    def versions(
        self, name_or_id: str, *, before: int | None = None, limit: int | None = None
    ) -> list[TestSetVersion]:
        """The versions of a test set, the newest first: all, or so many before a version."""
        statement = _of_set(name_or_id).limit(limit)
        if before is not None:
            statement = statement.where(test_set_versions.c.version < before)
        with transaction(self._engine) as connection:
            found = [_version_record(row) for row in connection.execute(statement)]
        if not found:
            self.find(name_or_id)  # raises UnknownName
        return found

    def find(self, name_or_id: str, version: int | None = None) -> TestSetVersion:
        """A version of a test set: the latest, or the one of that number."""
        statement = _of_set(name_or_id).limit(1)
        with transaction(self._engine) as connection:
            latest = connection.execute(statement).first()
            row = latest
            if version is not None:
                number = version if 0 < version < _HIGHEST else 0  # there is no version 0
                numbered = statement.where(test_set_versions.c.version == number)
                row = connection.execute(numbered).first()
        if latest is None:
            raise UnknownName("test set", name_or_id, (one.name for one in self.all()))
        if row is None:
            known = "1" if latest.version == 1 else f"1 to {latest.version}"
            raise InputError(
                f"The test set '{latest.name}' has no version {version}: it has {known}."
            )
        return _version_record(row)

    def rows(
        self, version: TestSetVersion, *, start: int = 0, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a version in order, loaded page by page.

        A version never changes, so each page has its own short transaction.
        """
        end = version.row_count if limit is None else min(version.row_count, start + limit)
        for first in range(start, end, BATCH):
            last = min(first + BATCH, end)
            statement = (
                select(test_set_rows.c.content)
                .where(of_version(version), test_set_rows.c.position.between(first, last - 1))
                .order_by(test_set_rows.c.position)
            )
            with transaction(self._engine) as connection:
                page = connection.execute(statement).scalars().all()
            for text in page:
                yield raw_value(text)

    def save(
        self, name: str, rows: Iterable[Row], *, note: str = ""
    ) -> tuple[TestSetVersion, bool]:
        """Make these rows the test set; return its latest version, and whether it is new.

        The store stays unchanged if the latest version has these rows already, or if reading them
        fails.
        """
        return self._write(name, rows, note, append=False)

    def add(self, name: str, rows: Iterable[Row], *, note: str = "") -> TestSetVersion:
        """Add rows at the end of a test set; create the set if needed."""
        return self._write(name, rows, note, append=True)[0]

    def change(
        self,
        name_or_id: str,
        rows_of: Callable[[TestSetVersion], Iterable[Row]],
        *,
        base_version: int,
        note: str = "",
    ) -> tuple[TestSetVersion, bool]:
        """Make rows of the latest version's rows; return the latest version, and whether it is new.

        Raise Conflict if the latest version is not the base any more: somebody else has changed the
        test set in the meantime.
        """
        key = self.find(name_or_id).test_set_id
        with transaction(self._engine) as connection:
            _lock(connection, key)
            latest = _latest(connection, key)
            if latest is None:  # deleted in the meantime
                raise UnknownName("test set", name_or_id, ())
            if latest.version != base_version:
                raise Conflict(
                    f"'{latest.name}' is at version {latest.version} by now, and the change was "
                    f"made in version {base_version}. Load it again and repeat the change."
                )
            writer = VersionWriter(connection, key, latest, append=False)
            return _written(connection, writer, latest, rows_of(latest), latest.name, note)

    def delete(self, name_or_id: str) -> None:
        """Delete a test set with all its versions; raise InputError while an evaluation uses it."""
        found = self.find(name_or_id)
        key = found.test_set_id
        with transaction(self._engine) as connection:
            _lock(connection, key)
            users = connection.execute(
                select(jobs.c.name).where(jobs.c.test_set_id == key)
            ).scalars()
            names = sorted(users)
            if names:
                more = f" and {len(names) - 1} more" if len(names) > 1 else ""
                raise InputError(
                    f"The evaluation '{names[0]}'{more} uses the test set '{found.name}': delete "
                    "that first."
                )
            connection.execute(delete(test_sets).where(test_sets.c.id == key))

    def _write(
        self, name: str, rows: Iterable[Row], note: str, *, append: bool
    ) -> tuple[TestSetVersion, bool]:
        check_name(name)
        with transaction(self._engine) as connection:
            key = self._locked(connection, name)
            latest = _latest(connection, key)
            writer = VersionWriter(connection, key, latest, append=append)
            return _written(connection, writer, latest, rows, name, note)

    def _locked(self, connection: Connection, name: str) -> str:
        """The id of the test set, locked until the transaction ends."""
        fresh = {"id": uuid4().hex[:12], "name": name, "created_at": now()}
        connection.execute(
            insert_into(self._engine, test_sets).values(fresh).on_conflict_do_nothing()
        )
        key = connection.execute(
            select(test_sets.c.id).where(test_sets.c.name == name)
        ).scalar_one()
        _lock(connection, key)
        return key


def check_name(name: str) -> None:
    """Raise InputError for a name that a test set cannot have."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError(f"A test set needs a name of 1 to {_LONGEST_NAME} printable characters.")
    if VERSION_MARK in name:
        raise InputError(
            f"'{name}' cannot be a test set's name: {VERSION_MARK} separates the version."
        )


def _written(
    connection: Connection,
    writer: VersionWriter,
    latest: TestSetVersion | None,
    rows: Iterable[Row],
    name: str,
    note: str,
) -> tuple[TestSetVersion, bool]:
    for batch in batches(rows):
        writer.put(batch)
    changed = writer.finish(name)
    if latest is not None and not changed:
        return latest, False
    connection.execute(insert(test_set_versions), writer.version_row(note))
    written = _latest(connection, writer.key)
    assert written is not None
    return written, True


def _lock(connection: Connection, key: str) -> None:
    # A write without a change locks the row on both databases until the transaction ends.
    connection.execute(update(test_sets).where(test_sets.c.id == key).values(name=test_sets.c.name))


def _latest(connection: Connection, key: str) -> TestSetVersion | None:
    row = connection.execute(
        _version_rows()
        .where(test_set_versions.c.test_set_id == key)
        .order_by(test_set_versions.c.version.desc())
        .limit(1)
    ).first()
    return _version_record(row) if row is not None else None


def _of_set(name_or_id: str) -> Select[Any]:
    wanted = storable(name_or_id)
    return (
        _version_rows()
        .where((test_sets.c.name == wanted) | (test_sets.c.id == wanted))
        .order_by(test_set_versions.c.version.desc())
    )


def _version_rows() -> Select[Any]:
    return select(test_set_versions, test_sets.c.name).join(
        test_sets, test_sets.c.id == test_set_versions.c.test_set_id
    )


def _version_record(row: Any) -> TestSetVersion:
    return TestSetVersion(
        test_set_id=row.test_set_id,
        name=row.name,
        version=row.version,
        created_at=datetime.fromisoformat(row.created_at),
        note=row.note,
        columns=[ColumnRecord.model_validate(one) for one in raw_value(row.columns)],
        row_count=row.row_count,
        content_hash=row.content_hash,
    )
