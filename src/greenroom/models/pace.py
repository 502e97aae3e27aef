"""How soon a call may leave: no more often than so many a second, and not while asked to wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from greenroom.errors import InputError


class Slots(Protocol):
    """Hands out the moments at which calls to an endpoint may leave, to all that share it."""

    async def reserve(self, endpoint: str, rate: float, count: int) -> float:
        """Reserve so many slots, evenly spaced: how many seconds it is until the first."""
        ...

    async def overloaded(self, endpoint: str, seconds: float) -> float:
        """Tell all that an endpoint asked for less, and to be left alone for so long: when."""
        ...


@dataclass
class OwnSlots:
    """Slots of this process alone."""

    clock: Callable[[], float] = time.monotonic
    _next: dict[str, float] = field(default_factory=dict[str, float])

    async def reserve(self, endpoint: str, rate: float, count: int) -> float:
        """Reserve so many slots, evenly spaced: how many seconds it is until the first."""
        now = self.clock()
        first = max(self._next.get(endpoint, now), now)
        self._next[endpoint] = first + count / rate
        return first - now

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
        self._waiting: list[_Call] = []
        self._reserving = False
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
        """Whether what somebody was told at that time is not known here yet."""
        news, self._slowed_at = at > self._slowed_at, max(at, self._slowed_at)
        return news

    async def wait(self) -> None:
        """Wait until a call may leave."""
        if (rate := self._rate) is not None:
            call = _Call()
            self._waiting.append(call)
            if not self._reserving:
                # The others' slots are reserved, too: this must not end before they have them.
                with anyio.CancelScope(shield=True):
                    await self._reserve(rate)
            await call.known.wait()
            if call.error is not None:
                raise call.error
            await anyio.sleep(max(call.leaves_at - self._clock(), 0.0))
        if (held := self._held_until - self._clock()) > 0:
            await anyio.sleep(held)

    async def _reserve(self, rate: float) -> None:
        self._reserving = True
        try:
            while self._waiting:
                calls, self._waiting = self._waiting, []
                try:
                    first = await self._slots.reserve(self._endpoint, rate, len(calls))
                except Exception as error:
                    for call in calls:
                        call.error = error
                    first = 0.0
                start = self._clock() + first
                for place, call in enumerate(calls):
                    call.leaves_at = start + place / rate
                    call.known.set()
        finally:
            self._reserving = False


@dataclass
class _Call:
    known: anyio.Event = field(default_factory=anyio.Event)
    leaves_at: float = 0.0
    error: Exception | None = None
