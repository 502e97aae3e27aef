"""Bodies of HTTP responses, read within a limit that also counts what they unpack to."""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from greenroom.errors import GreenroomError, InputError

if TYPE_CHECKING:
    from aiohttp import ClientResponse

LIMIT_VARIABLE = "GREENROOM_MAX_ANSWER_MB"
ENCODINGS = {"Accept-Encoding": "gzip, deflate"}
"""The header of requests whose answers `body_of` reads."""

_DEFAULT_MB = 16
_PIECE = 2**18
_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS


class AnswerTooLarge(GreenroomError):
    """A server sent more than is read; the text says how much that is."""


async def body_of(response: ClientResponse, limit: int | None = None) -> bytes:
    """The whole body of a response of a session with `auto_decompress=False`."""
    return b"".join([piece async for piece in pieces_of(response, limit)])


async def pieces_of(response: ClientResponse, limit: int | None = None) -> AsyncGenerator[bytes]:
    """The body in pieces, unpacked; raise AnswerTooLarge once they exceed the limit."""
    left = limit = limit or answer_limit()
    packed = response.headers.get("Content-Encoding", "").strip().lower() in ("gzip", "deflate")
    unpacker = zlib.decompressobj(_ZLIB_OR_GZIP) if packed else None
    async for content in response.content.iter_any():
        rest = content
        while rest:
            # A small piece can unpack to a thousandfold: never more than one is in memory.
            piece, rest = _unpacked(unpacker, rest) if unpacker is not None else (rest, b"")
            left -= len(piece)
            if left < 0:
                response.close()
                raise AnswerTooLarge(
                    f"its answer is larger than {limit / 2**20:g} MB ({LIMIT_VARIABLE} sets this)"
                )
            yield piece


def answer_limit() -> int:
    """The most bytes of an answer: GREENROOM_MAX_ANSWER_MB, or 16 MB."""
    given = os.environ.get(LIMIT_VARIABLE) or _DEFAULT_MB
    try:
        limit = int(float(given) * 2**20)
    except (ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise InputError(f"{LIMIT_VARIABLE} should be a number of megabytes, such as 16.")
    return limit


def _unpacked(unpacker: zlib._Decompress, packed: bytes) -> tuple[bytes, bytes]:  # pyright: ignore[reportPrivateUsage]
    from aiohttp import ClientPayloadError

    try:
        return unpacker.decompress(packed, _PIECE), unpacker.unconsumed_tail
    except zlib.error as error:
        raise ClientPayloadError("its compressed answer is damaged") from error


__all__ = ["ENCODINGS", "LIMIT_VARIABLE", "AnswerTooLarge", "answer_limit", "body_of", "pieces_of"]
