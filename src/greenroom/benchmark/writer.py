"""The way into the store: episodes that end at the same moment share a transaction."""

from __future__ import annotations

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from greenroom.store import EpisodeRecord, Store

_Item = tuple[EpisodeRecord, anyio.Event]


class EpisodeWriter:
    """Commits episodes. `keep` returns once its episode is safe, and not before.

    A commit waits for the disk. While it does, other episodes end; they are committed together as
    soon as it is done, so that the disk is waited for once for all of them.
    """

    def __init__(self, store: Store, run_id: str, capacity: int) -> None:
        self._store = store
        self._run_id = run_id
        streams = anyio.create_memory_object_stream[_Item](capacity)
        self._send: MemoryObjectSendStream[_Item] = streams[0]
        self._receive: MemoryObjectReceiveStream[_Item] = streams[1]

    async def keep(self, record: EpisodeRecord) -> None:
        """Keep an episode: it is in the store when this returns."""
        safe = anyio.Event()
        await self._send.send((record, safe))
        await safe.wait()

    def close(self) -> None:
        """No further episode will come."""
        self._send.close()

    async def run(self) -> None:
        """Commit what comes until there is no more."""
        async with self._receive:
            async for item in self._receive:
                batch = [item]
                while self._receive.statistics().current_buffer_used:
                    batch.append(self._receive.receive_nowait())
                records = [record for record, _ in batch]
                await anyio.to_thread.run_sync(self._store.add_episodes, self._run_id, records)
                for _, safe in batch:
                    safe.set()
