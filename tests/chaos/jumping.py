"""A clock that jumps: the wall clock of a process is ahead by what a file says.

`shim` writes a `sitecustomize` module that Python imports first. Clocks that only go forward, such
as that of timeouts, stay as they are, as they do when a real clock is set.
"""

from __future__ import annotations

from pathlib import Path

VARIABLE = "CHAOS_CLOCK"

_SHIM = """
import datetime
import os
import time

_real, _now = datetime.datetime, time.time


def _ahead():
    with open(os.environ["CHAOS_CLOCK"]) as file:
        return float(file.read() or 0)


class _Kind(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _real)


class datetime_(_real, metaclass=_Kind):
    @classmethod
    def now(cls, tz=None):
        return _real.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls):
        return _real.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)


time.time = lambda: _now() + _ahead()
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = datetime_
"""


class Clock:
    """The wall clock of all processes with this environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ahead"
        self.jump(0)
        (folder / "sitecustomize.py").write_text(_SHIM)
        self.environment = {VARIABLE: str(self._file), "PYTHONPATH": str(folder)}

    def jump(self, ahead: float) -> None:
        """Set the clock so many seconds ahead of the true time."""
        draft = self._file.with_suffix(".new")
        draft.write_text(str(ahead))
        draft.replace(self._file)
