"""The way into the store: results that come at the same moment share a transaction."""

from __future__ import annotations

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from greenroom.store import ResultRecord, Store

_Item = tuple[ResultRecord, anyio.Event]


class ResultWriter:
    """Commits results. `keep` returns once its result is safe, and not before.

    A commit waits for the disk. While it does, other calls end; they are committed together as soon
    as it is done, so that the disk is waited for once for all of them.
    """

    def __init__(
        self, store: Store, evaluation_id: str, capacity: int, threads: anyio.CapacityLimiter
    ) -> None:
        self._store = store
        self._evaluation_id = evaluation_id
        self._threads = threads
        streams = anyio.create_memory_object_stream[_Item](capacity)
        self._send: MemoryObjectSendStream[_Item] = streams[0]
        self._receive: MemoryObjectReceiveStream[_Item] = streams[1]

    async def keep(self, record: ResultRecord) -> None:
        """Keep a result: it is in the store when this returns."""
        safe = anyio.Event()
        await self._send.send((record, safe))
        await safe.wait()

    def close(self) -> None:
        """No further result will come."""
        self._send.close()

    async def run(self) -> None:
        """Commit what comes until there is no more."""
        async with self._receive:
            async for item in self._receive:
                batch = [item]
                while self._receive.statistics().current_buffer_used:
                    batch.append(self._receive.receive_nowait())
                await anyio.to_thread.run_sync(
                    self._store.evaluations.add_results,
                    self._evaluation_id,
                    [record for record, _ in batch],
                    limiter=self._threads,
                )
                for _, safe in batch:
                    safe.set()
