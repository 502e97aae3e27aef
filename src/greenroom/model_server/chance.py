"""What chance does to requests: how long they take, and which of them go wrong.

Every draw is a function of the seed, the request's bytes and how often it was sent before: the same
requests meet the same fate in whatever order they come, and a retry draws anew.
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
"""Everything that can go wrong with an answer."""

ACTION_FAULTS: Final = ("wrong-tool", "bad-arguments")
"""These need an action to go wrong with."""

_REMEMBERED = 500_000
_NUMBER = r"(\d+\.?\d*|\.\d+)"
_SPAN = re.compile(rf"{_NUMBER}(ms|s)?(?:-{_NUMBER}(ms|s)?)?", re.ASCII)


@dataclass(frozen=True)
class Span:
    """A time in seconds, or a range to draw one from."""

    least: float = 0.0
    most: float = 0.0

    def at(self, share: float) -> float:
        """The time that lies this far into the range."""
        return self.least + (self.most - self.least) * share


def parse_span(text: str) -> Span:
    """A time or a range of times; a number without a unit is seconds.

    >>> parse_span("50ms"), parse_span("20ms-0.2s"), parse_span("20-200ms")
    (Span(least=0.05, most=0.05), Span(least=0.02, most=0.2), Span(least=0.02, most=0.2))
    """
    match = _SPAN.fullmatch(text.strip())
    if match is not None:
        least, unit, most, last_unit = match.groups()
        first = _seconds(least, unit or last_unit)
        span = Span(first, first if most is None else _seconds(most, last_unit or unit))
        if span.least <= span.most:
            return span
    raise InputError(f"A time is 50ms, 0.5s or a range such as 20ms-200ms, not '{text}'.")


def _seconds(number: str, unit: str | None) -> float:
    return float(number) / 1000 if unit == "ms" else float(number)


def parse_faults(text: str) -> tuple[str, ...]:
    """The kinds of faults in a list such as "429,500"."""
    kinds = tuple(word for word in re.split(r"[,\s]+", text) if word)
    check_faults(kinds)
    return kinds


def check_faults(kinds: tuple[str, ...]) -> None:
    """Raise InputError unless there are such faults."""
    if not kinds:
        raise InputError(f"Name at least one fault: {', '.join(FAULTS)}.")
    for kind in kinds:
        if kind not in FAULTS:
            raise UnknownName("fault", kind, FAULTS)


@dataclass(frozen=True, slots=True)
class Draw:
    """A request's fate: independent numbers from 0 up to 1."""

    happens: float
    kind: float
    delay: float
    wait: float


class Chance:
    """Draws for requests, one after the other."""

    def __init__(self, seed: int) -> None:
        self._seed = str(seed).encode()
        self._times: dict[bytes, int] = {}

    def draw(self, body: bytes) -> Draw:
        """The fate of a request."""
        request = blake2b(body, digest_size=16).digest()
        if len(self._times) >= _REMEMBERED:
            self._times.clear()
        time = self._times[request] = self._times.get(request, 0) + 1
        drawn = blake2b(b"%b/%b/%d" % (self._seed, request, time), digest_size=32).digest()
        shares = (int.from_bytes(drawn[at : at + 8]) >> 11 for at in range(0, 32, 8))
        return Draw(*(share / (1 << 53) for share in shares))
