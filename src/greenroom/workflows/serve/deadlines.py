"""The ends of calls that nobody waits for: their time is over, or their client is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

import anyio
from starlette.types import Receive

from greenroom.workflows.serve.exchange import ClientDisconnected

Result = TypeVar("Result")

_SECONDS_UNWATCHED = 0.02
"""Most calls end earlier, and need no task that watches the connection."""

LeftBehind = set[asyncio.Task[Any]]
"""Work that was left behind and has not ended: the loop itself holds tasks weakly."""


class OutOfTime(Exception):
    """The work took longer than it may."""


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


async def in_time(
    work: Callable[[], Awaitable[Result]], seconds: float | None, left: LeftBehind
) -> Result:
    """The result of the work; raises OutOfTime if there is none within the seconds.

    The work is cancelled then. A thread cannot be: it is left behind, with all that its work holds.
    """
    if seconds is None:
        return await work()
    scope = anyio.CancelScope()

    async def inside() -> Result | None:
        with scope:
            return await work()
        return None

    task = asyncio.create_task(inside())
    left.add(task)
    task.add_done_callback(left.discard)
    task.add_done_callback(_forget)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        scope.cancel()
        raise
    if not done:
        scope.cancel()
        raise OutOfTime
    return cast("Result", task.result())


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # what was left behind may fail as it likes
