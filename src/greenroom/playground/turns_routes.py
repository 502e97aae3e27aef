"""Turns: what was said and answered, as it comes and afterwards."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from greenroom.playground.state import InPlayground
from greenroom.playground.thread_models import Turn
from greenroom.playground.thread_views import turn_view
from greenroom.playground.threads_routes import STREAM
from greenroom.playground.turn_streams import followed, recorded, ui_stream

router = APIRouter()


@router.get("/turns/{turn_id}")
def get_turn(playground: InPlayground, turn_id: str) -> Turn:
    """A turn, whole."""
    return turn_view(playground.store.turns.find(turn_id))


@router.get("/turns/{turn_id}/stream", response_class=StreamingResponse, responses=STREAM)
async def stream_turn(playground: InPlayground, turn_id: str) -> StreamingResponse:
    """A turn from its beginning; one that runs is followed to its end."""
    log = playground.live.find(turn_id)
    if log is not None:
        return ui_stream(log.stream())
    turn = await playground.in_store(playground.store.turns.find, turn_id)
    return ui_stream(followed(playground, turn) if turn.status == "running" else recorded(turn))


@router.post("/turns/{turn_id}/stop")
async def stop_turn(playground: InPlayground, turn_id: str) -> Turn:
    """Stop a turn that runs; the text so far is kept."""
    await playground.live.stop(turn_id)
    return turn_view(await playground.in_store(playground.store.turns.find, turn_id))
