"""The figures of Tau Bench's test tasks, for comparison with generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from greenroom.domains.generation import Profile

OFFICIAL_FIGURES: Final[Profile] = {
    "writes": 56 / 50,
    "no_writes": 20 / 50,
    "many_writes": 7 / 50,
    "actions": 158 / 50,
    "outputs": 8 / 50,
    "with_outputs": 4 / 50,
    "refusals": 33 / 50,
    "pressure": 17 / 50,
    "corrections": 3 / 50,
    "transfers": 4 / 50,
    "nothing": 19 / 50,
}
"""Of 50 tasks. Refusals, pressure and corrections were counted by reading the instructions."""
