"""An answer that comes in pieces: comments fill the silence, and nothing follows its end."""

from __future__ import annotations

import asyncio

from greenroom.workflows.serve.exchange import Exchange, Headers

SECONDS_OF_SILENCE = 15.0
"""Proxies and clients give up on streams that are silent for a minute or less."""

EVENT_STREAM = b"text/event-stream"
_COMMENT = b": keep-alive\n\n"


class PieceStream:
    """Sends pieces as they come; begins the answer with the first."""

    def __init__(
        self,
        exchange: Exchange,
        content_type: bytes,
        headers: Headers,
        silence: float = SECONDS_OF_SILENCE,
    ) -> None:
        self._exchange = exchange
        self._content_type = content_type
        self._headers = headers
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._sending = False
        self._ended = False
        self._last = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._comment: asyncio.Task[None] | None = None
        if content_type == EVENT_STREAM:  # lines of JSON have no comments
            self._timer = self._loop.call_later(silence, self._tick)

    async def send(self, piece: bytes) -> None:
        """Send a piece; one that comes after the end is dropped."""
        if self._comment is not None:
            await asyncio.wait({self._comment})
            self._comment = None
        await self._write(piece)

    async def end(self, last: bytes = b"") -> None:
        """End the answer, with a last piece if there is one."""
        await self.send(last)
        self._ended = True
        await self._exchange.end()

    async def _write(self, piece: bytes) -> None:
        if self._ended:
            return
        self._sending = True
        try:
            if not self._exchange.started:
                await self._exchange.begin(self._content_type, self._headers)
            if piece:
                await self._exchange.piece(piece)
        finally:
            self._sending = False
        self._last = self._loop.time()

    def close(self) -> None:
        """Send nothing any more."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        silent = self._loop.time() - self._last
        # While a piece waits for the client, another one helps nobody.
        if silent >= self._silence and not self._sending:
            self._comment = self._loop.create_task(self._write(_COMMENT))
            silent = 0.0
        wait = max(self._silence - silent, self._silence / 10)
        self._timer = self._loop.call_later(wait, self._tick)
