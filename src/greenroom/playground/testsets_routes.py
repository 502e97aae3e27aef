"""Test sets: rows of inputs and expected outputs, in versions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.test_sets import (
    Format,
    add_rows,
    column_roles,
    format_rows,
    known_columns,
    uploaded_rows,
)
from greenroom.evaluation.test_sets.files import format_of
from greenroom.playground.paging import After, Limit, Page, cursor, key_of, page_of
from greenroom.playground.state import InPlayground
from greenroom.playground.testset_models import (
    AddedRow,
    DifferenceCounts,
    JsonCell,
    JsonRow,
    RestoreRequest,
    RowPreview,
    RowPreviewRequest,
    RowRequest,
    Saved,
    TestSet,
    TestSetChange,
    TestSetDifference,
    TestSetDifferences,
    TestSetRow,
    TestSetRows,
    changes_of,
    row_of,
    shown_test_set,
)
from greenroom.playground.testset_rows import source_note, source_row
from greenroom.store import ColumnKind, Store, TestSetVersion
from greenroom.store.test_set_differences import (
    RowDifference,
    cell_differences,
    row_differences,
)
from greenroom.store.test_set_edits import Edit, InsertRow, SetCell, edit_test_set, restore_test_set
from greenroom.store.test_set_search import RowFilter, find_rows
from greenroom.store.test_sets import check_name
from greenroom.util.raw_json import raw_value

router = APIRouter()

_IN_MEMORY = 8 << 20
_PIECE = 1 << 16
_MEDIA = {"csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl"}

Version = Annotated[int | None, Query(description="A version's number; without it, the latest.")]


async def _content(request: Request) -> bytes:
    """The body as it is, whatever type it is said to be."""
    return await request.body()


@router.get("/test-sets")
def list_test_sets(
    playground: InPlayground,
    q: Annotated[str, Query(description="Part of the name.")] = "",
    after: After = None,
    limit: Limit = 50,
) -> Page[TestSet]:
    """The latest version of each test set, by name."""
    key = key_of(after, 1)
    found = playground.store.test_sets.page(
        after=str(key[0]) if key else "", limit=limit + 1, text=q
    )
    return page_of([shown_test_set(one) for one in found], limit, lambda one: [one.name])


@router.post(
    "/test-sets/import",
    openapi_extra={
        "requestBody": {
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
            "required": True,
        }
    },
)
def import_test_set(
    playground: InPlayground,
    content: Annotated[bytes, Depends(_content)],
    file: Annotated[str, Query(description="The name of the file.")],
    name: Annotated[str, Query(description="The test set's name; by default the file's.")] = "",
    form: Annotated[
        Format | None, Query(alias="format", description="Where the file's name does not tell.")
    ] = None,
    note: str = "",
) -> Saved:
    """Make the rows of a file a test set, or a new version of it: all of them or none."""
    path = PurePath(file)
    rows = uploaded_rows(content, form or _told_format(path), path.name)
    version, is_new = playground.store.test_sets.save(name or path.stem, rows, note=note)
    return Saved(test_set=shown_test_set(version), is_new=is_new)


@router.post("/test-sets/preview")
def preview_row(playground: InPlayground, wanted: RowPreviewRequest) -> RowPreview:
    """The row that would be added to a test set."""
    store = playground.store
    check_name(wanted.test_set)
    row = source_row(store, wanted.test_set, wanted.source)
    known = known_columns(store, wanted.test_set)
    expected = column_roles(list(dict.fromkeys([*known, *row]))).expected
    position = store.test_sets.find(wanted.test_set).row_count if known else 0
    return RowPreview(exists=bool(known), row=row_of(position, row), expected=expected)


@router.get("/test-sets/{name:path}/versions")
def list_test_set_versions(
    playground: InPlayground, name: str, after: After = None, limit: Limit = 50
) -> Page[TestSet]:
    """The versions of a test set, the newest first."""
    key = key_of(after, 1)
    before = _number(key[0]) if key else None
    found = playground.store.test_sets.versions(name, before=before, limit=limit + 1)
    return page_of([shown_test_set(one) for one in found], limit, lambda one: [one.version])


@router.get("/test-sets/{name:path}/rows/{position}")
def get_test_set_row(
    playground: InPlayground, name: str, position: int, version: Version = None
) -> TestSetRow:
    """A row with whole cells."""
    found = playground.store.test_sets.find(name, version)
    return row_of(position, _row(playground.store, found, position), whole=True)


@router.get("/test-sets/{name:path}/rows")
def list_test_set_rows(
    playground: InPlayground,
    name: str,
    version: Version = None,
    q: Annotated[str, Query(description="Part of a value.")] = "",
    column: Annotated[str | None, Query(description="Look only into this column.")] = None,
    kind: Annotated[ColumnKind | None, Query(description="The kind of a value.")] = None,
    start: Annotated[int, Query(ge=0, description="The first row, from 0.")] = 0,
    after: After = None,
    limit: Limit = 100,
) -> TestSetRows:
    """The rows of a version in their order, from a row on; those that a filter finds."""
    store = playground.store
    found = store.test_sets.find(name, version)
    key = key_of(after, 1)
    wanted = RowFilter(q, column, kind) if q or column is not None or kind is not None else None
    page = find_rows(
        store.engine,
        found,
        start=_number(key[0]) if key else min(start, found.row_count),
        limit=limit,
        wanted=wanted,
    )
    return TestSetRows(
        items=[row_of(position, row) for position, row in page.rows],
        next=None if page.next is None else cursor(page.next),
        version=found.version,
        row_count=found.row_count,
    )


@router.post("/test-sets/{name:path}/rows")
def add_test_set_row(playground: InPlayground, name: str, wanted: RowRequest) -> AddedRow:
    """Add a row at the end of a test set, which is created if there is none of that name."""
    store = playground.store
    check_name(name)
    row = source_row(store, name, wanted.source)
    note = wanted.note or source_note(store, wanted.source)
    version = add_rows(store, name, [row], note=note)
    return AddedRow(test_set=shown_test_set(version), position=version.row_count - 1)


@router.patch("/test-sets/{name:path}")
def change_test_set(playground: InPlayground, name: str, change: TestSetChange) -> Saved:
    """Save edits as a new version; 409 if somebody else has saved one since the base version."""
    version, is_new = edit_test_set(
        playground.store.test_sets,
        name,
        [_edit(one) for one in change.edits],
        base_version=change.base_version,
        note=change.note,
    )
    return Saved(test_set=shown_test_set(version), is_new=is_new)


@router.post("/test-sets/{name:path}/restore")
def restore_test_set_version(playground: InPlayground, name: str, wanted: RestoreRequest) -> Saved:
    """Make the rows of an older version the latest again, as a new version."""
    version, is_new = restore_test_set(
        playground.store.test_sets,
        name,
        wanted.version,
        base_version=wanted.base_version,
        note=wanted.note,
    )
    return Saved(test_set=shown_test_set(version), is_new=is_new)


@router.get("/test-sets/{name:path}/differences")
def list_test_set_differences(
    playground: InPlayground,
    name: str,
    before: Annotated[int, Query(alias="from", description="The first version.")],
    to: Annotated[int, Query(description="The second version.")],
    after: After = None,
    limit: Limit = 50,
) -> TestSetDifferences:
    """The rows in which two versions differ, cell by cell."""
    store = playground.store
    first, second = store.test_sets.find(name, before), store.test_sets.find(name, to)
    found = row_differences(store.engine, first, second)
    key = key_of(after, 1)
    start = _number(key[0]) if key else 0
    shown = found[start : start + limit]
    return TestSetDifferences(
        items=[_difference(store, first, second, one) for one in shown],
        next=cursor(start + limit) if start + limit < len(found) else None,
        before=shown_test_set(first),
        after=shown_test_set(second),
        counts=DifferenceCounts(**Counter(one.kind for one in found)),
    )


@router.get(
    "/test-sets/{name:path}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {media: {} for media in _MEDIA.values()}}},
)
def export_test_set(
    playground: InPlayground,
    name: str,
    form: Annotated[Format, Query(alias="format")] = "jsonl",
    version: Version = None,
) -> StreamingResponse:
    """A version as a file."""
    found = playground.store.test_sets.find(name, version)
    columns = [column.name for column in found.columns]
    # A row that the format cannot hold is told before the first byte is sent.
    file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
    try:
        for piece in format_rows(playground.store.test_sets.rows(found), columns, form):
            file.write(piece.encode())
    except BaseException:
        file.close()
        raise
    file.seek(0)
    title = quote(f"{found.name}@{found.version}.{form}", safe="")
    return StreamingResponse(
        _pieces(file),
        media_type=_MEDIA[form],
        headers={"content-disposition": f"attachment; filename*=UTF-8''{title}"},
    )


@router.get("/test-sets/{name:path}")
def get_test_set(playground: InPlayground, name: str, version: Version = None) -> TestSet:
    """A version of a test set."""
    return shown_test_set(playground.store.test_sets.find(name, version))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


def _told_format(path: PurePath) -> Format:
    try:
        return format_of(path)
    except InputError as error:
        raise InputError(
            f"The name '{path.name}' does not tell its format: choose CSV, JSON or JSON Lines."
        ) from error


def _edit(edit: Edit | JsonCell | JsonRow) -> Edit:
    if isinstance(edit, JsonCell):
        value = _json_value(edit.text, f"Row {edit.row + 1}, column '{edit.column}'")
        return SetCell(row=edit.row, column=edit.column, value=value)
    if isinstance(edit, JsonRow):
        cells = {
            column: _json_value(text, f"A new row, column '{column}'")
            for column, text in edit.cells.items()
        }
        return InsertRow(before=edit.before, cells=cells)
    return edit


def _json_value(text: str, where: str) -> Any:
    try:
        return raw_value(text)
    except (ValueError, RecursionError) as error:
        place = (
            f", line {error.lineno}, column {error.colno}: {error.msg}"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        raise InputError(f"{where} is not valid JSON{place}.") from error


def _row(store: Store, version: TestSetVersion, position: int) -> dict[str, Any]:
    if not 0 <= position < version.row_count:
        raise UnknownName("row", str(position + 1), [f"1 to {version.row_count}"])
    return next(store.test_sets.rows(version, start=position, limit=1))


def _difference(
    store: Store, first: TestSetVersion, second: TestSetVersion, one: RowDifference
) -> TestSetDifference:
    before = {} if one.before is None else _row(store, first, one.before)
    after = {} if one.after is None else _row(store, second, one.after)
    if one.kind == "moved":
        before = {}  # the same as after
    return TestSetDifference(
        kind=one.kind,
        before=one.before,
        after=one.after,
        cells=changes_of(cell_differences(before, after)),
    )


def _number(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise InputError("`after` is no cursor of this list: use the `next` of a page before.")
    return value
