"""The way into the store: what ends at the same moment shares a transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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
        self._error: BaseException | None = None
        self._send: MemoryObjectSendStream[tuple[T, anyio.Event]] = streams[0]
        self._receive: MemoryObjectReceiveStream[tuple[T, anyio.Event]] = streams[1]

    async def keep(self, record: T) -> None:
        """Keep a record: it is in the store when this returns, even if the job is being stopped."""
        with anyio.CancelScope(shield=True):
            done = anyio.Event()
            with suppress(anyio.BrokenResourceError):
                await self._send.send((record, done))
                await done.wait()
            if self._error is not None:
                raise self._error

    def close(self) -> None:
        """No further record will come."""
        self._send.close()

    async def run(self) -> None:
        """Commit what comes until the writer is closed, or a commit fails."""
        with anyio.CancelScope(shield=True):
            async with self._receive:
                async for item in self._receive:
                    batch = [item, *self._waiting()]
                    records = [record for record, _ in batch]
                    try:
                        await anyio.to_thread.run_sync(self._commit, records, limiter=self._threads)
                    except BaseException as error:
                        self._error = error
                        batch += self._waiting()
                        raise
                    finally:
                        for _, done in batch:
                            done.set()

    def _waiting(self) -> list[tuple[T, anyio.Event]]:
        count = self._receive.statistics().current_buffer_used
        return [self._receive.receive_nowait() for _ in range(count)]
