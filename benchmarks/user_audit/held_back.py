"""Conversations in wordings that the checks were not written on, nor mended on.

They are of the fifth set, apart from what is accepted and refused against the instruction: there
the fifth and the sixth set missed the floor, the check was mended, and the seventh is held back.
Who mends a check on what is here writes another set before measuring again.
"""

from __future__ import annotations

from benchmarks.user_audit.fifth import FIFTH
from benchmarks.user_audit.seventh import SEVENTH
from benchmarks.user_audit.talks import Generated, generated

_RENEWED = "against_instruction"


def held_back(each: int) -> list[Generated]:
    """So many conversations of each kind, and those without a fault."""
    fifth = [one for one in generated(FIFTH, seed=1, each=each) if one.kind != _RENEWED]
    return [*fifth, *generated(SEVENTH, seed=1, each=each)]
