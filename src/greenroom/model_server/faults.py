"""Random latencies and faults of requests.

Every draw is a function of the seed, the request's bytes and how often it was sent before. The same
requests get the same faults in any order, and a retry draws again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from greenroom.errors import InputError, UnknownName

FAULTS: Final = (
    "429",
    "500",
    "timeout",
    "drop",
    "truncated",
    "malformed",
    "wrong-tool",
    "bad-arguments",
    "empty",
    "no-choices",
)
"""The faults that an answer can have."""

ACTION_FAULTS: Final = ("wrong-tool", "bad-arguments")
"""Faults that apply only to answers that call a tool."""

_REMEMBERED = 500_000
_NUMBER = r"(\d+\.?\d*|\.\d+)"
_TIME_RANGE = re.compile(rf"{_NUMBER}(ms|s)?(?:-{_NUMBER}(ms|s)?)?", re.ASCII)


@dataclass(frozen=True)
class TimeRange:
    """A time in seconds, or a range to draw one from."""

    least: float = 0.0
    most: float = 0.0

    def at(self, share: float) -> float:
        """The time at this share of the range."""
        return self.least + (self.most - self.least) * share


def parse_time_range(text: str) -> TimeRange:
    """Parse a time or a range of times; a number without a unit is seconds.

    >>> parse_time_range("50ms")
    TimeRange(least=0.05, most=0.05)
    >>> parse_time_range("20-200ms") == parse_time_range("20ms-0.2s")
    True
    """
    match = _TIME_RANGE.fullmatch(text.strip())
    if match is not None:
        least, unit, most, last_unit = match.groups()
        first = _seconds(least, unit or last_unit)
        span = TimeRange(first, first if most is None else _seconds(most, last_unit or unit))
        if span.least <= span.most:
            return span
    raise InputError(f"A time is 50ms, 0.5s or a range such as 20ms-200ms, not '{text}'.")


def _seconds(number: str, unit: str | None) -> float:
    return float(number) / 1000 if unit == "ms" else float(number)


def parse_faults(text: str) -> tuple[str, ...]:
    """Parse a list of fault kinds such as "429,500"."""
    kinds = tuple(word for word in re.split(r"[,\s]+", text) if word)
    check_faults(kinds)
    return kinds


def check_faults(kinds: tuple[str, ...]) -> None:
    """Raise InputError for unknown faults."""
    if not kinds:
        raise InputError(f"Name at least one fault: {', '.join(FAULTS)}.")
    for kind in kinds:
        if kind not in FAULTS:
            raise UnknownName("fault", kind, FAULTS)


@dataclass(frozen=True, slots=True)
class Draw:
    """The random numbers of one request: independent, from 0 up to 1."""

    happens: float
    kind: float
    delay: float
    wait: float


class RequestSampler:
    """Draws random numbers for requests."""

    def __init__(self, seed: int) -> None:
        self._seed = str(seed).encode()
        self._times: dict[bytes, int] = {}

    def draw(self, body: bytes) -> Draw:
        """The random numbers of a request."""
        request = blake2b(body, digest_size=16).digest()
        if len(self._times) >= _REMEMBERED:
            self._times.clear()
        time = self._times[request] = self._times.get(request, 0) + 1
        drawn = blake2b(b"%b/%b/%d" % (self._seed, request, time), digest_size=32).digest()
        shares = (int.from_bytes(drawn[at : at + 8]) >> 11 for at in range(0, 32, 8))
        return Draw(*(share / (1 << 53) for share in shares))
