"""As many attempts at once as are wanted just now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup


def share(total: int, workers: int, place: int) -> int:
    """How many of so many places one of several workers has; `place` is its own, from 0."""
    return total // workers + (place < total % workers)


class Crew:
    """Tasks that attempt one cell after the other; more or fewer of them at any time, or none.

    `attempt_next` says whether there was a cell. Once there is none, no task is started.
    """

    def __init__(self, group: TaskGroup, attempt_next: Callable[[], Awaitable[bool]]) -> None:
        self._group = group
        self._attempt_next = attempt_next
        self._wanted = 0
        self._at_work = 0
        self.ended = anyio.Event()

    def resize(self, wanted: int) -> None:
        """Attempt so many cells at once from now on; those under way go on to their end."""
        self._wanted = wanted
        while self._at_work < wanted and not self.ended.is_set():
            self._at_work += 1
            self._group.start_soon(self._attempt_cells)

    def end(self) -> None:
        """Begin nothing more."""
        self.ended.set()

    async def _attempt_cells(self) -> None:
        try:
            while self._at_work <= self._wanted and not self.ended.is_set():
                if not await self._attempt_next():
                    self.end()
                    return
        finally:
            self._at_work -= 1
