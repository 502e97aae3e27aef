"""Test sets in the database: a change makes a new version, and versions share their rows.

A row is stored once for all versions that have it at the same position. A new version of a large
set that changes or adds one row stores one more row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import Any, ClassVar
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from greenroom.errors import InputError, UnknownName
from greenroom.store.columns import ColumnRecord, ColumnTally
from greenroom.store.database import insert_into, transaction
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.schema import jobs, test_set_rows, test_set_versions, test_sets
from greenroom.util.json_values import check_depth
from greenroom.util.raw_json import raw_text, raw_value, storable

Row = Mapping[str, Any]
"""A row of a test set: values by column."""

VERSION_MARK = "@"
"""Separates a test set's name from the number of a version."""

_BATCH = 500
_LONGEST_NAME = 200


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

    def versions(self, name_or_id: str) -> list[TestSetVersion]:
        """All versions of a test set, the newest first."""
        wanted = storable(name_or_id)
        with transaction(self._engine) as connection:
            found = [
                _version_record(row)
                for row in connection.execute(
                    _version_rows()
                    .where((test_sets.c.name == wanted) | (test_sets.c.id == wanted))
                    .order_by(test_set_versions.c.version.desc())
                )
            ]
        if not found:
            raise UnknownName("test set", name_or_id, (one.name for one in self.all()))
        return found

    def find(self, name_or_id: str, version: int | None = None) -> TestSetVersion:
        """A version of a test set: the latest, or the one of that number."""
        versions = self.versions(name_or_id)
        if version is None:
            return versions[0]
        for one in versions:
            if one.version == version:
                return one
        known = "1" if len(versions) == 1 else f"1 to {versions[0].version}"
        raise InputError(
            f"The test set '{versions[0].name}' has no version {version}: it has {known}."
        )

    def rows(
        self, version: TestSetVersion, *, start: int = 0, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of a version in order, loaded page by page.

        A version never changes, so each page has its own short transaction.
        """
        end = version.row_count if limit is None else min(version.row_count, start + limit)
        for first in range(start, end, _BATCH):
            last = min(first + _BATCH, end)
            statement = (
                select(test_set_rows.c.content)
                .where(_of(version), test_set_rows.c.position.between(first, last - 1))
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
            writer = _VersionWriter(connection, key, latest, append=append)
            for batch in _batches(rows):
                writer.put(batch)
            changed = writer.finish(name)
            if latest is not None and not changed:
                return latest, False
            connection.execute(insert(test_set_versions), writer.version_row(note))
            written = _latest(connection, key)
        assert written is not None
        return written, True

    def _locked(self, connection: Connection, name: str) -> str:
        """The id of the test set, locked until the transaction ends."""
        fresh = {"id": uuid4().hex[:12], "name": name, "created_at": _now()}
        connection.execute(
            insert_into(self._engine, test_sets).values(fresh).on_conflict_do_nothing()
        )
        key = connection.execute(
            select(test_sets.c.id).where(test_sets.c.name == name)
        ).scalar_one()
        _lock(connection, key)
        return key


class _VersionWriter:
    """Writes the rows of a new version; rows that equal those of the latest version stay."""

    def __init__(
        self, connection: Connection, key: str, latest: TestSetVersion | None, *, append: bool
    ) -> None:
        self._connection = connection
        self._key = key
        self._before = latest.version if latest else 0
        self._old_count = latest.row_count if latest else 0
        self._kept = latest.row_count if latest and append else 0
        self._count = self._kept
        self._hash = latest.content_hash if latest and append else ""
        self._tally = ColumnTally(latest.columns if latest and append else ())
        self._changed = False

    def put(self, batch: Sequence[Row]) -> None:
        """Write the next rows."""
        old = self._old(self._count, len(batch))
        differing: list[dict[str, Any]] = []
        for position, row in enumerate(batch, start=self._count):
            text = _row_text(row, position)
            self._tally.add(row)
            self._hash = sha256((self._hash + text).encode()).hexdigest()
            if old.get(position) != text:
                differing.append({"position": position, "content": text})
        self._count += len(batch)
        if not differing:
            return
        self._changed = True
        replaced = [one["position"] for one in differing if one["position"] in old]
        self._close(test_set_rows.c.position == bindparam("replaced"), replaced)
        shared = {"test_set_id": self._key, "first_version": self._before + 1}
        self._connection.execute(insert(test_set_rows), [shared | one for one in differing])

    def finish(self, name: str) -> bool:
        """Close the rows that are gone; return whether anything changed."""
        if self._count == self._kept:
            raise InputError(f"There are no rows for the test set '{name}'.")
        if self._count < self._old_count:
            self._changed = True
            self._close(test_set_rows.c.position >= bindparam("replaced"), [self._count])
        return self._changed

    def version_row(self, note: str) -> dict[str, Any]:
        """The version's database row."""
        return {
            "test_set_id": self._key,
            "version": self._before + 1,
            "created_at": _now(),
            "note": storable(note),
            "columns": raw_text([column.model_dump() for column in self._tally.records()]),
            "row_count": self._count,
            "content_hash": self._hash,
        }

    def _old(self, first: int, count: int) -> dict[int, str]:
        if first >= self._old_count:
            return {}
        found = self._connection.execute(
            select(test_set_rows.c.position, test_set_rows.c.content).where(
                test_set_rows.c.test_set_id == self._key,
                test_set_rows.c.last_version.is_(None),
                test_set_rows.c.position.between(first, first + count - 1),
            )
        )
        return {row.position: row.content for row in found}

    def _close(self, which: ColumnElement[bool], positions: Sequence[int]) -> None:
        # The version before this one is the last that has these rows.
        if positions:
            self._connection.execute(
                update(test_set_rows)
                .where(
                    test_set_rows.c.test_set_id == self._key,
                    test_set_rows.c.last_version.is_(None),
                    which,
                )
                .values(last_version=self._before),
                [{"replaced": position} for position in positions],
            )


def check_name(name: str) -> None:
    """Raise InputError for a name that a test set cannot have."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError(f"A test set needs a name of 1 to {_LONGEST_NAME} printable characters.")
    if VERSION_MARK in name:
        raise InputError(
            f"'{name}' cannot be a test set's name: {VERSION_MARK} separates the version."
        )


def _row_text(row: Row, position: int) -> str:
    if not row or any(not name for name in row):
        raise InputError(f"Row {position + 1}: a row needs a column, and every column a name.")
    try:
        check_depth(row)
        return raw_text(row)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"Row {position + 1} cannot be stored as JSON: {error}.") from error


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


def _of(version: TestSetVersion) -> ColumnElement[bool]:
    return (
        (test_set_rows.c.test_set_id == version.test_set_id)
        & (test_set_rows.c.first_version <= version.version)
        & (
            test_set_rows.c.last_version.is_(None)
            | (test_set_rows.c.last_version >= version.version)
        )
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


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _now() -> str:
    return datetime.now(UTC).isoformat()
