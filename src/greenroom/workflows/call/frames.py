"""Frames of streamed answers: server-sent events, or lines of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

SSE = "text/event-stream"
STREAMS = frozenset({SSE, "application/x-ndjson", "application/jsonl"})
"""Content types of streamed answers."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stream; lines of JSON have no name."""

    data: str
    name: str = ""


async def read_frames(chunks: AsyncIterable[bytes], content_type: str) -> AsyncIterator[Frame]:
    """The frames of a stream, including a last one without an end of line."""
    name, data = "", list[str]()
    async for line in _lines(chunks):
        if content_type != SSE:
            if line.strip():
                yield Frame(line)
            continue
        if not line:
            if data:
                yield Frame("\n".join(data), name)
            name, data = "", []
        key, _, value = line.removeprefix("\ufeff").partition(":")
        if key == "data":
            data.append(value.removeprefix(" "))
        elif key == "event":
            name = value.removeprefix(" ")


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """The lines of a stream, and an empty one at the end."""
    parts: list[bytes] = []
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        if rest:
            lines = [b"".join(parts), *rest]
            parts = [lines.pop()]
            for line in lines:
                yield line.removesuffix(b"\r").decode("utf-8", "replace")
    yield b"".join(parts).removesuffix(b"\r").decode("utf-8", "replace")
    yield ""
