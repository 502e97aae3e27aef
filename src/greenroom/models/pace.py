"""How soon a call may leave: no more often than so many a second, and not while asked to wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from greenroom.errors import InputError
from greenroom.models.limits import SECONDS_BETWEEN_CUTS

USED = 0.95
"""The part of a rate that is used: calls may be a little late, and then come closer together."""
MOST_LATE = 0.1
"""Seconds: a call that could not leave in time, as its process was busy, gets another moment."""
_PAUSE = 0.5
_CHANCES = 3
"""So many moments a call gets: a process that is always busy is slow, and comes to an end."""


class Slots(Protocol):
    """Hands out the moments at which calls to an endpoint may leave, to all that share it."""

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        """Reserve up to so many slots, evenly spaced.

        When the first one is, by `time.monotonic`, and how many there are: those of soon alone, so
        that a rate that changes holds soon.
        """
        ...

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        """Tell all that an endpoint asked for less, and to be left alone for so long: when."""
        ...


@dataclass
class OwnSlots:
    """Slots of this process alone."""

    clock: Callable[[], float] = time.monotonic
    _next: dict[str, float] = field(default_factory=dict[str, float])

    async def reserve(self, endpoint: str, rate: float, count: int) -> tuple[float, int]:
        """Reserve so many slots, evenly spaced: when the first one is, and how many there are."""
        first = max(self._next.get(endpoint, 0.0), self.clock())
        self._next[endpoint] = first + count / rate
        return first, count

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        """Nobody else has to be told."""
        return self.clock()


class Pace:
    """The pace of calls to one endpoint.

    Calls that wait at the same moment share a reservation: slots in a database take a while.
    """

    def __init__(
        self,
        endpoint: str,
        rate: float | None,
        slots: Slots,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = endpoint
        self._slots = slots
        self._clock = clock
        self._ready = deque[float]()
        """Slots that are reserved, and that no call has yet."""
        self._asking = anyio.Lock()
        self._waiting = 0
        self._held_until = 0.0
        self._slowed_at = 0.0
        self.set(rate)

    def share(self, slots: Slots) -> None:
        """Have others hand out the slots from now on."""
        self._slots = slots

    def set(self, rate: float | None) -> None:
        """Let so many calls a second leave from now on; None for as many as there are."""
        if rate is not None and rate <= 0:
            raise InputError("The calls per second must be more than 0.")
        self._rate = rate

    def hold(self, seconds: float) -> None:
        """Let no call leave for so long."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    async def overloaded(self, seconds: float) -> None:
        """The endpoint asked for less, and to be left alone for so long: tell all that share it."""
        self.hold(seconds)
        self._slowed_at = await self._slots.overloaded(self._endpoint, seconds)

    def is_news(self, at: float) -> bool:
        """Whether what somebody was told at that time is not known here yet.

        Processes that ask together are told together: that counts as one sign.
        """
        news = at - self._slowed_at >= SECONDS_BETWEEN_CUTS
        if news:
            self._slowed_at = at
        return news

    async def wait(self) -> float:
        """Wait until a call may leave: when its slot is."""
        chances = _CHANCES
        while True:
            if (held := self._held_until - self._clock()) > 0:
                await anyio.sleep(held)
            moment = await self._slot()
            if (early := moment - self._clock()) > 0:
                await anyio.sleep(early)
            if self._held_until > self._clock():
                continue
            chances -= 1
            if not chances or self.is_timely(moment):
                return moment

    def is_timely(self, moment: float) -> bool:
        """Whether a call with this slot may leave now."""
        return self._rate is None or self._clock() - moment <= MOST_LATE

    async def _slot(self) -> float:
        if self._rate is None:
            return self._clock()
        self._waiting += 1
        try:
            async with self._asking:
                # Calls that were cancelled have left some.
                while self._ready and not self.is_timely(self._ready[0]):
                    self._ready.popleft()
                while not self._ready:
                    await self._reserve(self._rate * USED)
                return self._ready.popleft()
        finally:
            self._waiting -= 1

    async def _reserve(self, rate: float) -> None:
        """Reserve a slot for each call that waits; if there are none yet, wait a while."""
        first, count = await self._slots.reserve(self._endpoint, rate, self._waiting)
        self._ready.extend(first + place / rate for place in range(count))
        if not count:
            # Not until the first one: the rate may change.
            await anyio.sleep(min(max(first - self._clock() - _PAUSE, 0.01), _PAUSE))
