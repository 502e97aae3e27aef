"""Rows of JSON and JSON Lines files: values keep their types, and large numbers their digits."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, cast

from greenroom.errors import DataError
from greenroom.util.raw_json import raw_text

_ROWS = "rows"
_BLANKS = " \t\n\r"


Rows = Generator[dict[str, Any], None, int]
"""Yields rows; returns the place after them."""


class _NotKept(ValueError):
    """JSON that Python reads but cannot write back unchanged."""


def read_json(text: str, source: str) -> Iterator[dict[str, Any]]:
    """The rows of an array of objects, or of the array named "rows" of an object."""
    document = _Document(text, source)
    start = document.skip(0)
    if start == len(text):
        raise DataError(f"{source} is empty: it has to hold an array of objects.")
    if text[start] == "[":
        end = yield from document.rows(start)
    elif text[start] == "{":
        end = yield from document.rows_within(start)
    else:
        raise document.error(start, 'a test set is an array of objects, or {"rows": [...]}')
    end = document.skip(end)
    if end < len(text):
        raise document.error(end, "there is text after the end of the JSON")


def read_jsonl(lines: Iterable[str], source: str) -> Iterator[dict[str, Any]]:
    """The rows of a file with one object per line; empty lines do not count."""
    for number, line in enumerate(lines, start=1):
        document = _Document(line, source, first_line=number)
        start = document.skip(0)
        if start == len(line):
            continue
        row, end = document.row(start)
        end = document.skip(end)
        if end < len(line):
            raise document.error(end, "there is text after the end of the row")
        yield row


def write_json(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """An array with one object per line, in pieces."""
    separator = "[\n"
    for row in rows:
        yield f"{separator}{raw_text(row)}"
        separator = ",\n"
    yield "\n]\n" if separator == ",\n" else "[]\n"


def write_jsonl(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One object per line, in pieces."""
    for row in rows:
        yield f"{raw_text(row)}\n"


class _Document:
    """Reads a text value by value, so that errors have a line and column."""

    def __init__(self, text: str, source: str, first_line: int = 1) -> None:
        self._text = text
        self._source = source
        self._first_line = first_line

    def skip(self, place: int) -> int:
        """The place of the next character that is not blank."""
        text = self._text
        while place < len(text) and text[place] in _BLANKS:
            place += 1
        return place

    def error(self, place: int, words: str) -> DataError:
        """An error at a place."""
        before = self._text[:place]
        line = self._first_line + before.count("\n")
        column = place - before.rfind("\n")
        return DataError(f"{self._source}, line {line}, column {column}: {words}.")

    def value(self, place: int) -> tuple[Any, int]:
        """The value at a place, and where it ends."""
        try:
            return _DECODER.raw_decode(self._text, place)
        except json.JSONDecodeError as error:
            raise self.error(error.pos, f"this is not valid JSON: {error.msg}") from error
        except RecursionError as error:
            raise self.error(place, "the value is nested too deeply") from error
        except ValueError as error:
            raise self.error(place, f"in the value that begins here, {error}") from error

    def row(self, place: int) -> tuple[dict[str, Any], int]:
        """The row at a place, and where it ends."""
        value, end = self.value(place)
        if not isinstance(value, dict):
            raise self.error(place, "a row is an object with the names of columns as its keys")
        row = cast("dict[str, Any]", value)
        if not row or "" in row:
            raise self.error(place, "a row needs a column, and every column a name")
        return row, end

    def rows(self, place: int) -> Rows:
        """The rows of the array at a place; returns where it ends."""
        place = self.skip(place + 1)
        if self._text[place : place + 1] == "]":
            return place + 1
        while True:
            row, place = self.row(place)
            yield row
            place = self._behind_item(place, "]")
            if self._text[place] == "]":
                return place + 1
            place = self.skip(place + 1)

    def rows_within(self, place: int) -> Rows:
        """The rows of the array named "rows" of the object at a place; returns where it ends."""
        opened, found = place, False
        place = self.skip(place + 1)
        closed = self._text[place : place + 1] == "}"
        while not closed:
            key, place = self._key(place)
            if key == _ROWS and not found and self._text[place : place + 1] == "[":
                found = True
                place = yield from self.rows(place)
            else:
                _, place = self.value(place)
            place = self._behind_item(place, "}")
            closed = self._text[place] == "}"
            if not closed:
                place = self.skip(place + 1)
        if not found:
            raise self.error(opened, 'the object has no array named "rows"')
        return place + 1

    def _key(self, place: int) -> tuple[str, int]:
        """The key at a place, and where its value begins."""
        if self._text[place : place + 1] != '"':
            raise self.error(place, "a key in quotes is expected here")
        key, behind = self.value(place)
        behind = self.skip(behind)
        if self._text[behind : behind + 1] != ":":
            raise self.error(behind, "a colon is expected here")
        return str(key), self.skip(behind + 1)

    def _behind_item(self, place: int, closing: str) -> int:
        place = self.skip(place)
        if self._text[place : place + 1] not in (",", closing):
            raise self.error(place, f"a comma or {closing} is expected here")
        return place


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _NotKept(f"the key '{twice}' occurs twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotKept(f"the number {text} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise _NotKept(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant
)
