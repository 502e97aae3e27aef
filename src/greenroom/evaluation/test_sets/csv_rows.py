"""Rows of a CSV file: every cell stays text.

Cells are separated by commas, or by semicolons or tabs if the heading is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from greenroom.errors import DataError, InputError
from greenroom.util.raw_json import raw_text

_LARGEST_CELL = 2**30
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}
_BYTE_ORDER_MARK = "\ufeff"


def read_csv(lines: Iterable[str], source: str) -> Iterator[dict[str, Any]]:
    """Read the rows after the heading; errors name the line and the column."""
    # Python's default limit is 128 KiB; a conversation may be longer.
    csv.field_size_limit(_LARGEST_CELL)
    record: list[str] = []
    rest, head = iter(lines), list[str]()
    while not head or not head[-1].strip("\r\n"):
        if (line_read := next(rest, None)) is None:
            break
        head.append(line_read)
    mark = _delimiter(head[-1] if head else "")
    reader = csv.reader(_noted(chain(head, rest), record), strict=True, delimiter=mark)
    columns: list[str] | None = None
    while True:
        record.clear()
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _trouble("".join(record), line, source, error, mark) from error
        if cells is None:
            break
        if not cells:  # an empty line
            continue
        if columns is None:
            columns = _checked_heading(cells, line, source)
        else:
            yield _row(columns, cells, line, source, mark)
    if columns is None:
        raise DataError(f"{source} is empty: its first line has to name the columns.")


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """A CSV file in pieces. Values other than text become JSON; a missing value is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    in_quotes = csv.writer(buffer, lineterminator="\r\n", quoting=csv.QUOTE_ALL)

    def line(cells: Sequence[str], writer: Any = writer) -> str:
        writer.writerow(cells)
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    heading = line(columns)
    if _delimiter(next(io.StringIO(heading, newline=""), "")) != ",":
        heading = line(columns, in_quotes)  # then commas alone divide it, for every reader
    # Readers drop a byte order mark at the beginning. Double it to keep the column's name.
    yield _BYTE_ORDER_MARK + heading if heading.startswith(_BYTE_ORDER_MARK) else heading
    for number, row in enumerate(rows, start=1):
        yield line([_cell(row, name, number) for name in columns])


def _cell(row: Mapping[str, Any], name: str, number: int) -> str:
    if name not in row:
        return ""
    value = row[name]
    if not isinstance(value, str):
        return raw_text(value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Row {number}, column '{name}' has half a surrogate pair, which CSV cannot store: "
            "export the test set as JSON or JSONL."
        ) from error
    return value


def _checked_heading(cells: list[str], line: int, source: str) -> list[str]:
    for number, name in enumerate(cells, start=1):
        if not name:
            raise DataError(f"{source}, line {line}: column {number} has no name.")
        if name in cells[: number - 1]:
            raise DataError(
                f"{source}, line {line}: the columns {cells.index(name) + 1} and {number} are both "
                f"named '{name}'. Give each a name of its own."
            )
    return cells


def _row(columns: list[str], cells: list[str], line: int, source: str, mark: str) -> dict[str, Any]:
    if len(cells) < len(columns):
        raise DataError(
            f"{source}, line {line}: there are {len(cells)} cells for {len(columns)} columns; "
            f"column {len(cells) + 1} ('{columns[len(cells)]}') has no value."
        )
    if len(cells) > len(columns):
        raise DataError(
            f"{source}, line {line}: there are {len(cells)} cells for {len(columns)} columns; cell "
            f"{len(columns) + 1} belongs to none. Put a cell with a {_MARKS[mark]} in it in quotes."
        )
    return dict(zip(columns, cells, strict=True))


def _delimiter(heading: str) -> str:
    """What separates cells: a comma, unless only semicolons or tabs divide the heading."""
    for mark in _MARKS:
        try:
            if len(next(csv.reader([heading], strict=True, delimiter=mark), list[str]())) > 1:
                return mark
        except csv.Error:
            continue
    return ","


def _noted(lines: Iterable[str], record: list[str]) -> Iterator[str]:
    for line in lines:
        record.append(line)
        yield line


def _trouble(record: str, line: int, source: str, error: csv.Error, mark: str) -> DataError:
    found = _quote_trouble(record, mark)
    if found is None:
        return DataError(f"{source}, line {line}: {error}.")
    place, words = found
    before = record[:place]
    line += before.count("\n")
    column = place - before.rfind("\n")
    return DataError(f"{source}, line {line}, column {column}: {words}.")


def _quote_trouble(record: str, mark: str) -> tuple[int, str] | None:
    """The place and description of a quoting error in a record."""
    place, ends = 0, (mark, "\r", "\n", "")
    while place < len(record):
        if record[place] == '"':
            opened = place
            place = _closing_quote(record, opened)
            if place < 0:
                return opened, "the quote that opens here is never closed"
            place += 1
            if record[place : place + 1] not in ends:
                return place, (
                    "the cell has ended with the quote before, and text follows. A quote within a "
                    "cell is written twice"
                )
        else:
            while record[place : place + 1] not in ends:
                place += 1
        place += 1
    return None


def _closing_quote(record: str, opened: int) -> int:
    place = record.find('"', opened + 1)
    while place >= 0 and record[place + 1 : place + 2] == '"':
        place = record.find('"', place + 2)
    return place
