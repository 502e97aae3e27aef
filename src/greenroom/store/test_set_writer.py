"""How a version of a test set is written: only rows that differ from the version before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, insert, select, update

from greenroom.errors import InputError
from greenroom.store.columns import ColumnTally
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.schema import test_set_rows
from greenroom.util.json_values import check_depth
from greenroom.util.raw_json import raw_text, storable

Row = Mapping[str, Any]
"""A row of a test set: values by column."""

BATCH = 500


class VersionWriter:
    """Writes the rows of a new version; rows that equal those of the latest version stay."""

    def __init__(
        self, connection: Connection, key: str, latest: TestSetVersion | None, *, append: bool
    ) -> None:
        self._connection = connection
        self.key = key
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
        shared = {"test_set_id": self.key, "first_version": self._before + 1}
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
            "test_set_id": self.key,
            "version": self._before + 1,
            "created_at": now(),
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
                test_set_rows.c.test_set_id == self.key,
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
                    test_set_rows.c.test_set_id == self.key,
                    test_set_rows.c.last_version.is_(None),
                    which,
                )
                .values(last_version=self._before),
                [{"replaced": position} for position in positions],
            )


def of_version(version: TestSetVersion) -> ColumnElement[bool]:
    """Which stored rows a version has."""
    return (
        (test_set_rows.c.test_set_id == version.test_set_id)
        & (test_set_rows.c.first_version <= version.version)
        & (
            test_set_rows.c.last_version.is_(None)
            | (test_set_rows.c.last_version >= version.version)
        )
    )


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in batches, each for one statement."""
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        yield batch


def now() -> str:
    """The time, as the store keeps it."""
    return datetime.now(UTC).isoformat()


def _row_text(row: Row, position: int) -> str:
    if not row:
        raise InputError(f"Row {position + 1} is empty: give it a value, or leave it out.")
    if any(not name for name in row):
        raise InputError(f"Row {position + 1} has a column without a name.")
    try:
        check_depth(row)
        return raw_text(row)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"Row {position + 1} cannot be stored as JSON: {error}.") from error
