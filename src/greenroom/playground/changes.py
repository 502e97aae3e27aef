"""What changes, told to the pages that listen: at once what happens here, and within about a second
what other processes do to the store.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from greenroom.errors import redacted
from greenroom.playground.thread_models import ChangeEvent
from greenroom.store.watching import Watch

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_BEATS = 15.0
MOST_WAITING = 2000
"""Events that wait for a slow page; with more it is dropped, connects again and loads anew."""

SECONDS_TOLD_AGAIN = 5.0
"""A page that begins to listen is told what changed this long before, since it has loaded."""

_REMEMBERED = 20_000
_MOST_TOLD_AGAIN = 500
_logger = logging.getLogger("greenroom.playground")
_CLOCKS_DIFFER = timedelta(seconds=5)


class Follower:
    """One page that listens."""

    def __init__(self) -> None:
        self._waiting: deque[ChangeEvent] = deque()
        self._more = anyio.Event()
        self.closed = False

    def take(self, event: ChangeEvent) -> None:
        """Keep an event for the page."""
        if len(self._waiting) >= MOST_WAITING:
            self.closed = True
        else:
            self._waiting.append(event)
        self._more.set()

    def close(self) -> None:
        """End the stream."""
        self.closed = True
        self._more.set()

    async def events(self) -> AsyncGenerator[ChangeEvent | None]:
        """The events as they come; None after a while without one."""
        while not self.closed:
            if not self._waiting:
                self._more = anyio.Event()
                with anyio.move_on_after(SECONDS_BETWEEN_BEATS):
                    await self._more.wait()
                if not self._waiting and not self.closed:
                    yield None
            while self._waiting and not self.closed:
                yield self._waiting.popleft()


class Changes:
    """Tells the pages what changes."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._followers: set[Follower] = set()
        self._told: OrderedDict[tuple[str, str], object] = OrderedDict()
        self._recent: deque[tuple[float, ChangeEvent]] = deque(maxlen=_MOST_TOLD_AGAIN)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listening = anyio.Event()
        self._ended = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look at the store while the block runs and somebody listens."""
        self._loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._look)
            try:
                yield
            finally:
                self.end()
                tasks.cancel_scope.cancel()

    def end(self) -> None:
        """End all streams, so that the server can stop."""
        self._ended = True
        for follower in list(self._followers):
            follower.close()

    @asynccontextmanager
    async def followed(self) -> AsyncGenerator[Follower]:
        """A page that listens while the block runs."""
        follower = Follower()
        if self._ended:
            follower.close()
        since = time.monotonic() - SECONDS_TOLD_AGAIN
        for when, event in self._recent:
            if when >= since:
                follower.take(event)
        self._followers.add(follower)
        self._listening.set()
        try:
            yield follower
        finally:
            self._followers.discard(follower)

    def tell(self, event: ChangeEvent) -> None:
        """Tell a change that was made here; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._spread, event)

    def thread(self, thread_id: str, board_id: str, version: int) -> None:
        """Tell that a thread changed."""
        self.tell(ChangeEvent(kind="thread", id=thread_id, board_id=board_id, version=version))

    def turn(self, turn_id: str, thread_id: str, status: str) -> None:
        """Tell how a turn stands."""
        self.tell(ChangeEvent(kind="turn", id=turn_id, thread_id=thread_id, status=status))

    def _spread(self, event: ChangeEvent) -> None:
        place = (event.kind, event.id)
        self._told[place] = _state(event)
        self._told.move_to_end(place)
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        self._recent.append((time.monotonic(), event))
        for follower in list(self._followers):
            follower.take(event)

    async def _look(self) -> None:
        watch = Watch(self._playground.store.engine)
        while True:
            if not self._followers:
                self._listening = anyio.Event()
                await self._listening.wait()
                watch.begin(datetime.now(UTC) - _CLOCKS_DIFFER)
            try:
                for seen in await self._playground.in_store(watch.look):
                    event = ChangeEvent.model_validate(seen)
                    if self._told.get((event.kind, event.id)) != _state(event):
                        self._spread(event)
            except Exception as problem:
                # The store is away for now: what changed meanwhile is told when it is back.
                text = redacted(str(problem))
                _logger.warning("No changes are seen: %s: %s", type(problem).__name__, text)
            await anyio.sleep(SECONDS_BETWEEN_LOOKS)


def _state(event: ChangeEvent) -> object:
    """What sets one change of a thing apart from the next."""
    return (event.version, event.status, event.finished, event.name)
