"""The way into the store: what ends at the same moment shares a transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

T = TypeVar("T")


class GroupWriter(Generic[T]):
    """Commits records. `keep` returns once its record is safe, and not before.

    A commit waits for the disk. While it does, other work ends; it is committed together as soon as
    that is done, so that the disk is waited for once for all of it.
    """

    def __init__(
        self,
        commit: Callable[[list[T]], object],
        capacity: int,
        threads: anyio.CapacityLimiter | None = None,
    ) -> None:
        self._commit = commit
        self._threads = threads
        streams = anyio.create_memory_object_stream[tuple[T, anyio.Event]](capacity)
        self._send: MemoryObjectSendStream[tuple[T, anyio.Event]] = streams[0]
        self._receive: MemoryObjectReceiveStream[tuple[T, anyio.Event]] = streams[1]

    async def keep(self, record: T) -> None:
        """Keep a record: it is in the store when this returns."""
        safe = anyio.Event()
        await self._send.send((record, safe))
        await safe.wait()

    def close(self) -> None:
        """No further record will come."""
        self._send.close()

    async def run(self) -> None:
        """Commit what comes until there is no more."""
        async with self._receive:
            async for item in self._receive:
                batch = [item]
                while self._receive.statistics().current_buffer_used:
                    batch.append(self._receive.receive_nowait())
                records = [record for record, _ in batch]
                await anyio.to_thread.run_sync(self._commit, records, limiter=self._threads)
                for _, safe in batch:
                    safe.set()
