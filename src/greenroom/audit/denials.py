"""What a user says it does not know, although its instruction holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.things import Thing, lacked, looks_for, things_in
from greenroom.audit.topics import topics_in
from greenroom.audit.wording import sentences

_PRIVATE: Final = re.compile(
    r"\bprivate(?: person\b| about\b| and\b|\W*$|[.,;:)!])"
    r"|\b(?:mysterious|secretive|forg[eo]t\w*|reactive|more information than"
    r"|no longer have)\b"
    r"|(?:\b(?:not|cannot|never|no longer)|n't)(?: [a-z]+)? (?:remember|recall|recollect)\b"
    r"|(?:\b(?:not|cannot|no longer)|n't) (?:have|know|find|tell|read|see) (?:it|this|them)\b"
    r"|\b(?:lost|misplaced|deleted) (?:it|them|the number)\b"
)


def denied_facts(talk: Talk) -> Iterator[Finding]:
    """An id, a number or an address that the user claims not to have; the first of each.

    What it was only looking for it does not deny.
    """
    text = talk.instruction.text
    if _PRIVATE.search(text.casefold()):
        return
    held = {
        thing for rule in talk.instruction.of("hold_back") for thing in things_in(rule.about)
    } | {
        Thing(topic.name)
        for rule in talk.instruction.of("hold_back")
        for topic in topics_in(rule.about)
    }
    unknown = things_in(talk.instruction.unknown)
    told = set[Thing]()
    for turn in talk.turns:
        for thing in lacked(turn.text, turn.heard):
            if thing in told or thing in held or thing in unknown or _of_another(thing, talk):
                continue
            known = set(thing.held_by(text))
            if len(known) != 1:
                continue
            (value,) = known
            if value.casefold() in turn.text.casefold() or _only_looks(value, turn, talk):
                continue
            told.add(thing)
            yield Finding(
                kind="denied_fact",
                sentence=f"It said that it does not have the {thing.name}, which its instruction "
                f"gives as {value}.",
                turn=turn.number,
                words=quoted(turn.text, thing.name.split()[0]),
                instruction=quoted(text, value),
            )


_GUESSED: Final = re.compile(
    r"\b(?:guess|think|believe|suspect|not sure|unsure|might|may(?! \d)|probably)\b"
)


def _only_looks(value: str, turn: UserTurn, talk: Talk) -> bool:
    """It looks for the value, and gives it later; or its instruction has it guess."""
    if any(
        value in one and _GUESSED.search(one.casefold()) for one in sentences(talk.instruction.text)
    ):
        return True
    giving = [one for one in talk.turns[turn.number :] if value.casefold() in one.text.casefold()]
    return any(looks_for(one.text) or looks_for(turn.text) for one in giving)


def _of_another(thing: Thing, talk: Talk) -> bool:
    """The instruction says that one such thing is not known, which may be the one that is meant."""
    called = thing.name.split()[0].replace("e-mail", "email")
    lowered = talk.instruction.text.casefold()
    return (
        re.search(rf"\b(?:not|n't|no|cannot|without)\b[^.;]{{0,60}}\b{called}", lowered)
        or re.search(rf"n't\b[^.;]{{0,60}}\b{called}", lowered)
    ) is not None
