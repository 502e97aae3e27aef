"""All checks of a simulated user, and what they find in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from greenroom.audit.answers import never_answered
from greenroom.audit.calls import misused_tools
from greenroom.audit.consent import against_instruction
from greenroom.audit.contradictions import contradictions
from greenroom.audit.denials import denied_facts
from greenroom.audit.endings import early_ends, odd_messages
from greenroom.audit.findings import KINDS, Finding
from greenroom.audit.invented import invented_facts
from greenroom.audit.repeats import repeats
from greenroom.audit.speaking import speaks_as_agent
from greenroom.audit.talks import Talk
from greenroom.audit.withheld import given_away

Check = Callable[[Talk], Iterable[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    invented_facts,
    given_away,
    contradictions,
    denied_facts,
    early_ends,
    against_instruction,
    speaks_as_agent,
    repeats,
    never_answered,
    misused_tools,
    odd_messages,
)
"""Each reads a conversation with its instruction, and asks no model."""

_ORDER: Final = {kind: place for place, kind in enumerate(KINDS)}


def findings_of(talk: Talk) -> list[Finding]:
    """What the checks find, turn by turn."""
    if talk.is_recited:
        return []
    found = [finding for check in CHECKS for finding in check(talk)]
    return sorted(found, key=lambda one: (one.turn, _ORDER[one.kind]))
