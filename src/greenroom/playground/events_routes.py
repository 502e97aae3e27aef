"""What changes, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from greenroom.playground.state import InPlayground
from greenroom.playground.thread_models import ChangeEvent
from greenroom.workflows.serve.exchange import sse

router = APIRouter()

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChangeEvent,
        "content": {"text/event-stream": {}},
        "description": "Server-sent events, each with a ChangeEvent as its data.",
    }
}


@router.get("/events", response_class=StreamingResponse, responses=STREAM)
async def follow_events(playground: InPlayground) -> StreamingResponse:
    """What changes here and in other processes, until the connection is closed."""

    async def events() -> AsyncGenerator[bytes]:
        async with playground.changes.followed() as follower:
            yield b": open\n\n"
            async for event in follower.events():
                told = None if event is None else event.model_dump(exclude_none=True)
                yield b": still here\n\n" if told is None else sse(told)

    return StreamingResponse(events(), media_type="text/event-stream")
