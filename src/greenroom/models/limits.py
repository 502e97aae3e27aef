"""How many calls an endpoint gets at once: as many as it can take.

Additive increase, multiplicative decrease, as networks do it: halved when the endpoint says that
it is too much, one more after every few answers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import anyio

from greenroom.errors import InputError

SECONDS_BETWEEN_CUTS = 1.0
"""Calls that run together fail together: they count as one sign of overload."""
SUCCESSES_PER_STEP = 10


class AdaptiveLimit:
    """A limit on concurrent calls that follows what the endpoint can take.

    `async with limit:` waits for a place, first come first served.
    """

    def __init__(
        self,
        maximum: int,
        *,
        successes_per_step: int = SUCCESSES_PER_STEP,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if maximum < 1:
            raise InputError("At least one call at once must be allowed.")
        self.maximum = maximum
        self._current = maximum
        self._in_flight = 0
        self._waiting: deque[anyio.Event] = deque()
        self._successes_per_step = successes_per_step
        self._successes = 0
        self._clock = clock
        self._last_cut = float("-inf")

    def resize(self, maximum: int) -> None:
        """Allow so many calls at once from now on, as far as the endpoint can take them."""
        if maximum == self.maximum:
            return
        whole = self._current == self.maximum
        self.maximum = maximum
        self._current = maximum if whole else min(self._current, maximum)
        self._admit()

    @property
    def current(self) -> int:
        """How many calls are allowed at once just now."""
        return self._current

    @property
    def in_flight(self) -> int:
        """How many calls are under way; more than are allowed for a while after a cut."""
        return self._in_flight

    @property
    def waiting(self) -> int:
        """How many calls wait for a place."""
        return len(self._waiting)

    async def __aenter__(self) -> None:
        if self._in_flight < self._current and not self._waiting:
            self._in_flight += 1
            return
        place = anyio.Event()
        self._waiting.append(place)
        try:
            await place.wait()
        except BaseException:
            if place.is_set():
                # This call got the place but was cancelled: pass it on.
                self._leave()
            else:
                self._waiting.remove(place)
            raise

    async def __aexit__(self, *exc_info: object) -> None:
        self._leave()

    def succeeded(self) -> None:
        """The endpoint answered a call."""
        if self._current >= self.maximum:
            return
        self._successes += 1
        if self._successes >= self._successes_per_step:
            self._successes = 0
            self._current += 1
            self._admit()

    def overloaded(self) -> None:
        """The endpoint asked for less."""
        now = self._clock()
        if now - self._last_cut >= SECONDS_BETWEEN_CUTS:
            self._last_cut = now
            self._successes = 0
            self._current = max(self._current // 2, 1)

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        # A call has its place from here on, before it runs again, so no later call can take it.
        while self._waiting and self._in_flight < self._current:
            self._in_flight += 1
            self._waiting.popleft().set()
