"""The pieces of a turn that runs; everybody who follows it gets them from the beginning."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Any

import anyio

from greenroom.messages import text_of
from greenroom.store.thread_records import TurnRecord, TurnStatus
from greenroom.util.json_values import as_dict
from greenroom.workflows.calls import CallError, Event
from greenroom.workflows.serve.headers import CallIds
from greenroom.workflows.serve.vercel import VercelWriter

SECONDS_BETWEEN_BEATS = 15.0
BEAT = b": still running\n\n"


class TurnLog:
    """A turn that runs in this process."""

    def __init__(self, turn: TurnRecord) -> None:
        self.turn = turn
        self.scope = anyio.CancelScope()
        self.ending = False
        self.unflushed = False
        self.flushed_at = time.monotonic()
        self._began = time.monotonic()
        self._events: list[Event] = []
        self._texts: list[str] = []
        self._open: list[str] = []
        self._characters = 0
        self._ended: tuple[TurnStatus, str | None] | None = None
        self._more = anyio.Event()

    @property
    def size(self) -> int:
        """About how many characters there are so far."""
        return self._characters

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self._began

    def tell(self, event: Event) -> None:
        """Add a piece of the answer."""
        self._events.append(event)
        content = self.turn.content
        match event.kind:
            case "delta":
                self._open.append(event.text)
                self._characters += len(event.text)
            case "message":
                self._end_message(event.data)
            case "tool_call":
                content.tool_calls.append(dict(as_dict(event.data)))
            case "tool_result":
                _add_result(content.tool_calls, as_dict(event.data))
            case _:
                pass
        self.unflushed = True
        self._wake()

    def flushed(self, now: float) -> TurnRecord:
        """The turn as it is so far, to be kept."""
        self.unflushed, self.flushed_at = False, now
        self.settle()
        return self.turn.model_copy(deep=True)

    def settle(self) -> None:
        """Put the text so far into the turn."""
        texts = [*self._texts, "".join(self._open)]
        self.turn.content.text = "\n\n".join(text for text in texts if text)

    def stop(self) -> None:
        """Stop the turn; it ends soon."""
        self.scope.cancel()

    def end(self, status: TurnStatus, error: str | None) -> None:
        """Tell how it ended."""
        self._ended = status, error
        self._wake()

    async def wait(self) -> TurnStatus:
        """Wait for the end: how it ended."""
        while self._ended is None:
            await self._more.wait()
        return self._ended[0]

    async def stream(self) -> AsyncGenerator[bytes]:
        """A UI message stream from the beginning to the end."""
        writer, place = writer_of(self.turn), 0
        while True:
            if place < len(self._events):
                some, place = self._events[place:], len(self._events)
                # The end is told when it is kept, so that the page finds it.
                if frames := b"".join(writer.frames(one) for one in some if one.kind != "end"):
                    yield frames
            elif self._ended is not None:
                break
            else:
                more = self._more
                with anyio.move_on_after(SECONDS_BETWEEN_BEATS) as waited:
                    await more.wait()
                if waited.cancelled_caught:
                    yield BEAT
        yield _last_frames(writer, self._events, *self._ended)

    def _end_message(self, message: Any) -> None:
        fields = as_dict(message)
        if fields.get("role") == "assistant":
            text = text_of(fields.get("content"))
            self._characters += 0 if self._open else len(text)
            self._texts.append(text)
            self._open.clear()

    def _wake(self) -> None:
        self._more.set()
        self._more = anyio.Event()


def writer_of(turn: TurnRecord) -> VercelWriter:
    """A writer whose message has the turn's id."""
    ids = CallIds(turn.trace_id or "", "", turn.session_id or "")
    return VercelWriter(ids, turn.id)


def _last_frames(
    writer: VercelWriter, events: list[Event], status: TurnStatus, error: str | None
) -> bytes:
    if status == "done":
        return b"".join(writer.frames(one) for one in events[-1:] if one.kind == "end")
    return writer.failed(CallError(error or "")) if status == "broken" else writer.stopped()


def _add_result(calls: list[dict[str, Any]], result: dict[str, Any]) -> None:
    """Put a result to its call, or keep it alone."""
    told = {"output": result.get("output"), "has_output": True}
    told["is_error"] = bool(result.get("isError"))
    for call in reversed(calls):
        if call.get("id") == result.get("id") and not call.get("has_output"):
            call.update(told)
            return
    calls.append({"id": result.get("id"), **told})
