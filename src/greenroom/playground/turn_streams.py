"""Turns as UI message streams: those that ended, and those that another process runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING

import anyio
from fastapi.responses import StreamingResponse

from greenroom.messages import text_of
from greenroom.playground.turn_log import BEAT, writer_of
from greenroom.store.thread_records import TurnRecord
from greenroom.workflows.calls import Answer, CallError, Event
from greenroom.workflows.serve.vercel import VERCEL_HEADERS

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

_SECONDS_BETWEEN_LOOKS = 0.3
_LOOKS_BETWEEN_BEATS = 50


def ui_stream(
    stream: AsyncGenerator[bytes], headers: dict[str, str] | None = None
) -> StreamingResponse:
    """The answer to a request for a stream."""
    protocol = {name.decode(): value.decode() for name, value in VERCEL_HEADERS}
    return StreamingResponse(
        stream,
        media_type="text/event-stream",
        headers={**protocol, "cache-control": "no-store", **(headers or {})},
    )


async def recorded(turn: TurnRecord) -> AsyncGenerator[bytes]:
    """A turn that has ended, or a draft, which has no answer."""
    writer = writer_of(turn)
    frames = b"".join(map(writer.frames, _events(turn)))
    if turn.status == "broken":
        frames += writer.failed(CallError(turn.error or ""))
    elif turn.status in ("stopped", "draft"):
        frames += writer.stopped()
    yield frames


async def followed(playground: Playground, turn: TurnRecord) -> AsyncGenerator[bytes]:
    """A turn that another process runs, as far as it is kept."""
    writer, shown, looks = writer_of(turn), "", 0
    while turn.status == "running" and not playground.live.ended:
        text = turn.content.text
        if len(text) > len(shown):
            yield writer.frames(Event(kind="delta", text=text[len(shown) :]))
            shown = text
        await anyio.sleep(_SECONDS_BETWEEN_LOOKS)
        looks += 1
        if looks % _LOOKS_BETWEEN_BEATS == 0:
            yield BEAT
        turn = await playground.in_store(playground.store.turns.find, turn.id)
    if not shown:
        async for frames in recorded(turn):
            yield frames
        return
    text = turn.content.text
    if turn.status == "done":
        text = "\n\n".join(text_of(one.get("content")) for one in turn.content.replies)
    if text.startswith(shown):
        yield writer.frames(Event(kind="delta", text=text[len(shown) :]))
    if turn.status == "done":
        yield writer.frames(Event(kind="end", data=_answer(turn)))
    elif turn.status == "broken":
        yield writer.failed(CallError(turn.error or ""))
    else:
        yield writer.stopped()


def _events(turn: TurnRecord) -> Iterator[Event]:
    for call in turn.content.tool_calls:
        yield Event(
            kind="tool_call", data={name: call.get(name) for name in ("id", "name", "input")}
        )
        if call.get("has_output"):
            result = {"id": call.get("id"), "output": call.get("output")}
            yield Event(kind="tool_result", data={**result, "isError": call.get("is_error")})
    if turn.status == "done":
        for message in turn.content.replies if turn.treated_as != "completion" else ():
            yield Event(kind="message", data=message)
        yield Event(kind="end", data=_answer(turn))
    elif turn.content.text:
        yield Event(kind="delta", text=turn.content.text)


def _answer(turn: TurnRecord) -> Answer:
    return Answer(
        outputs=turn.content.outputs,
        prompt_tokens=turn.prompt_tokens,
        completion_tokens=turn.completion_tokens,
        cost=turn.cost,
    )
