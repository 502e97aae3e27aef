"""Which task of tau2-bench is which of Tau Bench's: it has renumbered them."""

from __future__ import annotations

import re
from typing import Final

_RETAIL_WITHOUT: Final = 95
"""Tau Bench's retail task that tau2-bench has left out; those after it moved up by one."""

# fmt: off
_AIRLINE: Final = (
    20, 19, 18, 21, 22, 17, 16, 15, 14, 23, 24, 25, 26, 13, 12, 11, 27, 10, 28, 29, 30, 31, 32, 33,
    34, 35, 37, 9, 39, 41, 42, 43, 8, 44, 7, 45, 6, 5, 46, 47, 4, 48, 49, 40, 3, 38, 2, 1, 36, 0,
)
# fmt: on
"""tau2-bench's numbers, in the order of Tau Bench's airline tasks: found by user and text."""

_WORD: Final = re.compile(r"[a-z0-9_#]+")
_ALIKE: Final = 0.3
"""Two wordings of one task share at least this part of their words."""


def counterpart(domain: str, index: int) -> str | None:
    """The id of tau2-bench's task that was Tau Bench's test task of this number; None: it is gone.

    >>> counterpart("retail", 94), counterpart("retail", 95), counterpart("retail", 96)
    ('94', None, '95')
    """
    if domain == "airline":
        return str(_AIRLINE[index]) if 0 <= index < len(_AIRLINE) else None
    if domain != "retail" or index == _RETAIL_WITHOUT:
        return None
    return str(index if index < _RETAIL_WITHOUT else index - 1)


def likeness(one: str, other: str) -> float:
    """The part of the words of two texts that both have."""
    left, right = (set(_WORD.findall(text.lower())) for text in (one, other))
    return len(left & right) / len(left | right) if left | right else 1.0


def are_alike(one: str, other: str) -> bool:
    """Whether two instructions can be wordings of the same task."""
    return likeness(one, other) >= _ALIKE
