"""What takes long to work out is worked out once for all who look at it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_REST = 10.0
"""So many times as long as it took, it is not worked out again."""
_LONGEST_REST = 60.0


@dataclass
class _Entry(Generic[T]):
    lock: Lock = field(default_factory=Lock)
    state: Any = None
    value: T | None = None
    took: float = 0.0
    at: float = 0.0

    @property
    def is_fresh(self) -> bool:
        rest = min(self.took * _REST, _LONGEST_REST)
        return time.monotonic() - self.at < rest


class Remembered(Generic[T]):
    """Values by key, the latest of them. Safe to use from several threads.

    A value belongs to a state of what it was worked out from. While that changes all the time, as
    with an evaluation under way, a value stays for as long as it is cheap to be a little late.
    """

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()

    def get(self, key: Hashable, state: Any, build: Callable[[], T], *, moving: bool = False) -> T:
        """The value of a key in a state. While it is `moving`, one of a state before may do."""
        with self._lock:
            entry = self._entries.pop(key, None) or _Entry[T]()
            self._entries[key] = entry
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        with entry.lock:  # others who want the same wait for it
            if entry.value is not None and (entry.state == state or (moving and entry.is_fresh)):
                return entry.value
            started = time.monotonic()
            value = build()
            entry.at = time.monotonic()
            entry.took = entry.at - started
            entry.state, entry.value = state, value
            return value
