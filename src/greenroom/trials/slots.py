"""Slots of calls from the store: all processes that ask an endpoint share its rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from greenroom.trials.work import JobWork


@dataclass(frozen=True)
class StoreSlots:
    """The moments at which calls may leave, as the store hands them out."""

    work: JobWork[Any, Any]

    async def reserve(self, endpoint: str, rate: float, count: int) -> float:
        """Reserve so many slots, evenly spaced: how many seconds it is until the first."""
        return await self.work.in_store(self.work.jobs.endpoints.reserve, endpoint, rate, count)

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        """Tell all that an endpoint asked for less, and to be left alone for so long: when."""
        return await self.work.in_store(self.work.jobs.endpoints.overloaded, endpoint, seconds)
