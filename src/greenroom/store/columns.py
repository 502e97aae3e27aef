"""The kinds of a test set's columns, inferred from their values.

The cells of a CSV file are text. A cell that encodes a JSON array or object counts as that value;
the store keeps the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from greenroom.messages import is_message
from greenroom.store.record import Record
from greenroom.util.json_values import check_depth
from greenroom.util.raw_json import raw_value

ColumnKind = Literal["chat", "message", "text", "number", "boolean", "json", "mixed", "empty"]
"""The kind that all values of a column share, empty ones aside.

chat               an array of messages: objects with a role and content (or tool calls)
message            one such object
text, number, boolean   a plain value
json               any other array or object
mixed              different kinds in different rows
empty              null, an empty text, or no value
"""


class ColumnRecord(Record):
    """A column of a test set."""

    name: str
    kind: ColumnKind


def decoded(value: Any) -> Any:
    """The array or object that a text encodes; any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        found = raw_value(value)
        check_depth(found)
    except (ValueError, RecursionError):
        return value
    return found


def chat_of(value: Any) -> list[dict[str, Any]] | None:
    """The messages of a cell that holds a chat, as values or as JSON text; None for other cells."""
    found = decoded(value)
    if not isinstance(found, list) or not found:
        return None
    items = cast("list[dict[str, Any]]", found)
    return items if all(is_message(item) for item in items) else None


def kind_of(value: Any) -> ColumnKind:
    """The kind of one value."""
    found = decoded(value)
    if found is None or found == "":
        return "empty"
    if isinstance(found, str):
        return "text"
    if isinstance(found, bool):
        return "boolean"
    if isinstance(found, (int, float)):
        return "number"
    if is_message(found):
        return "message"
    return "chat" if chat_of(found) is not None else "json"


class ColumnTally:
    """Collects the columns of rows, in the order of their appearance."""

    def __init__(self, known: Iterable[ColumnRecord] = ()) -> None:
        self._kinds: dict[str, ColumnKind] = {column.name: column.kind for column in known}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        kinds = self._kinds
        for name, value in row.items():
            before = kinds.get(name, "empty")
            if before == "mixed":
                continue
            kind = kind_of(value)
            if before in ("empty", kind):
                kinds[name] = kind
            elif kind == "empty":
                kinds.setdefault(name, before)
            else:
                kinds[name] = "mixed"

    def records(self) -> list[ColumnRecord]:
        """The columns so far."""
        return [ColumnRecord(name=name, kind=kind) for name, kind in self._kinds.items()]
