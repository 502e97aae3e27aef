"""The figures of tau2-bench's telecom tasks, to compare generated ones with."""

from __future__ import annotations

from typing import Final

from greenroom.domains.generation import Profile

OFFICIAL_FIGURES: Final[Profile] = {
    "writes": 496 / 114,
    "no_writes": 20 / 114,
    "many_writes": 82 / 114,
    "actions": 516 / 114,
    "outputs": 0.0,
    "with_outputs": 0.0,
    "refusals": 0.0,
    "pressure": 0.0,
    "corrections": 0.0,
    "transfers": 20 / 114,
    "nothing": 0.0,
}
"""Of the 114 tasks of the split base; both parties' changes count."""
