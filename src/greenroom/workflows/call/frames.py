"""Frames of streamed answers: server-sent events, or lines of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field

SSE = "text/event-stream"
STREAMS = frozenset({SSE, "application/x-ndjson", "application/jsonl"})
"""Content types of streamed answers."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stream; lines of JSON have no name."""

    data: str
    name: str = ""


class Lines:
    """Splits chunks of bytes into lines."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes."""
        first, *rest = chunk.split(b"\n")
        self._parts.append(first)
        if not rest:
            return []
        lines = [b"".join(self._parts), *rest]
        self._parts = [lines.pop()]
        return [line.removesuffix(b"\r") for line in lines]


@dataclass
class _Frames:
    """Builds frames from lines."""

    sse: bool
    name: str = ""
    data: list[str] = field(default_factory=list[str])

    def feed(self, line: bytes) -> Frame | None:
        text = line.decode("utf-8", "replace")
        if not self.sse:
            return Frame(text) if text.strip() else None
        if not text:
            return self._complete()
        key, _, value = text.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            self.data.append(value)
        elif key == "event":
            self.name = value
        return None

    def _complete(self) -> Frame | None:
        frame = Frame("\n".join(self.data), self.name) if self.data else None
        self.name, self.data = "", []
        return frame


async def read_frames(chunks: AsyncIterable[bytes], content_type: str) -> AsyncIterator[Frame]:
    """The frames of a stream, including a last one without an end of line."""
    lines, frames = Lines(), _Frames(content_type == SSE)
    async for chunk in chunks:
        for line in lines.feed(chunk):
            if frame := frames.feed(line):
                yield frame
    for line in lines.feed(b"\n\n"):
        if frame := frames.feed(line):
            yield frame
