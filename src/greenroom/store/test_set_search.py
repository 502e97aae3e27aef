"""Rows of a test set's version, page by page, and those that a filter finds.

The database looks for the text in whole rows. What it finds is checked value by value, because
names of columns count for nothing. Each page reads a bounded number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Engine, select

from greenroom.store.columns import ColumnKind, decoded, kind_of
from greenroom.store.database import transaction
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.schema import test_set_rows
from greenroom.store.test_set_writer import of_version
from greenroom.util.raw_json import raw_text, raw_value

_BATCH = 50
MOST_READ = 2_000
"""How many rows a page looks into, however few of them match."""


@dataclass(frozen=True)
class RowFilter:
    """Which rows are wanted: those where a value, or that of one column, is like this."""

    text: str = ""
    """Part of a value, in capitals or not."""
    column: str | None = None
    kind: ColumnKind | None = None

    def matches(self, row: dict[str, Any]) -> bool:
        """Whether a row is wanted; a column that it lacks is empty."""
        values = list(row.values()) if self.column is None else [row.get(self.column)]
        if self.kind is not None:
            values = [value for value in values if kind_of(value) == self.kind]
        if not self.text:
            return bool(values)
        wanted = self.text.casefold()
        return any(wanted in text.casefold() for value in values for text in _texts(value))


@dataclass(frozen=True)
class FoundRows:
    """A page of rows with their positions."""

    rows: list[tuple[int, dict[str, Any]]]
    next: int | None
    """Where the search goes on; None at the end. A page may have fewer rows than asked for."""


def find_rows(
    engine: Engine,
    version: TestSetVersion,
    *,
    start: int = 0,
    limit: int,
    wanted: RowFilter | None = None,
) -> FoundRows:
    """The rows from a position on that a filter wants."""
    found: list[tuple[int, dict[str, Any]]] = []
    candidates = _candidates(engine, version, start, wanted.text if wanted else "")
    for count, (position, row) in enumerate(candidates):
        if len(found) == limit or count == MOST_READ:
            return FoundRows(found, position)
        if wanted is None or wanted.matches(row):
            found.append((position, row))
    return FoundRows(found, None)


def _candidates(
    engine: Engine, version: TestSetVersion, start: int, text: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    while start < version.row_count:
        statement = (
            select(test_set_rows.c.position, test_set_rows.c.content)
            .where(of_version(version), test_set_rows.c.position >= start)
            .order_by(test_set_rows.c.position)
            .limit(_BATCH)
        )
        if text:
            statement = statement.where(test_set_rows.c.content.ilike(_pattern(text), escape="\\"))
        with transaction(engine) as connection:
            batch = connection.execute(statement).all()
        for position, content in batch:
            yield position, raw_value(content)
        if len(batch) < _BATCH:
            return
        start = batch[-1].position + 1


def _pattern(text: str) -> str:
    """A pattern that every row with the text matches, and perhaps others.

    Rows are JSON, and may hold JSON in texts, so quotes and the like have backslashes before them
    there. Databases differ in the capitals of letters beyond ASCII.
    """
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "\0" for sign in text)
    return f"%{'%'.join(part for part in plain.split(chr(0)) if part)}%"


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, keys of objects included, at any depth."""
    if isinstance(value, str):
        yield value
        if (inner := decoded(value)) is not value:
            yield from _texts(inner)
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts(item)
    elif value is not None:
        yield raw_text(value)
