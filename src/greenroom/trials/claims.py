"""The cells that this worker takes from a job's queue, a few at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import anyio

from greenroom.store import CellKey, LeaseOwner
from greenroom.trials.membership import Membership
from greenroom.trials.work import JobWork

_SHARES = 4
"""Of its share of the cells that are left, a worker claims this part ahead of time at most."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class Cell(Protocol):
    """One piece of work: a task and a trial, a row and a repeat, a failed episode."""

    @property
    def key(self) -> CellKey: ...


ItemT = TypeVar("ItemT", bound=Cell)


class Claims(Generic[ItemT]):
    """Cells claimed for this worker and not begun yet.

    A claim is a transaction, so some are claimed ahead while many are left. At the end none are:
    another worker may have time for them.
    """

    def __init__(
        self,
        work: JobWork[Any, Any],
        membership: Membership,
        load: Callable[[Sequence[CellKey]], Sequence[ItemT]],
        *,
        ahead: int,
    ) -> None:
        self._work = work
        self._workers = work.jobs.workers
        self._membership = membership
        self._load = load
        self._most_ahead = ahead
        self._ready = deque[tuple[LeaseOwner, ItemT]]()
        self._taking = anyio.Lock()
        self._asking = 0
        self._place: int | None = None
        self._last_place = 0
        self._ended = False

    async def next(self) -> ItemT | None:
        """The next cell; None once all cells have a result.

        Wait while others have the last ones: their cells come back if they are lost.
        """
        self._asking += 1
        try:
            async with self._taking:
                while not self._ended:
                    await self._claim()
                    owner, cell = self._ready.popleft() if self._ready else (None, None)
                    if owner == self._membership.owner:
                        return cell
                return None
        finally:
            self._asking -= 1

    async def _claim(self) -> None:
        job_id, in_store, pause = self._work.job.id, self._work.in_store, _FIRST_PAUSE
        while not self._ready:
            owner = self._membership.owner
            if keys := await self._take(owner):
                found = await in_store(self._load, keys)
                self._ready.extend((owner, cell) for cell in found)
                if missing := set(keys) - {cell.key for cell in found}:
                    await in_store(self._workers.drop, job_id, sorted(missing))
                continue
            queue = await in_store(self._workers.queue, job_id, owner)
            if not queue.waiting and not queue.others:
                self._ended = True
                return
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            expired = self._membership.in_touch
            await in_store(self._workers.free_lost, job_id, expired=expired)

    async def _take(self, owner: LeaseOwner) -> list[CellKey]:
        job_id, in_store = self._work.job.id, self._work.in_store
        count = self._asking + self._ahead()
        claimed = await in_store(self._workers.claim, job_id, owner, count)
        if claimed and self._place is None:
            self._last_place = await in_store(self._workers.last_place, job_id)
        if claimed:
            self._place = claimed[-1][0]
        return [key for _, key in claimed]

    def _ahead(self) -> int:
        if self._place is None:
            return 0
        left = max(self._last_place - self._place, 0)
        living = max(len(self._membership.look.workers), 1)
        return min(self._most_ahead, left // (_SHARES * living * self._asking))
