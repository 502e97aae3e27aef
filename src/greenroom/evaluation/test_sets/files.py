"""Test sets as files: read, write, import and export CSV, JSON and JSON Lines without loss."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Literal, TextIO, get_args

from greenroom.errors import DataError, InputError, UnknownName
from greenroom.evaluation.test_sets.csv_rows import read_csv, write_csv
from greenroom.evaluation.test_sets.json_rows import (
    read_json,
    read_jsonl,
    write_json,
    write_jsonl,
)
from greenroom.store import Row, Store, TestSetVersion
from greenroom.store.test_sets import VERSION_MARK
from greenroom.util.files import write_whole

Format = Literal["csv", "json", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)

_ENDINGS: Mapping[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def format_of(path: PurePath, wanted: str | None = None) -> Format:
    """The wanted format, or the one that the file's name implies."""
    if wanted is not None:
        for known in FORMATS:
            if wanted == known:
                return known
        raise UnknownName("format", wanted, FORMATS)
    found = _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"The name '{path.name}' does not tell its format: pass --format csv, json or jsonl."
        )
    return found


def read_rows(path: Path, wanted: str | None = None) -> Iterator[dict[str, Any]]:
    """Read the rows of a file one by one; errors name the line and column."""
    form = format_of(path, wanted)
    with _opened(path, form) as file:
        yield from parse_rows(file, form, str(path))


def parse_rows(lines: Iterable[str], form: Format, source: str) -> Iterator[dict[str, Any]]:
    """Parse the rows of lines, such as an open file; errors name `source`."""
    if form == "csv":
        return read_csv(lines, source)
    if form == "jsonl":
        return read_jsonl(lines, source)
    return read_json("".join(lines), source)


def format_rows(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], form: Format
) -> Iterator[str]:
    """The text of a file with these rows, in pieces."""
    if form == "csv":
        return write_csv(rows, columns)
    return write_json(rows) if form == "json" else write_jsonl(rows)


def import_file(
    store: Store,
    path: Path,
    *,
    name: str | None = None,
    form: str | None = None,
    note: str = "",
) -> tuple[TestSetVersion, bool]:
    """Make a file's rows a test set; return the version, and whether it is new.

    Without a name, the set is named after the file. An error leaves the store unchanged.
    """
    return store.test_sets.save(name or path.stem, read_rows(path, form), note=note)


def uploaded_rows(content: bytes, form: Format, source: str) -> Iterator[dict[str, Any]]:
    """The rows of a file's content; errors name the line."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong_encoding(content, source) from error
    newline = "" if form == "csv" else "\n"
    return parse_rows(io.StringIO(text, newline=newline), form, source)


def add_rows(store: Store, name: str, rows: Iterable[Row], *, note: str = "") -> TestSetVersion:
    """Add rows to a test set and return the new version; create the set if needed."""
    return store.test_sets.add(name, rows, note=note)


def find_version(store: Store, reference: str) -> TestSetVersion:
    """The version that NAME or NAME@VERSION means; without a number, the latest."""
    name, mark, number = reference.rpartition(VERSION_MARK)
    if not mark:
        return store.test_sets.find(reference)
    if not number.isdecimal():
        raise InputError(
            f"A version is a number after {VERSION_MARK}, such as {name or 'NAME'}"
            f"{VERSION_MARK}2, not '{number}'."
        )
    return store.test_sets.find(name, int(number))


def export_file(
    store: Store, version: TestSetVersion, path: Path, *, form: str | None = None
) -> None:
    """Write a version to a file, completely or not at all."""
    columns = [column.name for column in version.columns]
    rows = store.test_sets.rows(version)
    write_whole(path, "".join(format_rows(rows, columns, format_of(path, form))))


@contextmanager
def _opened(path: Path, form: Format) -> Generator[TextIO]:
    # CSV keeps the line ends within its cells; a line of JSON ends only at a line feed.
    newline = "" if form == "csv" else "\n"
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            yield file
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise _wrong_encoding(path.read_bytes(), str(path)) from error


def _wrong_encoding(content: bytes, source: str) -> DataError:
    if content.startswith(_UTF_16):
        return DataError(f"{source} is UTF-16: save it as UTF-8.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8-sig")) + 1
        return DataError(
            f"{source}, line {line}, column {column}: the byte 0x{content[error.start]:02x} is not "
            "UTF-8. Save the file as UTF-8."
        )
    return DataError(f"{source} changed while it was read.")
