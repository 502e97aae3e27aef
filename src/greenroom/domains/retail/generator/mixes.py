"""The mixes of changes, refusals, corrections and answers that tasks are drawn for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from greenroom.domains.generation import Mix

OFFICIAL: Final = Mix(
    writes={0: 9, 1: 61, 2: 24, 3: 15, 4: 6},
    outputs={0: 78, 1: 22, 2: 10, 3: 3, 4: 2},
    refusals=37 / 115,
    pressure=14 / 115,
    corrections=21 / 115,
    transfers=4 / 115,
    idle=7 / 115,
    lookups={
        0: {0: 2, 1: 1, 3: 1, 4: 1, 5: 2, 6: 2},
        1: {0: 19, 3: 3, 4: 10, 5: 12, 6: 8, 7: 1, 9: 4, 10: 1, 11: 2, 12: 1},
        2: {0: 15, 4: 5, 5: 1, 6: 1, 10: 1, 12: 1},
        3: {0: 8, 4: 1, 6: 1, 8: 1, 9: 2, 10: 2},
        4: {0: 3, 6: 2, 9: 1},
    },
)
"""Of the 115 tasks in Tau Bench's test split. Its one task with seven outputs counts as four."""

HARD: Final = Mix(
    writes={0: 6, 1: 26, 2: 36, 3: 30, 4: 17},
    outputs={0: 57, 1: 30, 2: 19, 3: 9},
    refusals=0.6,
    pressure=0.35,
    corrections=0.4,
    transfers=0.07,
)
"""More of everything."""

MIXES: Final[Mapping[str, Mix]] = {"official": OFFICIAL, "hard": HARD}
