"""What a user gives away although its instruction holds it back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from greenroom.audit.facts import Fact, facts_in
from greenroom.audit.findings import Finding, quoted
from greenroom.audit.instructions import Rule
from greenroom.audit.talks import Talk
from greenroom.audit.things import things_in
from greenroom.audit.topics import Topic, topics_in
from greenroom.audit.wording import Heard, sentences, stems, withholds

_LEAST_SHARE: Final = 0.75
_MIXED: Final = re.compile(r"\b(?=[a-z]+\d)[a-z\d]{5,40}\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[\"“]([^\"”]{3,60})[\"”]")


def given_away(talk: Talk) -> Iterator[Finding]:
    """Each rule that holds something back, and the first message that breaks it."""
    for rule in talk.instruction.of("hold_back"):
        found = _broken(rule, talk)
        if found is not None:
            yield found


def _broken(rule: Rule, talk: Talk) -> Finding | None:
    topics = topics_in(rule.about)
    values = _values(rule) or _named_values(rule, talk.instruction.text)
    heard = Heard()
    for turn in talk.turns:
        heard.add(turn.heard)
        if rule.condition == "asked" and (
            _brought_up(rule, heard) or {*topics} & {*topics_in(turn.heard)}
        ):
            return None
        for sentence in sentences(turn.text):
            words = _given(rule, sentence, topics, values, heard, talk.instruction.text)
            if words:
                until = " unasked" if rule.condition == "asked" else ""
                return Finding(
                    kind="gave_away",
                    sentence=f"It said{until} what its instruction holds back: {words}.",
                    turn=turn.number,
                    words=quoted(turn.text, sentence[:40]),
                    instruction=quoted(rule.sentence),
                )
    return None


def _values(rule: Rule) -> list[Fact]:
    """The facts within the rule, or those that "it" in the rule stands for."""
    quoted_ones = _QUOTED.findall(rule.sentence) + _MIXED.findall(rule.about)
    return facts_in(rule.about) or [Fact("name", one.casefold(), one) for one in quoted_ones]


def _named_values(rule: Rule, instruction: str) -> list[Fact]:
    """What the instruction gives as the account number that is not to be told."""
    return [
        Fact("code", value.casefold(), value)
        for thing in things_in(rule.about)
        if thing.name not in _WRITTEN_IN_MANY_WAYS
        for value in thing.held_by(instruction)
    ]


_WRITTEN_IN_MANY_WAYS: Final = frozenset({"date of birth", "address", "phone number"})
_OF_PERSONS: Final = frozenset({"date of birth", "name"})


def _of_somebody_else(fact: Fact, rule: Rule, topics: list[Topic], instruction: str) -> bool:
    """A name or a birthday that the instruction gives elsewhere: it may be that of a companion."""
    if not {topic.name for topic in topics} & _OF_PERSONS:
        return False
    near = {(one.kind, one.key) for one in facts_in(f"{rule.before} {rule.sentence}")}
    anywhere = {(one.kind, one.key) for one in facts_in(instruction)}
    return (fact.kind, fact.key) in anywhere - near or fact.kind not in ("date", "name")


def _given(
    rule: Rule,
    sentence: str,
    topics: list[Topic],
    values: list[Fact],
    heard: Heard,
    instruction: str,
) -> str:
    topical = [topic.given(sentence) for topic in topics]
    lowered = sentence.casefold()
    for fact in values:
        if fact.words.casefold() in lowered and not heard.has(fact.words):
            return fact.words
    if topical:
        # What the agent said before is no secret any more.
        if any(topical) and not ("new" in lowered and "new" not in rule.about):
            said = [
                one
                for one in facts_in(sentence)
                if not heard.has(one.words)
                and not _of_somebody_else(one, rule, topics, instruction)
            ]
            return said[0].words if said and not values else ""
        return ""
    if values or withholds(sentence):
        return ""
    shared = rule.stems & stems(sentence)
    enough = max(2, round(_LEAST_SHARE * len(rule.stems)))
    if len(rule.stems) == 1:
        enough = 1
    if len(shared) < enough or shared <= heard.stems:
        return ""
    return rule.about


def _brought_up(rule: Rule, heard: Heard) -> bool:
    if rule.trigger & heard.stems:
        return True
    shared = rule.stems & heard.stems
    return len(shared) >= max(1, len(rule.stems) // 2)
