"""The mixes of changes, refusals, corrections and answers that tasks are drawn for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from greenroom.domains.generation import Mix

OFFICIAL: Final = Mix(
    writes={0: 20, 1: 15, 2: 8, 3: 4, 4: 3},
    outputs={0: 46, 1: 2, 3: 2},
    refusals=33 / 50,
    pressure=17 / 50,
    corrections=3 / 50,
    transfers=4 / 50,
    idle=19 / 50,
    lookups={
        0: {0: 7, 1: 7, 2: 4, 6: 1, 8: 1},
        1: {0: 6, 1: 2, 2: 2, 3: 2, 4: 2, 6: 1},
        2: {0: 3, 1: 1, 3: 2, 4: 1, 8: 1},
        3: {0: 2, 4: 1, 8: 1},
        4: {0: 2, 16: 1},
    },
)
"""Of the 50 tasks in Tau Bench's test split. Its one task with five changes counts as four."""

BUILT_IN: Final = replace(OFFICIAL, idle=0.0, lookups={})
"""As official, but where nothing may be changed, a question has to be answered; and all lookups
that are needed are named."""

HARD: Final = Mix(
    writes={0: 9, 1: 12, 2: 13, 3: 10, 4: 6},
    outputs={0: 30, 1: 12, 2: 6, 3: 2},
    refusals=0.8,
    pressure=0.55,
    corrections=0.3,
    transfers=0.12,
)
"""More of everything."""

MIXES: Final[Mapping[str, Mix]] = {"official": OFFICIAL, "hard": HARD}
