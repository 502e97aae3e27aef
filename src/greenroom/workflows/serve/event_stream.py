"""Agenta's stream of events, as server-sent events or as lines of JSON.

Each event is `{"type": ..., "data": ...}`. In addition to what Agenta's servers send, `message_end`
holds the whole message and `done` the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from greenroom.messages import text_of
from greenroom.util.json_values import as_dict, encoded
from greenroom.workflows.calls import Answer, CallError, Event, called_tools
from greenroom.workflows.serve.exchange import sse
from greenroom.workflows.serve.headers import CallIds
from greenroom.workflows.serve.runner import error_text
from greenroom.workflows.usage import agenta_usage

Written = tuple[str, dict[str, Any]]


class EventWriter:
    """Writes a streamed answer as Agenta's events."""

    _prefix = "msg"  # of the messages' ids

    def __init__(self, ids: CallIds, wanted: Literal["sse", "ndjson"] = "sse") -> None:
        self.content_type = b"text/event-stream" if wanted == "sse" else b"application/x-ndjson"
        self._frame = sse if wanted == "sse" else _line
        self._ids = {"session_id": ids.session_id, "trace_id": ids.trace_id}
        self._messages = 0
        self._open = False
        self._anything = False

    def frames(self, event: Event) -> bytes:
        written = list(self._events(event))
        self._anything = self._anything or bool(written)
        return self._framed(written)

    def failed(self, error: CallError) -> bytes:
        written: list[Written] = [
            ("error", {"message": error_text(error), "type": error.kind}),
            ("done", {"stopReason": "error", **self._ids}),
        ]
        return self._framed(written)

    def stopped(self) -> bytes:
        """The end of an answer that was stopped."""
        self._open = False
        ended = {"id": self._id}
        return self._framed(
            [("message_end", ended), ("done", {"stopReason": "other", **self._ids})]
        )

    def _framed(self, written: list[Written]) -> bytes:
        """The events on the wire."""
        return b"".join(self._frame({"type": kind, "data": data}) for kind, data in written)

    def _events(self, event: Event) -> Iterator[Written]:
        match event.kind:
            case "delta":
                yield from self._delta(event.text)
            case "message":
                yield from self._message(event.data)
            case "tool_call" | "tool_result":
                yield event.kind, event.data
            case "usage":
                pass  # sent once, at the end
            case "end":
                yield from self._end(event.data)

    def _delta(self, text: str) -> Iterator[Written]:
        if not self._open:
            self._open = True
            self._messages += 1
            yield "message_start", {"id": self._id}
        if text:
            yield "message_delta", {"id": self._id, "delta": text}

    def _message(self, message: Any) -> Iterator[Written]:
        fields = as_dict(message)
        match fields.get("role"):
            case None:  # a value of a workflow that does not chat
                yield "data", {"name": "output", "data": message}
            case "tool":
                output = fields.get("content")
                yield "tool_result", {"id": fields.get("tool_call_id"), "output": output}
            case "assistant":
                if not self._open:
                    yield from self._delta(text_of(fields.get("content")))
                self._open = False
                yield "message_end", {"id": self._id, "message": message}
                for call in called_tools(fields):
                    yield "tool_call", call
            case _:
                yield "message", {"message": message}

    def _end(self, answer: Answer) -> Iterator[Written]:
        if self._open:  # text of a workflow that does not chat
            self._open = False
            yield "message_end", {"id": self._id}
        elif not self._anything and isinstance(answer.outputs, str):
            yield from self._delta(answer.outputs)
            self._open = False
            yield "message_end", {"id": self._id}
        usage = agenta_usage(answer)
        if usage is not None:
            yield "usage", usage
        yield "done", {"stopReason": "stop", "outputs": answer.outputs, **self._ids}

    @property
    def _id(self) -> str:
        return f"{self._prefix}-{self._messages}"


def _line(value: Any) -> bytes:
    return encoded(value) + b"\n"
