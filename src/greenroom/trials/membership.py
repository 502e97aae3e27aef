"""One worker among those of a job: its lease, and what it sees of the others."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from greenroom.errors import InputError
from greenroom.store import StoreError, this_process
from greenroom.store.allowances import NOTHING, Allowance
from greenroom.store.control import Control
from greenroom.store.leases import RENEWAL_SECONDS
from greenroom.store.workers import Look, Order
from greenroom.trials.work import JobWork

LOOK_SECONDS = 1.0
"""What is set from another terminal takes effect within this time."""
_GRACE_SECONDS = 2 * RENEWAL_SECONDS


class Membership:
    """This process as a worker on a job, from `join` to `leave`."""

    def __init__(self, work: JobWork[Any, Any], order: Order, *, helps: bool) -> None:
        self._work = work
        self._order = order
        self._helps = helps
        self._follow: Callable[[Look], Awaitable[None]] | None = None
        self.spent: Callable[[], Allowance] = lambda: NOTHING
        """What was spent of the part of the budget that this worker was given."""
        self._in_touch_since = time.monotonic()
        self.owner = this_process()
        """Another one after others thought that this worker was gone."""
        self.look = Look(True, (self.owner.token,), Control(), left=True)
        """What was seen last of the job and its workers."""

    @property
    def in_touch(self) -> bool:
        """Whether the database has been there for so long that leases that ran out tell something.

        While it is away, nobody can renew a lease.
        """
        return time.monotonic() - self._in_touch_since > _GRACE_SECONDS

    async def join(self) -> None:
        """Work on the job from now on."""
        await self._join(helps=self._helps)

    async def _join(self, *, helps: bool) -> None:
        job, workers = self._work.job, self._work.jobs.workers
        await self._work.in_store(
            workers.join,
            *(job.id, job.name, self.owner, self._order),
            helps=helps,
            expired=self.in_touch,
        )
        self.look = await self._work.in_store(workers.look, job.id, self.owner)

    async def leave(self) -> None:
        """Work on the job no more. A lease that cannot be given back expires by itself."""
        workers = self._work.jobs.workers
        with suppress(StoreError):
            leaves = self._work.job.id, self.owner, self.spent()
            leave = partial(workers.leave, *leaves, expired=self.in_touch)
            await anyio.to_thread.run_sync(leave, limiter=self._work.threads)

    async def follow(self, told: Callable[[Look], Awaitable[None]]) -> None:
        """Tell what was seen, now and at every look."""
        self._follow = told
        await told(self.look)

    async def keep(self) -> None:
        """Look after the job and renew the lease until this is cancelled."""
        renewed = seen = time.monotonic()
        while True:
            await anyio.sleep(LOOK_SECONDS)
            due = time.monotonic() - renewed >= RENEWAL_SECONDS
            self.look = await self._work.in_store(
                self._work.jobs.workers.look, self._work.job.id, self.owner, renew=due
            )
            now = time.monotonic()
            if now - seen > RENEWAL_SECONDS:
                self._in_touch_since = now  # the database was away, or this process stood still
            seen, renewed = now, now if due else renewed
            if not self.look.member:
                await self._come_back()
            if self._follow is not None:
                await self._follow(self.look)

    async def _come_back(self) -> None:
        # As a new worker: others may have what it had claimed. The first result of a cell stays.
        self.owner = this_process()
        # The queue is as it was, whoever filled it.
        await self._join(helps=True)
        if not self._helps and len(self.look.workers) > 1:
            kind, name = self._work.jobs.kind.name, self._work.job.name
            raise InputError(f"Another process has taken over the {kind} '{name}'.")
