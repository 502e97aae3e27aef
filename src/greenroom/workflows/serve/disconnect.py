"""Stopping the work for a client that has left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import anyio

from greenroom.workflows.serve.exchange import ClientLeft, Receive

Result = TypeVar("Result")

_SECONDS_UNWATCHED = 0.02
"""Most calls are over by then, and need no task that looks whether the client is still there."""


async def unless_client_leaves(receive: Receive, work: Awaitable[Result]) -> Result:
    """What the work gives; if the client leaves first it is cancelled, and ClientLeft raised."""
    loop = asyncio.get_running_loop()
    watchers: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    # A scope, since it waits for threads that run: they cannot be stopped.
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
    raise ClientLeft


__all__ = ["unless_client_leaves"]
