"""Slots of calls from the store: all processes that ask an endpoint share its rate."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from greenroom.trials.work import JobWork


@dataclass(frozen=True)
class StoreSlots:
    """The moments at which calls may leave, as the store hands them out."""

    work: JobWork[Any, Any]

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        """Reserve up to so many slots: when the first one is, and how many there are."""
        return await self.work.in_store(self._reserve, endpoint, rate, count)

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        """Tell all that an endpoint asked for less, and to be left alone for so long: when."""
        return await self.work.in_store(self.work.jobs.endpoints.overloaded, endpoint, seconds)

    def _reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        seconds, reserved = self.work.jobs.endpoints.reserve(endpoint, rate, count)
        # In the store's thread: the event loop may be busy when the answer comes.
        return time.monotonic() + seconds, reserved
