"""Facts that a user says and that nobody gave them."""

from __future__ import annotations

from collections.abc import Iterator

from greenroom.audit.facts import WORDS, Fact, facts_in
from greenroom.audit.findings import Finding, quoted
from greenroom.audit.knowledge import Knowledge
from greenroom.audit.talks import Talk


def invented_facts(talk: Talk) -> Iterator[Finding]:
    """Names, ids, numbers, dates and addresses without a source; each is told once."""
    knowledge, told = Knowledge(talk), set[tuple[str, str]]()
    for turn in talk.turns:
        knowledge.hear(turn.heard)
        for result in (*turn.results, *(call.result for call in turn.calls)):
            knowledge.see(result)
        invented: list[Fact] = []
        for fact in facts_in(turn.text):
            place = (fact.kind, fact.key)
            if place not in told and not knowledge.holds(fact):
                told.add(place)
                invented.append(fact)
        if invented:
            first = invented[0]
            more = f" (and {len(invented) - 1} more)" if len(invented) > 1 else ""
            yield Finding(
                kind="invented_fact",
                sentence=f"It said the {WORDS[first.kind]} {first.words}{more}, which stands "
                "neither in its instruction nor in what it was told.",
                turn=turn.number,
                words=quoted(turn.text, first.words),
                instruction=quoted(talk.instruction.known),
            )
