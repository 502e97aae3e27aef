"""Test sets between files and the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from greenroom.errors import InputError
from greenroom.evaluation.test_sets.files import format_of, read_rows, written
from greenroom.store import Row, Store, TestSetVersion
from greenroom.store.test_sets import VERSION_MARK
from greenroom.util.files import write_whole


def import_file(
    store: Store, path: Path, *, name: str | None = None, form: str | None = None, note: str = ""
) -> tuple[TestSetVersion, bool]:
    """Make a file's rows a test set: the version that has them, and whether it is a new one.

    Without a name the set is named after the file. Nothing is kept if anything is wrong.
    """
    return store.test_sets.save(name or path.stem, read_rows(path, form), note=note)


def add_rows(store: Store, name: str, rows: Iterable[Row], *, note: str = "") -> TestSetVersion:
    """Add rows to a test set, which is created if there is none of that name: the new version."""
    return store.test_sets.add(name, rows, note=note)


def find_version(store: Store, reference: str) -> TestSetVersion:
    """The version that NAME or NAME@VERSION means; without a number, the latest."""
    name, mark, number = reference.rpartition(VERSION_MARK)
    if not mark:
        return store.test_sets.find(reference)
    if not number.isdecimal():
        raise InputError(
            f"Behind {VERSION_MARK} stands the number of a version, such as {name or 'NAME'}"
            f"{VERSION_MARK}2, not '{number}'."
        )
    return store.test_sets.find(name, int(number))


def export_file(
    store: Store, version: TestSetVersion, path: Path, *, form: str | None = None
) -> None:
    """Write a version to a file, whole or not at all."""
    columns = [column.name for column in version.columns]
    rows = store.test_sets.rows(version)
    write_whole(path, "".join(written(rows, columns, format_of(path, form))))
