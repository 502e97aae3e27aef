"""What the columns of a test set hold, told by the shape of their values and never by their names.

Cells of a CSV file are texts. One that encodes a JSON array or object is understood as such where
it is read; what is kept is the text itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from greenroom.messages import is_message
from greenroom.store.records import Record
from greenroom.util.raw_json import raw_value

ColumnKind = Literal["chat", "message", "text", "number", "boolean", "json", "mixed", "empty"]
"""What all values of a column that hold anything have in common.

chat               an array of messages: objects with a role and content (or tool calls)
message            one such object
text, number, boolean   a plain value
json               any other array or object
mixed              one thing in one row, another in another
empty              nothing: null, an empty text, or no value at all
"""


class ColumnRecord(Record):
    """A column of a test set."""

    name: str
    kind: ColumnKind


def decoded(value: Any) -> Any:
    """The array or object that a text encodes; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return raw_value(value)
    except (ValueError, RecursionError):
        return value


def chat_of(value: Any) -> list[dict[str, Any]] | None:
    """The messages of a cell that holds a chat, as they are or as a text; None if it holds none."""
    found = decoded(value)
    if not isinstance(found, list) or not found:
        return None
    items = cast("list[dict[str, Any]]", found)
    return items if all(is_message(item) for item in items) else None


def kind_of(value: Any) -> ColumnKind:
    """What one value is."""
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
    """The columns of rows that come one after the other, in the order of their appearance."""

    def __init__(self, known: Iterable[ColumnRecord] = ()) -> None:
        self._kinds: dict[str, ColumnKind] = {column.name: column.kind for column in known}

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row into account."""
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
