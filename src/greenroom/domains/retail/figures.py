"""The figures of Tau Bench's test tasks, for comparison with generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from greenroom.domains.generation import Profile

OFFICIAL_FIGURES: Final[Profile] = {
    "writes": 178 / 115,
    "no_writes": 9 / 115,
    "many_writes": 21 / 115,
    "actions": 582 / 115,
    "outputs": 62 / 115,
    "with_outputs": 37 / 115,
    "refusals": 37 / 115,
    "pressure": 14 / 115,
    "corrections": 21 / 115,
    "transfers": 4 / 115,
    "nothing": 7 / 115,
}
"""Of 115 tasks. Refusals, pressure and corrections were counted by reading the instructions."""
