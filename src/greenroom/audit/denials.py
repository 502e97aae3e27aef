"""What a user says it does not know, although its instruction holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.contradictions import LACKS, VALUES
from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk
from greenroom.audit.topics import topics_in

# A code of six may be a flight: that it is a reservation has to be said.
_KNOWN: Final = {
    "reservation number": re.compile(
        r"\b(?:[Rr]eservations?|[Cc]onfirmation"
        r"|[Bb]ookings?)\b[^.;]{0,25}?\b((?=[A-Z0-9]*\d)[A-Z0-9]{6})\b"
    )
}
_PRIVATE: Final = re.compile(
    r"\b(?:private|mysterious|secretive|forg[eo]t\w*|reactive|more information than"
    r"|do not remember|don't remember|no longer have)\b"
)


def denied_facts(talk: Talk) -> Iterator[Finding]:
    """An id, a number or an address that the user claims not to have; the first of each."""
    text = talk.instruction.text
    if _PRIVATE.search(text.casefold()):
        return
    held = {
        topic.name for rule in talk.instruction.of("hold_back") for topic in topics_in(rule.about)
    }
    for name, lacks in LACKS.items():
        known = _KNOWN.get(name, VALUES[name]).search(text)
        if known is None or name in held or lacks.search(talk.instruction.unknown.casefold()):
            continue
        if len(set(VALUES[name].findall(text))) > 1 or _of_another(name, talk):
            continue
        for turn in talk.turns:
            denied = lacks.search(turn.text.casefold().replace("’", "'"))
            if denied is not None and VALUES[name].search(turn.text) is None:
                yield Finding(
                    kind="denied_fact",
                    sentence=f"It said that it does not have the {name}, which its instruction "
                    f"gives as {known[known.lastindex or 0]}.",
                    turn=turn.number,
                    words=quoted(turn.text, denied[0]),
                    instruction=quoted(text, known[0]),
                )
                break


def _of_another(name: str, talk: Talk) -> bool:
    """The instruction says that one such thing is not known, which may be the one that is meant."""
    lowered = talk.instruction.text.casefold()
    called = name.split()[0].replace("e-mail", "email")
    return (
        re.search(rf"(?:not|n't|no|cannot|without)\b[^.;]{{0,60}}\b{called}", lowered) is not None
    )
