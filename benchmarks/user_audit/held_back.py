"""Conversations in wordings that the checks were not written on, nor mended on.

They are of the fifth set, apart from the kinds whose checks were mended after it was measured: of
these the ninth set is held back, and the tenth for what users deny. Each set is drawn twice, so
that no figure hangs on one draw. Who mends a check on what is here writes another set before
measuring again.
"""

from __future__ import annotations

from benchmarks.user_audit.fifth import FIFTH
from benchmarks.user_audit.ninth import NINTH
from benchmarks.user_audit.talks import Generated, generated
from benchmarks.user_audit.tenth import TENTH

_NINTH, _TENTH = ("misused_tools", "against_instruction"), ("denied_fact",)
_DRAWS = (1, 2)


def held_back(each: int) -> list[Generated]:
    """So many conversations of each kind and draw, and those without a fault."""
    return [one for seed in _DRAWS for one in _drawn(seed, each)]


def _drawn(seed: int, each: int) -> list[Generated]:
    renewed = (*_NINTH, *_TENTH)
    return [
        *(one for one in generated(FIFTH, seed=seed, each=each) if one.kind not in renewed),
        *(one for one in generated(NINTH, seed=seed, each=each) if one.kind not in _TENTH),
        *generated(TENTH, seed=seed, each=each),
    ]
