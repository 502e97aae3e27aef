"""Database tables as packs keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from greenroom.errors import DataError

if TYPE_CHECKING:
    from greenroom.domains.world import Record


def checked_table(value: Any, place: str) -> dict[str, Record]:
    """A table: an object of records by id. Anything else is reported with its place."""
    if not isinstance(value, dict):
        raise DataError(f"{place} should hold records by id, but holds {type(value).__name__}.")
    table = cast("dict[str, Any]", value)
    for key, record in table.items():
        if not isinstance(record, dict):
            raise DataError(f"{place}: record '{key}' should be an object, but is {record!r:.40}.")
    return table
