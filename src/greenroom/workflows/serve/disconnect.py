"""Cancelling the work for a client that has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import anyio

from greenroom.workflows.serve.exchange import ClientDisconnected, Receive

Result = TypeVar("Result")

_SECONDS_UNWATCHED = 0.02
"""Most calls end earlier, and need no task that watches the connection."""


async def cancel_on_disconnect(receive: Receive, work: Awaitable[Result]) -> Result:
    """The result of the work; a disconnect cancels it and raises ClientDisconnected."""
    loop = asyncio.get_running_loop()
    watchers: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    # A cancel scope waits for running threads, which cannot be stopped.
    with anyio.CancelScope() as scope:
        timer = loop.call_later(
            _SECONDS_UNWATCHED, lambda: watchers.append(loop.create_task(watch()))
        )
        try:
            return await work
        finally:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()
    raise ClientDisconnected
