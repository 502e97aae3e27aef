"""What the pages read and send of test sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from greenroom.evaluation.test_sets import EVALUATORS_COLUMN, column_roles
from greenroom.playground.paging import Page
from greenroom.store import ColumnKind, TestSetVersion, chat_of, kind_of
from greenroom.store.test_set_differences import CellDifference, DifferenceKind
from greenroom.store.test_set_edits import Edit
from greenroom.util.characters import writable
from greenroom.util.raw_json import raw_text

_LONGEST_CELL = 1_000
_LONGEST_ROW = 8_000
_SHORTEST_CELL = 100

ColumnRole = Literal["input", "expected", "evaluators"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TestSetColumn(BaseModel):
    """A column: what it holds, and what it is used as."""

    __test__ = False

    name: str
    kind: ColumnKind
    role: ColumnRole | None


class TestSet(BaseModel):
    """A version of a test set."""

    __test__ = False

    id: str
    name: str
    version: int
    created_at: datetime
    note: str
    columns: list[TestSetColumn]
    row_count: int
    content_hash: str


class Cell(BaseModel):
    """A value of a row, as text."""

    kind: ColumnKind
    text: str
    """A text as it is; any other value as JSON."""
    is_text: bool
    cut: bool = False
    """`text` is only the beginning."""
    size: int
    """Characters of the whole text."""
    messages: int | None = None
    """How many messages a chat has."""


class TestSetRow(BaseModel):
    """A row of a test set."""

    __test__ = False

    position: int
    """From 0."""
    cells: dict[str, Cell]


class TestSetRows(Page[TestSetRow]):
    """Some rows of a version. A page may have fewer than asked for, though others follow."""

    __test__ = False

    version: int
    row_count: int
    """How many rows the version has in all."""


class JsonCell(_Request):
    """Give a cell a value that is told as JSON text, so that every digit of a number is kept."""

    kind: Literal["set_json"]
    row: int
    column: str = Field(min_length=1)
    text: str


class JsonRow(_Request):
    """Insert a row whose values are told as JSON texts, so that every digit of a number is kept."""

    kind: Literal["insert_json"]
    before: int
    cells: dict[str, str]


class TestSetChange(_Request):
    """Edits of a version; they name rows and columns as they are in that version."""

    __test__ = False

    base_version: int
    edits: list[Annotated[Edit | JsonCell | JsonRow, Field(discriminator="kind")]]
    note: str = Field(default="", max_length=2_000)


class RestoreRequest(_Request):
    """An older version that is to be the latest again."""

    version: int
    base_version: int
    """The latest version, as far as the page knows."""
    note: str = Field(default="", max_length=2_000)


class Saved(BaseModel):
    """The latest version, and whether it is new."""

    test_set: TestSet
    is_new: bool


class CellChange(BaseModel):
    """A cell before and after; null on a side without it."""

    column: str
    before: Cell | None
    after: Cell | None


class TestSetDifference(BaseModel):
    """A row that differs, with the cells that do; rows added or removed have all their cells."""

    __test__ = False

    kind: DifferenceKind
    before: int | None
    """Its position in the first version."""
    after: int | None
    """Its position in the second version."""
    cells: list[CellChange]


class DifferenceCounts(BaseModel):
    """How many rows differ, by kind."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0


class TestSetDifferences(Page[TestSetDifference]):
    """Some differences of two versions, in the order of the second."""

    __test__ = False

    before: TestSet
    after: TestSet
    counts: DifferenceCounts


class ValuesSource(_Request):
    """Inputs and the output that they led to."""

    kind: Literal["values"]
    inputs: dict[str, Any]
    outputs: Any


class TurnSource(_Request):
    """A turn of a thread: what was sent, and what was answered."""

    kind: Literal["turn"]
    thread_id: str
    turn_id: str


class EpisodeSource(_Request):
    """A turn of an episode, from 1; without it, the last one."""

    kind: Literal["episode"]
    run: str
    task: int
    trial: int
    turn: int | None = None


class ResultSource(_Request):
    """A row of an evaluation with the output that it led to."""

    kind: Literal["result"]
    evaluation: str
    row: int
    repeat: int = 0


class CellsSource(_Request):
    """A row as it is."""

    kind: Literal["cells"]
    cells: dict[str, Any] = Field(min_length=1)


Source = Annotated[
    ValuesSource | TurnSource | EpisodeSource | ResultSource | CellsSource,
    Field(discriminator="kind"),
]


class RowRequest(_Request):
    """A row to add to a test set."""

    source: Source
    note: str = Field(default="", max_length=2_000)


class RowPreviewRequest(_Request):
    """A row that may be added to a test set."""

    test_set: str
    source: Source


class RowPreview(BaseModel):
    """The row that would be added."""

    exists: bool
    """Whether there is a test set of that name."""
    row: TestSetRow
    expected: str | None
    """The column with the expected output."""


class AddedRow(BaseModel):
    """A row that was added."""

    test_set: TestSet
    position: int


def shown_test_set(version: TestSetVersion) -> TestSet:
    """A version, as the pages read it."""
    roles = column_roles([column.name for column in version.columns])

    def role(name: str) -> ColumnRole | None:
        if name in roles.inputs:
            return "input"
        if name == roles.expected:
            return "expected"
        return "evaluators" if name == EVALUATORS_COLUMN else None

    return TestSet(
        id=version.test_set_id,
        name=version.name,
        version=version.version,
        created_at=version.created_at,
        note=version.note,
        columns=[
            TestSetColumn(name=writable(column.name), kind=column.kind, role=role(column.name))
            for column in version.columns
        ],
        row_count=version.row_count,
        content_hash=version.content_hash,
    )


def row_of(position: int, row: Mapping[str, Any], *, whole: bool = False) -> TestSetRow:
    """A row, as the pages read it; in lists, long cells are cut."""
    longest = max(_SHORTEST_CELL, min(_LONGEST_CELL, _LONGEST_ROW // max(1, len(row))))
    cells = {
        writable(name): cell_of(value, None if whole else longest) for name, value in row.items()
    }
    return TestSetRow(position=position, cells=cells)


def cell_of(value: Any, longest: int | None = _LONGEST_CELL) -> Cell:
    """A value, as the pages read it; without a limit, whole."""
    is_text = isinstance(value, str)
    text = writable(value) if isinstance(value, str) else raw_text(value)
    chat = chat_of(value)
    cut = longest is not None and len(text) > longest
    return Cell(
        kind=kind_of(value),
        text=text[:longest] if cut else text,
        is_text=is_text,
        cut=cut,
        size=len(text),
        messages=None if chat is None else len(chat),
    )


def changes_of(cells: Iterable[CellDifference]) -> list[CellChange]:
    """Cells that differ, as the pages read them."""
    return [
        CellChange(
            column=writable(cell.column),
            before=None if cell.absent == "before" else cell_of(cell.before),
            after=None if cell.absent == "after" else cell_of(cell.after),
        )
        for cell in cells
    ]
