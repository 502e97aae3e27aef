"""Boards: the threads that a person has open at once, by row and column."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from greenroom.errors import InputError
from greenroom.playground import board_work, loading, turn_starts
from greenroom.playground.paging import After, Limit, Page, key_of, page_of
from greenroom.playground.state import InPlayground, Playground
from greenroom.playground.thread_models import (
    Board,
    BoardChange,
    BoardRequest,
    BoardSummary,
    BroadcastRequest,
    ColumnChange,
    ColumnRequest,
    LoadRequest,
    RunRequest,
    Started,
    StartedTurn,
    Thread,
    ThreadSpec,
)
from greenroom.playground.thread_views import board_view, summary, thread_view
from greenroom.store.thread_records import now_text

router = APIRouter()

RowsAfter = Annotated[
    int, Query(ge=-1, description="The `next` of the page before; without it, the first rows.")
]


@router.get("/boards")
def list_boards(
    playground: InPlayground,
    after: After = None,
    limit: Limit = 50,
    q: Annotated[str, Query(description="Only boards with this in their title.")] = "",
    deleted: Annotated[bool, Query(description="Those that were deleted.")] = False,
) -> Page[BoardSummary]:
    """The boards, the one that was changed last first."""
    key = key_of(after, 2)
    found = playground.store.boards.page(
        after=None if key is None else (str(key[0]), str(key[1])),
        limit=limit + 1,
        title=q,
        deleted=deleted,
    )
    return page_of([summary(one) for one in found], limit, lambda one: (one.updated_at, one.id))


@router.post("/boards")
async def create_board(playground: InPlayground, wanted: BoardRequest) -> Board:
    """A new board with these threads."""
    board = await board_work.create_board(playground, wanted)
    board_work.told(playground, board.id)
    return await playground.in_store(board_view, playground.store, board)


@router.get("/boards/{board_id}")
def get_board(
    playground: InPlayground, board_id: str, rows_after: RowsAfter = -1, limit: Limit = 50
) -> Board:
    """A board with the threads of some rows."""
    board = playground.store.boards.find(board_id)
    return board_view(playground.store, board, after=rows_after, limit=limit)


@router.patch("/boards/{board_id}")
def change_board(playground: InPlayground, board_id: str, change: BoardChange) -> Board:
    """Another title, or another view."""
    return _changed(playground, board_id, change.model_dump(exclude_unset=True))


@router.delete("/boards/{board_id}", status_code=204)
def delete_board(playground: InPlayground, board_id: str) -> None:
    """Delete a board; it can be restored."""
    _changed(playground, board_id, {"deleted_at": now_text()})


@router.post("/boards/{board_id}/restore")
def restore_board(playground: InPlayground, board_id: str) -> Board:
    """Bring a deleted board back."""
    return _changed(playground, board_id, {"deleted_at": None})


@router.post("/boards/{board_id}/threads")
async def add_thread(playground: InPlayground, board_id: str, wanted: ThreadSpec) -> Thread:
    """One more thread."""
    thread = await board_work.add_thread(playground, board_id, wanted)
    return await playground.in_store(thread_view, playground.store, thread)


@router.post("/boards/{board_id}/columns")
async def add_column(playground: InPlayground, board_id: str, wanted: ColumnRequest) -> Board:
    """The same conversations over one more variant; what was said is copied."""
    board = await board_work.add_column(playground, board_id, wanted)
    return await playground.in_store(board_view, playground.store, board)


@router.patch("/boards/{board_id}/columns/{column}")
async def change_column(
    playground: InPlayground, board_id: str, column: int, change: ColumnChange
) -> Board:
    """Another workflow or other parameters for all threads of a column."""
    board = await board_work.change_column(playground, board_id, column, change)
    return await playground.in_store(board_view, playground.store, board)


@router.delete("/boards/{board_id}/columns/{column}")
def delete_column(playground: InPlayground, board_id: str, column: int) -> Board:
    """Delete the threads of a column; each can be restored."""
    changes = {"deleted_at": now_text()}
    board = board_work.change_threads(playground, board_id, column, changes)
    return board_view(playground.store, board)


@router.post("/boards/{board_id}/load")
async def load_test_set(playground: InPlayground, board_id: str, wanted: LoadRequest) -> Board:
    """Rows of a test set: a thread for each row and column."""
    board = await loading.load_test_set(playground, board_id, wanted)
    return await playground.in_store(board_view, playground.store, board)


@router.post("/boards/{board_id}/broadcast")
async def broadcast(playground: InPlayground, board_id: str, wanted: BroadcastRequest) -> Started:
    """Say the same in all threads."""
    return await turn_starts.broadcast(playground, board_id, wanted.messages)


@router.post("/boards/{board_id}/run")
async def run_board(playground: InPlayground, board_id: str, wanted: RunRequest) -> Started:
    """Run drafts and inputs of all threads, or of some; a few at a time."""
    return await turn_starts.run_all(playground, board_id, wanted.threads)


@router.get("/boards/{board_id}/running")
def list_running(playground: InPlayground, board_id: str) -> Started:
    """The turns that run on a board right now, whoever started them."""
    playground.store.boards.find(board_id)
    found = playground.store.turns.running_on(board_id)
    return Started(
        started=[StartedTurn(thread_id=key, turn_id=turn) for key, turn in found.items()]
    )


def _changed(playground: Playground, board_id: str, changes: dict[str, Any]) -> Board:
    if "title" in changes and changes["title"] is None:
        raise InputError("title cannot be null: leave it out to keep it.")
    board = playground.store.boards.change(board_id, lambda one: one.model_copy(update=changes))
    board_work.told(playground, board_id)
    return board_view(playground.store, board)
