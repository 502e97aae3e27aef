"""Threads: conversations with one workflow configuration each."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from greenroom.playground import board_work, turn_starts
from greenroom.playground.paging import Limit
from greenroom.playground.state import InPlayground
from greenroom.playground.thread_models import (
    CopyRequest,
    EditRequest,
    Thread,
    ThreadChange,
    ThreadVersion,
    TurnRequest,
)
from greenroom.playground.thread_views import thread_view
from greenroom.playground.turn_streams import recorded, ui_stream

router = APIRouter()

STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "A UI message stream."}
}


@router.get("/threads/{thread_id}")
def get_thread(
    playground: InPlayground,
    thread_id: str,
    before: Annotated[str | None, Query(description="The `earlier` of the answer before.")] = None,
    limit: Limit = 50,
) -> Thread:
    """A thread with its last turns, or those before a turn."""
    thread = playground.store.threads.find(thread_id)
    return thread_view(playground.store, thread, before=before, limit=limit)


@router.patch("/threads/{thread_id}")
async def change_thread(playground: InPlayground, thread_id: str, change: ThreadChange) -> Thread:
    """Another title, workflow, view, other parameters or inputs."""
    thread = await board_work.change_thread(playground, thread_id, change)
    return await playground.in_store(thread_view, playground.store, thread)


@router.delete("/threads/{thread_id}", status_code=204)
def delete_thread(playground: InPlayground, thread_id: str) -> None:
    """Delete a thread; it can be restored."""
    board_work.mark_deleted(playground, thread_id, deleted=True)


@router.post("/threads/{thread_id}/restore")
def restore_thread(playground: InPlayground, thread_id: str) -> Thread:
    """Bring a deleted thread back."""
    thread = board_work.mark_deleted(playground, thread_id, deleted=False)
    return thread_view(playground.store, thread)


@router.post("/threads/{thread_id}/copy")
def copy_thread(playground: InPlayground, thread_id: str, wanted: CopyRequest) -> Thread:
    """A copy of a thread; with `through`, a branch that ends with that turn."""
    thread = board_work.copy_thread(playground, thread_id, wanted)
    return thread_view(playground.store, thread)


@router.post("/threads/{thread_id}/turns", response_class=StreamingResponse, responses=STREAM)
async def add_turn(
    playground: InPlayground, thread_id: str, wanted: TurnRequest
) -> StreamingResponse:
    """Say something, or run inputs: the answer as a UI message stream.

    The headers `x-turn-id` and `x-thread-version` name the turn and the thread's new version. The
    turn goes on when the connection is closed.
    """
    said = await turn_starts.say(playground, thread_id, wanted)
    headers = {"x-turn-id": said.turn.id, "x-thread-version": str(said.thread.version)}
    stream = recorded(said.turn) if said.log is None else said.log.stream()
    return ui_stream(stream, headers)


@router.post("/threads/{thread_id}/edit")
def edit_thread(playground: InPlayground, thread_id: str, wanted: EditRequest) -> Thread:
    """Change, add or delete a message; later turns stay."""
    thread = board_work.edit(playground, thread_id, wanted)
    return thread_view(playground.store, thread)


@router.post("/threads/{thread_id}/undo")
def undo_thread(playground: InPlayground, thread_id: str, wanted: ThreadVersion) -> Thread:
    """Take back the last change."""
    thread = board_work.step(playground, thread_id, wanted.version, back=True)
    return thread_view(playground.store, thread)


@router.post("/threads/{thread_id}/redo")
def redo_thread(playground: InPlayground, thread_id: str, wanted: ThreadVersion) -> Thread:
    """Make the change again that was taken back last."""
    thread = board_work.step(playground, thread_id, wanted.version, back=False)
    return thread_view(playground.store, thread)
