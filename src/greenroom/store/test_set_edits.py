"""Edits of test sets: cells, rows and columns of one version become the next version.

Edits name rows by their position and columns by their name in the version that they are made in,
whatever other edits are made with them. Edits of columns come last, and hold for inserted rows too.

A row is stored at its position. So a changed cell stores one row. A row that is inserted, deleted
or moved shifts those behind it, and each shifted row is stored once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from greenroom.errors import InputError, UnknownName
from greenroom.store.evaluation_records import TestSetVersion
from greenroom.store.test_set_writer import Row
from greenroom.store.test_sets import TestSets

MOST_EDITS = 5_000
"""How many edits one version takes."""


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SetCell(_Edit):
    """Give a cell a value."""

    kind: Literal["set"] = "set"
    row: int
    column: str = Field(min_length=1)
    value: Any = None


class ClearCell(_Edit):
    """Take a cell out of its row, which then has no value in this column."""

    kind: Literal["clear"] = "clear"
    row: int
    column: str


class InsertRow(_Edit):
    """Insert a row before another; before the number of rows is at the end."""

    kind: Literal["insert"] = "insert"
    before: int
    cells: dict[str, Any]


class DeleteRow(_Edit):
    """Delete a row."""

    kind: Literal["delete"] = "delete"
    row: int


class MoveRow(_Edit):
    """Move a row before another; before the number of rows is to the end."""

    kind: Literal["move"] = "move"
    row: int
    before: int


class CopyRow(_Edit):
    """Insert a copy of a row, as it is before these edits, before another."""

    kind: Literal["copy"] = "copy"
    row: int
    before: int


class RenameColumn(_Edit):
    """Rename a column in every row."""

    kind: Literal["rename_column"] = "rename_column"
    column: str
    name: str = Field(min_length=1)


class AddColumn(_Edit):
    """Add a column with one value to every row that has none."""

    kind: Literal["add_column"] = "add_column"
    name: str = Field(min_length=1)
    value: Any = ""


class DeleteColumn(_Edit):
    """Delete a column from every row."""

    kind: Literal["delete_column"] = "delete_column"
    column: str


ColumnEdit = RenameColumn | AddColumn | DeleteColumn
Edit = Annotated[
    SetCell | ClearCell | InsertRow | DeleteRow | MoveRow | CopyRow | ColumnEdit,
    Field(discriminator="kind"),
]


def edit_test_set(
    test_sets: TestSets, name: str, edits: Sequence[Edit], *, base_version: int, note: str = ""
) -> tuple[TestSetVersion, bool]:
    """Save edits of the base version as the next; return it, and whether anything changed.

    Raise Conflict if somebody else has saved a version since.
    """
    if len(edits) > MOST_EDITS:
        raise InputError(f"One version takes {MOST_EDITS:,} edits: save them in parts.")
    return test_sets.change(
        name,
        lambda version: edited_rows(test_sets, version, edits),
        base_version=base_version,
        note=note or described(edits),
    )


def restore_test_set(
    test_sets: TestSets, name: str, version: int, *, base_version: int, note: str = ""
) -> tuple[TestSetVersion, bool]:
    """Make the rows of an older version the latest again, as a new version."""
    older = test_sets.find(name, version)
    return test_sets.change(
        name,
        lambda _: test_sets.rows(older),
        base_version=base_version,
        note=note or f"version {version} again",
    )


def edited_rows(
    test_sets: TestSets, version: TestSetVersion, edits: Sequence[Edit]
) -> Iterator[Row]:
    """The rows of a version after edits, one by one."""
    plan = _plan(test_sets, version, edits)
    columns = {column.name for column in version.columns}
    columns |= {name for cells in plan.cells.values() for name in cells}
    columns |= {name for rows in plan.before.values() for row in rows for name in row}
    for edit in plan.columns:
        _check_column(edit, columns)
    for position, row in enumerate(test_sets.rows(version)):
        for inserted in plan.before.get(position, ()):
            yield plan.finished(inserted)
        if position not in plan.gone:
            yield plan.finished(plan.changed(position, row))
    for inserted in plan.before.get(version.row_count, ()):
        yield plan.finished(inserted)


def described(edits: Sequence[Edit]) -> str:
    """Edits in words, such as "2 cells changed, 1 row deleted"."""
    done = {
        "cell changed": len(
            {(edit.row, edit.column) for edit in edits if isinstance(edit, SetCell | ClearCell)}
        )
    }
    done |= {
        f"{noun} {verb}": sum(isinstance(edit, kind) for edit in edits)
        for kind, noun, verb in (
            (InsertRow, "row", "inserted"),
            (CopyRow, "row", "copied"),
            (DeleteRow, "row", "deleted"),
            (MoveRow, "row", "moved"),
            (AddColumn, "column", "added"),
            (RenameColumn, "column", "renamed"),
            (DeleteColumn, "column", "deleted"),
        )
    }
    return ", ".join(
        f"{number} {words if number == 1 else words.replace(' ', 's ', 1)}"
        for words, number in done.items()
        if number
    )


_GONE = object()


@dataclass
class _Plan:
    cells: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    before: dict[int, list[Row]] = field(default_factory=dict[int, list[Row]])
    gone: set[int] = field(default_factory=set[int])
    """Rows that are deleted or moved."""
    columns: list[ColumnEdit] = field(default_factory=list[ColumnEdit])

    def changed(self, position: int, row: Row) -> Row:
        cells = self.cells.get(position)
        if not cells:
            return row
        return {name: value for name, value in {**row, **cells}.items() if value is not _GONE}

    def finished(self, row: Row) -> Row:
        for edit in self.columns:
            row = _with_column(row, edit)
        return row


def _plan(test_sets: TestSets, version: TestSetVersion, edits: Sequence[Edit]) -> _Plan:
    plan = _Plan()
    for edit in edits:
        if isinstance(edit, SetCell | ClearCell | DeleteRow | CopyRow):
            _check_row(version, edit.row)
        if isinstance(edit, SetCell | ClearCell):
            value = edit.value if isinstance(edit, SetCell) else _GONE
            plan.cells.setdefault(edit.row, {})[edit.column] = value
        elif isinstance(edit, DeleteRow):
            plan.gone.add(edit.row)
        elif isinstance(edit, ColumnEdit):
            plan.columns.append(edit)
    deleted = frozenset(plan.gone)
    # Rows that move take the changes of their cells along, wherever those stand in the list.
    for edit in edits:
        if isinstance(edit, InsertRow):
            _place(plan, version, edit.before, edit.cells)
        elif isinstance(edit, CopyRow):
            _place(plan, version, edit.before, _row_at(test_sets, version, edit.row))
        elif isinstance(edit, MoveRow) and edit.row not in deleted:
            _move(plan, test_sets, version, edit)
    return plan


def _place(plan: _Plan, version: TestSetVersion, before: int, row: Row) -> None:
    if not 0 <= before <= version.row_count:
        raise _no_row(version, before)
    plan.before.setdefault(before, []).append(row)


def _move(plan: _Plan, test_sets: TestSets, version: TestSetVersion, edit: MoveRow) -> None:
    _check_row(version, edit.row)
    if edit.row in plan.gone:
        raise InputError(f"Row {edit.row + 1} is moved twice: move it once.")
    plan.gone.add(edit.row)
    moved = _row_at(test_sets, version, edit.row)
    _place(plan, version, edit.before, plan.changed(edit.row, moved))


def _row_at(test_sets: TestSets, version: TestSetVersion, position: int) -> Row:
    return next(test_sets.rows(version, start=position, limit=1))


def _with_column(row: Row, edit: ColumnEdit) -> Row:
    match edit:
        case AddColumn():
            return row if edit.name in row else {**row, edit.name: edit.value}
        case DeleteColumn():
            return _without(row, edit.column)
        case RenameColumn():
            if edit.column not in row:
                return row
            return {edit.name if name == edit.column else name: row[name] for name in row}


def _without(row: Mapping[str, Any], column: str) -> Row:
    return {name: value for name, value in row.items() if name != column}


def _check_row(version: TestSetVersion, row: int) -> None:
    if not 0 <= row < version.row_count:
        raise _no_row(version, row)


def _no_row(version: TestSetVersion, row: int) -> InputError:
    return InputError(f"{version} has no row {row + 1}: it has {version.row_count}.")


def _check_column(edit: ColumnEdit, columns: set[str]) -> None:
    """Raise InputError for an edit that does not fit; else note what columns there are then."""
    if isinstance(edit, AddColumn):
        columns.add(edit.name)
        return
    if edit.column not in columns:
        raise UnknownName("column", edit.column, columns)
    columns.remove(edit.column)
    if isinstance(edit, RenameColumn):
        if edit.name in columns:
            raise InputError(f"There is a column '{edit.name}' already: choose another name.")
        columns.add(edit.name)
