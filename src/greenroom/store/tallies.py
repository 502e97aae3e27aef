"""What agents and simulated users count beyond the usual, as records and reports hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenroom.util.raw_json import DEEPEST, plain

Tallies = dict[str, dict[str, float | None]]
"""Counts by what they are of; None for one that is not known."""


def tallies_of(told: Any) -> Tallies:
    """What anybody's code leaves behind as its counts; whatever is none is left out."""
    return {
        name: {what: _number(count) for what, count in _entries(counts).items()}
        for name, counts in _entries(told).items()
    }


def add_tallies(sums: Tallies, told: Mapping[str, Mapping[str, float | None]]) -> None:
    """Add what one episode or result counted."""
    for title, counts in told.items():
        own = sums.setdefault(title, {})
        for label, count in counts.items():
            so_far = own.get(label, 0.0)
            # A count that is unknown once is unknown in all.
            own[label] = None if count is None or so_far is None else so_far + count


def _entries(value: Any) -> dict[str, Any]:
    return plain(value, DEEPEST) if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
