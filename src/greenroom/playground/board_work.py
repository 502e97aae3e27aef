"""Boards and threads: making them, copying them, changing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from greenroom.errors import InputError, redacted
from greenroom.playground.conversation import edited, turns_of
from greenroom.playground.thread_models import (
    BoardRequest,
    ChangeEvent,
    ColumnChange,
    ColumnRequest,
    CopyRequest,
    EditRequest,
    ThreadChange,
    ThreadSpec,
)
from greenroom.store.history import History
from greenroom.store.thread_records import (
    BoardRecord,
    Missing,
    ThreadRecord,
    TurnContent,
    TurnRecord,
    json_text,
    now_text,
)
from greenroom.store.threads import Place

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

_KEY = (
    "These parameters hold something that looks like a key or a password, which would be stored "
    "and displayed: put it into the environment of the workflow."
)

Made = tuple[list[ThreadRecord], list[TurnRecord]]


def check_parameters(parameters: dict[str, Any] | None) -> None:
    """Raise an InputError if parameters hold a secret."""
    text = json_text(parameters or {})
    if redacted(text) != text:
        raise InputError(_KEY)


async def create_board(playground: Playground, wanted: BoardRequest) -> BoardRecord:
    """A new board; threads without a place stand beside each other."""
    addresses = [await playground.workflows.check(one.address) for one in wanted.threads]
    board = BoardRecord(title=wanted.title, treat_as=wanted.treat_as)
    made: Made = ([], [])
    for number, (spec, address) in enumerate(zip(wanted.threads, addresses, strict=True)):
        place = (spec.row or 0, number if spec.column is None else spec.column)
        thread, turns = _thread(playground, board.id, spec, address, place)
        made[0].append(thread)
        made[1].extend(turns)

    def keep() -> BoardRecord:
        playground.store.boards.create(board)
        return playground.store.threads.add(board.id, *made)

    return await playground.in_store(keep)


async def add_thread(playground: Playground, board_id: str, spec: ThreadSpec) -> ThreadRecord:
    """One more thread: in a new column of its row, or in a new row of its column."""
    address = await playground.workflows.check(spec.address)

    def keep() -> ThreadRecord:
        made: Made = ([], [])

        def make(free: Place) -> Made:
            place = _place(free, spec.row, spec.column)
            thread, turns = _thread(playground, board_id, spec, address, place)
            made[0].append(thread)
            return [thread], turns

        playground.store.threads.grow(board_id, make)
        return made[0][0]

    thread = await playground.in_store(keep)
    told(playground, board_id)
    return thread


def copy_thread(playground: Playground, thread_id: str, wanted: CopyRequest) -> ThreadRecord:
    """A copy that shares turns with its original; with `through`, a branch."""
    store = playground.store
    original = store.threads.find(thread_id)
    turns = original.history.turns
    if wanted.through is not None:
        if wanted.through not in turns:
            raise Missing("turn", wanted.through)
        turns = turns[: turns.index(wanted.through) + 1]
    board_id = wanted.board_id or original.board_id
    row = wanted.row
    if row is None and wanted.column is None and board_id == original.board_id:
        row = original.row
    copy = ThreadRecord(
        board_id=board_id,
        title=original.title,
        address=original.address,
        name=original.name,
        treat_as=original.treat_as,
        parameters=original.parameters,
        inputs=original.inputs,
        history=History(turns=list(turns)),
        parent_thread=original.id,
        parent_turn=turns[-1] if turns else None,
        brief=original.brief,
        test_set_row=original.test_set_row,
    )

    def make(free: Place) -> Made:
        copy.row, copy.column = _place(free, row, wanted.column)
        return [copy], []

    store.threads.grow(board_id, make)
    told(playground, board_id)
    return copy


async def add_column(playground: Playground, board_id: str, wanted: ColumnRequest) -> BoardRecord:
    """The same conversations over one more variant: what was said, as drafts."""
    check_parameters(wanted.parameters)
    address = await playground.workflows.check(wanted.address)
    store = playground.store

    def make(free: Place) -> Made:
        board, column = store.boards.find(board_id), free[1]
        known = [one.column for one in board.columns]
        source = wanted.copy_of if wanted.copy_of is not None else next(iter(known), None)
        if source is not None and source not in known:
            raise Missing("column", str(source))
        added: Made = ([], [])
        for batch in store.threads.of_board(board_id, column=source) if known else ():
            whole = store.turns.listed(
                [key for one in batch for key in one.history.turns], whole=True
            )
            for one in batch:
                thread, turns = _again(one, whole, address, wanted.parameters, column)
                thread.name = playground.workflows.name_of(address)
                added[0].append(thread)
                added[1].extend(turns)
        if not known:
            spec = ThreadSpec(address=address, parameters=wanted.parameters)
            added[0].append(_thread(playground, board_id, spec, address, (0, column))[0])
        return added

    board = await playground.in_store(store.threads.grow, board_id, make)
    told(playground, board_id)
    return board


async def change_column(
    playground: Playground, board_id: str, column: int, change: ColumnChange
) -> BoardRecord:
    """Another workflow or other parameters for all threads of a column."""
    changes = await _configuration(playground, change.model_dump(exclude_unset=True))
    return await playground.in_store(change_threads, playground, board_id, column, changes)


def change_threads(
    playground: Playground, board_id: str, column: int, changes: dict[str, Any]
) -> BoardRecord:
    """Change all threads of a column in the same way."""
    store, found = playground.store, False
    for batch in store.threads.of_board(board_id, column=column):
        found = True
        store.threads.change_all(
            board_id, batch, lambda one: (one.model_copy(update=changes), ()), counts=True
        )
    if not found:
        raise Missing("column", str(column))
    told(playground, board_id)
    return store.boards.find(board_id)


async def change_thread(
    playground: Playground, thread_id: str, change: ThreadChange
) -> ThreadRecord:
    """Other fields of a thread."""
    given = change.model_dump(exclude_unset=True, exclude={"version"})
    for name in ("title", "inputs", "address"):
        if name in given and given[name] is None:
            raise InputError(f"{name} cannot be null: leave it out to keep it.")
    changes = await _configuration(playground, given)
    counts = "address" in changes or "parameters" in changes
    thread = await playground.in_store(
        lambda: playground.store.threads.change(
            thread_id,
            change.version,
            lambda one: (one.model_copy(update=changes), ()),
            counts=counts,
        )
    )
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    return thread


def mark_deleted(playground: Playground, thread_id: str, *, deleted: bool) -> ThreadRecord:
    """Delete or restore a thread."""
    changes = {"deleted_at": now_text() if deleted else None}
    thread = playground.store.threads.change(
        thread_id, None, lambda one: (one.model_copy(update=changes), ()), counts=True
    )
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    told(playground, thread.board_id)
    return thread


def edit(playground: Playground, thread_id: str, wanted: EditRequest) -> ThreadRecord:
    """Another message in place of one; the turn becomes another turn."""
    store = playground.store
    if wanted.turn_id not in store.threads.find(thread_id).history.turns:
        raise Missing("turn", wanted.turn_id)
    turn = edited(store.turns.find(wanted.turn_id), wanted.side, wanted.index, wanted.message)

    def changed(thread: ThreadRecord) -> tuple[ThreadRecord, list[TurnRecord]]:
        turns = list(thread.history.turns)
        place = turns.index(wanted.turn_id)
        turns[place : place + 1] = [] if turn is None else [turn.id]
        history = thread.history.changed(turns)
        return thread.model_copy(update={"history": history}), [] if turn is None else [turn]

    if turn is not None:
        turn.thread_id = thread_id
    thread = store.threads.change(thread_id, wanted.version, changed)
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    return thread


def step(playground: Playground, thread_id: str, version: int, *, back: bool) -> ThreadRecord:
    """Undo or redo a change."""

    def changed(thread: ThreadRecord) -> tuple[ThreadRecord, Sequence[TurnRecord]]:
        history = thread.history
        if not (history.can_undo if back else history.can_redo):
            raise InputError(f"There is nothing to {'undo' if back else 'redo'}.")
        history = history.undo() if back else history.redo()
        return thread.model_copy(update={"history": history}), ()

    thread = playground.store.threads.change(thread_id, version, changed)
    playground.changes.thread(thread.id, thread.board_id, thread.version)
    return thread


def told(playground: Playground, board_id: str) -> None:
    """Tell that a board has other threads, or another title."""
    playground.changes.tell(ChangeEvent(kind="board", id=board_id))


async def _configuration(playground: Playground, given: dict[str, Any]) -> dict[str, Any]:
    """Changes with what follows from them: another workflow begins another session."""
    check_parameters(given.get("parameters"))
    if given.get("address") is None:
        given.pop("address", None)
        return given
    address = await playground.workflows.check(given["address"])
    name = playground.workflows.name_of(address)
    return {**given, "address": address, "name": name, "session_id": None, "session_end": None}


def _place(free: Place, row: int | None, column: int | None) -> Place:
    """Where a thread goes: without a place, beside the others; with one half, to the free other."""
    if row is None:
        row = 0 if column is None else free[0]
    return row, free[1] if column is None else column


def _thread(
    playground: Playground,
    board_id: str,
    spec: ThreadSpec,
    address: str,
    place: tuple[int, int],
) -> tuple[ThreadRecord, list[TurnRecord]]:
    check_parameters(spec.parameters)
    thread = ThreadRecord(
        board_id=board_id,
        row=place[0],
        column=place[1],
        title=spec.title,
        address=address,
        name=playground.workflows.name_of(address),
        treat_as=spec.treat_as,
        parameters=spec.parameters,
        inputs=spec.inputs,
    )
    turns = turns_of(spec.messages, thread.id)
    thread.history = History(turns=[one.id for one in turns])
    return thread, turns


def _again(
    original: ThreadRecord,
    turns: dict[str, TurnRecord],
    address: str,
    parameters: dict[str, Any] | None,
    column: int,
) -> tuple[ThreadRecord, list[TurnRecord]]:
    """A thread in which the same is said to another variant."""
    thread = ThreadRecord(
        board_id=original.board_id,
        row=original.row,
        column=column,
        title=original.title,
        address=address,
        treat_as=original.treat_as,
        parameters=parameters,
        inputs=original.inputs,
        brief=original.brief,
        test_set_row=original.test_set_row,
    )
    drafts: list[TurnRecord] = []
    listed: list[str] = []
    for key in original.history.turns:
        turn = turns[key]
        said = turn.content.said
        if said and all(one.get("role") == "tool" for one in said):
            continue  # results of calls that this variant has not made
        if said:
            content = TurnContent(said=said, inputs=turn.content.inputs)
            drafts.append(TurnRecord(thread_id=thread.id, content=content))
            listed.append(drafts[-1].id)
        elif not turn.sent and turn.content.replies:
            listed.append(key)  # a greeting, which nobody was asked for
    thread.history = History(turns=listed)
    return thread, drafts
