"""An outage of the database in the middle of a job: wait for a while, and say so."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from greenroom.store.database import StoreOutage, longest_wait
from greenroom.util.terminal import echo

R = TypeVar("R")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class Patience:
    """Calls of the store that wait while the database is away. All calls of a job share the time.

    `go_on` is the command that goes on with the job. Safe to use from several threads.
    """

    def __init__(self, go_on: str) -> None:
        self._go_on = go_on
        self._longest = longest_wait()
        self._since: float | None = None
        self._lock = Lock()

    def call(self, function: Callable[[], R]) -> R:
        """Call the store; raise StoreOutage if the database stays away."""
        pause = _FIRST_PAUSE
        while True:
            try:
                result = function()
            except StoreOutage as outage:
                if not self._may_wait(outage):
                    raise self._explained(outage) from outage
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._note_success()
                return result

    def _may_wait(self, outage: StoreOutage) -> bool:
        with self._lock:
            if self._since is None:
                self._since = time.monotonic()
                _tell(f"{outage} Waiting for it, up to {self._longest:.0f} seconds.")
            return time.monotonic() - self._since < self._longest

    def _note_success(self) -> None:
        with self._lock:
            if self._since is not None:
                _tell(f"The database is back after {time.monotonic() - self._since:.0f} seconds.")
                self._since = None

    def _explained(self, outage: StoreOutage) -> StoreOutage:
        hint = f" When it is back, go on with: {self._go_on}" if self._go_on else ""
        return StoreOutage(f"{outage}{hint}")


def _tell(text: str) -> None:
    echo(f"\n{text}", err=True)
