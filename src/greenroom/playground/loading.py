"""Test sets on boards: a thread for each row and column, as an evaluation would call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from greenroom.errors import InputError
from greenroom.evaluation.row_calls import Form, RowPlan, plan_rows
from greenroom.playground.board_work import told
from greenroom.playground.conversation import turns_of
from greenroom.playground.thread_models import LoadRequest
from greenroom.store import TestSetVersion
from greenroom.store.history import History
from greenroom.store.thread_records import (
    BoardRecord,
    ColumnRecord,
    Message,
    ThreadRecord,
    TreatAs,
    TurnRecord,
    now_text,
)
from greenroom.store.threads import Place
from greenroom.workflows.calls import MESSAGES, Profile

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

MOST_ROWS = 10_000
MOST_THREADS = 50_000


@dataclass(frozen=True)
class _Column:
    """A column of the board, and how rows become calls of its workflow."""

    record: ColumnRecord
    treat_as: TreatAs | None
    plan: RowPlan


async def load_test_set(playground: Playground, board_id: str, wanted: LoadRequest) -> BoardRecord:
    """Put rows of a test set on a board; threads in which nothing happened yet make room."""
    store = playground.store
    board = await playground.in_store(store.boards.find, board_id)
    if not board.columns:
        raise InputError("Choose a workflow first: rows become threads with it.")
    version = await playground.in_store(store.test_sets.find, wanted.test_set, wanted.version)
    views = await playground.in_store(_views, playground, board)
    columns: list[_Column] = []
    for record in board.columns:
        profile = await playground.targets.look(await playground.workflows.check(record.address))
        view = views.get(record.column)
        plan = plan_rows(profile, version.columns, _form(profile, view or board.treat_as))
        columns.append(_Column(record, view, plan))
    kept = await playground.in_store(_keep, playground, board, version, columns, wanted)
    told(playground, board_id)
    return kept


def _form(profile: Profile, treat_as: TreatAs | None) -> Form:
    if (treat_as or ("chat" if profile.is_chat else "completion")) == "chat":
        return "chat"
    return "one message" if profile.is_chat else "plain"


def _views(playground: Playground, board: BoardRecord) -> dict[int, TreatAs | None]:
    """What a person wants of each column, by the first thread that is there."""
    found, _ = playground.store.threads.rows(board.id, after=-1, limit=1)
    return {one.column: one.treat_as for one in found}


def _keep(
    playground: Playground,
    board: BoardRecord,
    version: TestSetVersion,
    columns: list[_Column],
    wanted: LoadRequest,
) -> BoardRecord:
    store = playground.store
    count = max(0, version.row_count - wanted.start)
    count = min(count, MOST_ROWS if wanted.limit is None else wanted.limit)
    if count > MOST_ROWS or count * len(columns) > MOST_THREADS:
        raise InputError(
            f"{count:,} rows are too many for one board: load at most {MOST_ROWS:,}, with `start` "
            "and `limit`."
        )
    if count == 0:
        raise InputError(f"The test set '{version.name}' has no row {wanted.start + 1}.")
    made = list[tuple[ThreadRecord, list[TurnRecord]]]()
    rows = store.test_sets.rows(version, start=wanted.start, limit=count)
    for number, row in enumerate(rows):
        made += [_thread(board.id, column, row, wanted.start + number) for column in columns]
    emptied = _make_room(playground, board)

    def make(free: Place) -> tuple[list[ThreadRecord], list[TurnRecord]]:
        first = 0 if emptied else free[0]
        for number, (thread, _) in enumerate(made):
            thread.row = first + number // len(columns)
        return [thread for thread, _ in made], [turn for _, turns in made for turn in turns]

    name = f"{version.name}@{version.version}"

    def changed(now: BoardRecord) -> BoardRecord:
        return now.model_copy(update={"test_set": name, "title": now.title or version.name})

    return store.threads.grow(board.id, make, changed=changed)


def _make_room(playground: Playground, board: BoardRecord) -> bool:
    """Delete threads in which nothing happened yet, if there are no others: whether it did."""
    store = playground.store
    found, more = store.threads.rows(board.id, after=-1, limit=1)
    touched = any(one.history.turns or one.history.changes or one.inputs for one in found)
    if more is not None or touched:
        return False
    changes = {"deleted_at": now_text()}
    store.threads.change_all(board.id, found, lambda one: (one.model_copy(update=changes), ()))
    return True


def _thread(
    board_id: str, column: _Column, row: dict[str, Any], position: int
) -> tuple[ThreadRecord, list[TurnRecord]]:
    call = column.plan.call(row, position)
    inputs = dict(call.inputs)
    messages = list[Message]()
    if column.plan.form == "chat":
        messages = list[Message](inputs.pop(MESSAGES, None) or [])
    brief = call.brief
    thread = ThreadRecord(
        board_id=board_id,
        column=column.record.column,
        address=column.record.address,
        name=column.record.name,
        treat_as=column.treat_as,
        parameters=column.record.parameters,
        inputs=inputs,
        test_set_row=position,
        brief=None
        if brief is None
        else {"goal": brief.goal, "persona": brief.persona, "max_turns": brief.max_turns},
    )
    turns = turns_of(messages, thread.id)
    thread.history = History(turns=[one.id for one in turns])
    return thread, turns
