from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from greenroom.errors import Conflict, InputError, UnknownName
from greenroom.store import Store, TestSetVersion, open_store
from greenroom.store.test_set_differences import (
    RowDifference,
    cell_differences,
    row_differences,
)
from greenroom.store.test_set_edits import (
    AddColumn,
    ClearCell,
    CopyRow,
    DeleteColumn,
    DeleteRow,
    Edit,
    InsertRow,
    MoveRow,
    RenameColumn,
    SetCell,
    described,
    edit_test_set,
    restore_test_set,
)

ROWS = [{"n": 0, "expected": "a"}, {"n": 1}, {"n": 2, "expected": "c"}, {"n": 3}]


def contents(store: Store, version: TestSetVersion) -> list[dict[str, Any]]:
    return list(store.test_sets.rows(version))


def kept_rows(store: Store) -> int:
    with store.engine.connect() as connection:
        return connection.execute(text("SELECT count(*) FROM test_set_rows")).scalar_one()


def edited(store: Store, *edits: Edit, base: int = 1) -> list[dict[str, Any]]:
    version, _ = edit_test_set(store.test_sets, "numbers", edits, base_version=base)
    return contents(store, version)


@pytest.fixture
def numbers(store: Store) -> Store:
    store.test_sets.save("numbers", ROWS)
    return store


def test_a_changed_cell_stores_one_row(numbers: Store) -> None:
    assert edited(numbers, SetCell(row=1, column="expected", value=["b"])) == [
        ROWS[0],
        {"n": 1, "expected": ["b"]},
        *ROWS[2:],
    ]
    assert kept_rows(numbers) == 5
    latest = numbers.test_sets.find("numbers")
    assert (latest.version, latest.note) == (2, "1 cell changed")
    assert {column.name: column.kind for column in latest.columns} == {
        "n": "number",
        "expected": "mixed",
    }


def test_edits_name_rows_as_they_were(numbers: Store) -> None:
    found = edited(
        numbers,
        DeleteRow(row=0),
        InsertRow(before=2, cells={"n": 1.5}),
        InsertRow(before=4, cells={"n": 9}),
        MoveRow(row=3, before=0),
        SetCell(row=3, column="n", value="three"),
        ClearCell(row=2, column="expected"),
    )
    assert found == [{"n": "three"}, {"n": 1}, {"n": 1.5}, {"n": 2}, {"n": 9}]
    words = "2 cells changed, 2 rows inserted, 1 row deleted, 1 row moved"
    assert numbers.test_sets.find("numbers").note == words


def test_a_row_can_be_copied(numbers: Store) -> None:
    found = edited(
        numbers, CopyRow(row=0, before=4), SetCell(row=0, column="n", value=9), DeleteRow(row=1)
    )
    assert found == [{"n": 9, "expected": "a"}, *ROWS[2:], ROWS[0]]


def test_columns_can_be_added_renamed_and_deleted(numbers: Store) -> None:
    found = edited(
        numbers,
        AddColumn(name="tag", value=None),
        RenameColumn(column="n", name="number"),
        DeleteColumn(column="expected"),
        InsertRow(before=0, cells={"n": -1, "tag": "x"}),
    )
    assert found[:2] == [{"number": -1, "tag": "x"}, {"number": 0, "tag": None}]
    assert list(found[1]) == ["number", "tag"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (SetCell(row=4, column="n"), "numbers@1 has no row 5: it has 4"),
        (DeleteRow(row=-1), "no row 0"),
        (InsertRow(before=5, cells={"n": 1}), "no row 6"),
        (InsertRow(before=0, cells={}), "Row 1 is empty"),
        (MoveRow(row=9, before=0), "no row 10"),
        (CopyRow(row=4, before=0), "no row 5"),
        (RenameColumn(column="m", name="x"), "Unknown column 'm'"),
        (RenameColumn(column="n", name="expected"), "a column 'expected' already"),
        (DeleteColumn(column="n"), "Row 2 is empty"),
    ],
)
def test_edits_that_do_not_fit_change_nothing(numbers: Store, edit: Edit, words: str) -> None:
    with pytest.raises(InputError, match=words):
        edited(numbers, SetCell(row=0, column="n", value=7), edit)
    assert numbers.test_sets.find("numbers").version == 1
    assert contents(numbers, numbers.test_sets.find("numbers")) == ROWS
    assert kept_rows(numbers) == 4


def test_all_rows_cannot_be_deleted(numbers: Store) -> None:
    with pytest.raises(InputError, match="no rows"):
        edited(numbers, *(DeleteRow(row=number) for number in range(4)))


def test_an_edit_of_an_older_version_is_a_conflict(numbers: Store) -> None:
    edited(numbers, SetCell(row=0, column="n", value=7))
    with pytest.raises(Conflict, match=r"at version 2 by now.*made in version 1"):
        edited(numbers, SetCell(row=0, column="n", value=8))
    with pytest.raises(UnknownName):
        edit_test_set(numbers.test_sets, "none", [], base_version=1)
    assert contents(numbers, numbers.test_sets.find("numbers"))[0]["n"] == 7


def test_edits_without_effect_make_no_version(numbers: Store) -> None:
    edits = [SetCell(row=0, column="n", value=0), MoveRow(row=2, before=2)]
    version, is_new = edit_test_set(numbers.test_sets, "numbers", edits, base_version=1)
    assert (version.version, is_new) == (1, False)


def test_an_older_version_can_be_restored(numbers: Store) -> None:
    edited(numbers, DeleteRow(row=1))
    version, is_new = restore_test_set(numbers.test_sets, "numbers", 1, base_version=2)
    assert (version.version, version.note, is_new) == (3, "version 1 again", True)
    assert contents(numbers, version) == ROWS
    assert version.content_hash == numbers.test_sets.find("numbers", 1).content_hash
    with pytest.raises(Conflict):
        restore_test_set(numbers.test_sets, "numbers", 2, base_version=2)
    with pytest.raises(InputError, match="no version 9"):
        restore_test_set(numbers.test_sets, "numbers", 9, base_version=3)


def test_too_many_edits_are_refused(numbers: Store) -> None:
    edits = [SetCell(row=0, column="n", value=0)] * 5_001
    with pytest.raises(InputError, match="5,000 edits"):
        edit_test_set(numbers.test_sets, "numbers", edits, base_version=1)


def test_edits_are_described() -> None:
    assert described([]) == ""
    assert described([AddColumn(name="a"), AddColumn(name="b")]) == "2 columns added"


def differences(store: Store, before: int, after: int) -> list[RowDifference]:
    first = store.test_sets.find("numbers", before)
    return row_differences(store.engine, first, store.test_sets.find("numbers", after))


def test_differences_are_aligned_by_content(numbers: Store) -> None:
    edited(
        numbers,
        InsertRow(before=0, cells={"n": -1}),
        SetCell(row=2, column="expected", value="C"),
        DeleteRow(row=1),
    )
    assert differences(numbers, 1, 2) == [
        RowDifference("added", None, 0),
        RowDifference("removed", 1, None),
        RowDifference("changed", 2, 2),
    ]
    assert differences(numbers, 2, 2) == []
    edited(numbers, MoveRow(row=0, before=4), base=2)
    assert differences(numbers, 2, 3) == [RowDifference("moved", 0, 3)]


def test_cells_differ_by_what_is_stored() -> None:
    found = cell_differences({"a": 1, "b": [1], "c": "x"}, {"a": 1.0, "b": [1], "d": None})
    assert [(one.column, one.before, one.after, one.absent) for one in found] == [
        ("a", 1, 1.0, None),
        ("c", "x", None, "after"),
        ("d", None, None, "before"),
    ]


CELLS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), min_size=1)
EDITS = st.one_of(
    st.builds(
        SetCell, row=st.integers(0, 5), column=st.sampled_from("abcd"), value=st.integers(0, 2)
    ),
    st.builds(InsertRow, before=st.integers(0, 6), cells=CELLS),
    st.builds(DeleteRow, row=st.integers(0, 5)),
    st.builds(MoveRow, row=st.integers(0, 5), before=st.integers(0, 6)),
)


def patched(
    before: list[dict[str, Any]], after: list[dict[str, Any]], found: list[RowDifference]
) -> list[dict[str, Any]]:
    """What differences make of the rows before: only added rows and changed cells are new."""
    placed: dict[int, dict[str, Any]] = {}
    for one in found:
        if one.after is None:
            continue
        if one.before is None:
            placed[one.after] = after[one.after]
            continue
        row = dict(before[one.before])
        assert (one.kind == "changed") == (row != after[one.after])
        for cell in cell_differences(row, after[one.after]):
            if cell.absent == "after":
                del row[cell.column]
            else:
                row[cell.column] = cell.after
        placed[one.after] = row
    touched = {one.before for one in found}
    rest = iter([row for number, row in enumerate(before) if number not in touched])
    return [placed[number] if number in placed else next(rest) for number in range(len(after))]


@settings(max_examples=min(80, settings().max_examples))
@given(st.lists(CELLS, min_size=6, max_size=9), st.lists(EDITS, max_size=6))
def test_differences_lead_from_one_version_to_the_other(
    rows: list[dict[str, Any]], edits: list[Edit]
) -> None:
    moved = [edit.row for edit in edits if isinstance(edit, MoveRow)]
    if len(moved) > len(set(moved)):
        return
    store = open_store()
    try:
        base, _ = store.test_sets.save("numbers", rows)
        changed, is_new = edit_test_set(store.test_sets, "numbers", edits, base_version=1)
        after = contents(store, changed)
        found = row_differences(store.engine, base, changed)
        assert bool(found) == is_new == (rows != after)
        assert patched(rows, after, found) == after
        back = row_differences(store.engine, changed, base)
        assert patched(after, rows, back) == rows
        restored, _ = restore_test_set(store.test_sets, "numbers", 1, base_version=changed.version)
        assert contents(store, restored) == rows
        assert row_differences(store.engine, base, restored) == []
        store.test_sets.delete("numbers")
    finally:
        store.close()
