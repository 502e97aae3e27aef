"""The wordings that the checks were not written on, nor mended on.

All of them are from the fifth set, apart from what is accepted and refused against the instruction:
there the fifth and the sixth set missed the floor, the check was mended, and the seventh is held
back. Who mends a check on what is here writes another set before measuring again.
"""

from __future__ import annotations

from benchmarks.user_audit.fifth import FIFTH
from benchmarks.user_audit.seventh import SEVENTH
from benchmarks.user_audit.talks import Wordings

_RENEWED = "against_instruction"
HELD_BACK = (
    Wordings(
        FIFTH.scenes,
        tuple(plant for plant in FIFTH.plants if plant.kind != _RENEWED),
        FIFTH.values,
    ),
    SEVENTH,
)
