"""What a user says that does not go with what it said before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.things import Thing, asked_for, lacked, looks_for, things_in
from greenroom.audit.wording import affirms, limited, questions, sentences, stem, stems, words_of

_PLAIN: Final = str.maketrans("’", "'")
_CHANGE: Final = re.compile(
    r"\b(?:new|change\w*|update\w*|instead|moved|sorry|mistake\w*|correct(?:ed|ion|ing)?|meant"
    r"|other|another|more|just heard|now|old|wrong|typo|then make|actually|also|work|second)\b"
)
_NAME: Final = re.compile(
    r"\b[Mm]y (?:full |last |first )?name(?: is|'s) +([A-Z][\w'-]+(?: [A-Z][\w'-]+)+)"
)
_CALLED: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) ([a-z]{3,20})(?:'s name is| is (?:called|named)) ([A-Z][\w'-]+)"
    r"|\b[Nn]ame of (?:my|our) ([a-z]{3,20}) is ([A-Z][\w'-]+)"
)
_HOW_MANY: Final = re.compile(r"\b(?:how many|number of)(?: \w+ of)? ([a-z]{2,20})|\b(how old)\b")
_NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate(
        "no one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_COUNT: Final = re.compile(r"\b(\d{1,3}|" + "|".join(_NUMBER_WORDS) + r")\b(?! (?:more|of the)\b)")
_NOT_HAD: Final = re.compile(
    r"\b(?:i|we) (?:do not|don't|no longer) (?:\w+ )?(?:have|own|possess) (?:a|an|any)"
    r" ((?:[a-z]+ ){0,2}[a-z]+)"
    r"|\b(?:i|we) (?:have not|haven't) got (?:a|an|any) ((?:[a-z]+ ){0,2}[a-z]+)"
    r"|\b(?:i|we) have no ((?:[a-z]+ ){0,2}[a-z]+)"
)
_PHRASE_END: Final = re.compile(
    r"\b(?:to|at|on|for|with|that|which|right|yet|and|but|or|from|in|anymore|any|sorry|available"
    r"|of|about|i|so|as|it)\b.*"
)
_NEVER_ASKED: Final = re.compile(
    r"\bi(?:'ve| have)? (?:never|did not|didn't|haven't|have not|don't think i(?: ever)?"
    r"|do not think i(?: ever)?) "
    r"(?:actually |even |once |ever )?(?:ask(?:ed)?|want(?:ed)?|request(?:ed)?|agree[d]?|said?|say"
    r"|told|tell|mention(?:ed)?|authori[sz]ed?|meant?|order(?:ed)?|choose|chose|chosen|pick(?:ed)?"
    r"|select(?:ed)?|need(?:ed)?|wish(?:ed)?|book(?:ed)?)\b(?P<what>[^,;:.!?]*)"
)
_AS_ASKED: Final = re.compile(
    r"\b(?:as (?:you|per your)|you(?:'ve| have| had)? (?:asked|requested|said|told|wanted|chose)"
    r"|your (?:wish|request)|requested)\b"
)
_SHORT: Final = 300
_SHARE: Final = 0.6
_NEGATED: Final = re.compile(r"\b(?:not|don't|without|never|no)\b|n't\b")


@dataclass
class _Said:
    given: dict[str, tuple[str, UserTurn]] = field(default_factory=dict[str, tuple[str, UserTurn]])
    lacked: dict[Thing, UserTurn] = field(default_factory=dict[Thing, UserTurn])
    not_had: dict[str, UserTurn] = field(default_factory=dict[str, UserTurn])
    asked: list[tuple[frozenset[str], str, UserTurn]] = field(
        default_factory=list[tuple[frozenset[str], str, UserTurn]]
    )
    shown: str = ""


def contradictions(talk: Talk) -> Iterator[Finding]:
    """Two values for one thing; something lacked and then given; what was asked for and denied."""
    said = _Said()
    for turn in talk.turns:
        since = "\n".join((turn.heard, *turn.results, *(one.result for one in turn.calls)))
        said.shown = f"{said.shown}\n{since}"
        text = turn.text.translate(_PLAIN)
        yield from _other_values(said, turn, text, talk.instruction.text)
        yield from _had_after_all(said, turn, text)
        yield from _denials(said, turn, text)


def _other_values(said: _Said, turn: UserTurn, text: str, instruction: str) -> Iterator[Finding]:
    for name, value in _given(turn, text):
        first, where = said.given.setdefault(name, (value, turn))
        if where is turn or _same(first, value) or _CHANGE.search(text.casefold()):
            continue
        if value in said.shown or (_holds(instruction, first) and _holds(instruction, value)):
            continue
        yield Finding(
            kind="contradicted_itself",
            sentence=f"It gave its {name} as {value}, and in turn {where.number} as {first}.",
            turn=turn.number,
            words=quoted(turn.text, value),
        )
        said.given[name] = (value, turn)


def _given(turn: UserTurn, text: str) -> Iterator[tuple[str, str]]:
    """What a message gives, by name: named in a sentence, or asked for by name."""
    asked = asked_for(turn.heard)
    for sentence in sentences(text):
        named = [
            thing for thing in things_in(sentence) if re.search(r"\b(?:[Mm]y|[Tt]he)\b", sentence)
        ]
        for thing in named or (asked if len(asked) == 1 else ()):
            values = thing.values(sentence)
            if len(values) == 1:
                yield thing.name, values[0]
        for match in _NAME.finditer(sentence):
            yield "name", match[1]
        for match in _CALLED.finditer(sentence):
            yield f"{match[1] or match[3]}'s name", match[2] or match[4]
    counted = _HOW_MANY.search(turn.heard.casefold())
    counts = _COUNT.findall(text.casefold())
    if counted is not None and len(counts) == 1 and not lacked(text):
        number = _NUMBER_WORDS.get(counts[0], counts[0])
        noun = "people" if counted[1] in ("of", "persons") else counted[1]
        yield ("age" if counted[2] else f"number of {noun}"), str(number)


def _holds(instruction: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", instruction) is not None


def _same(one: str, other: str) -> bool:
    left, right = (re.sub(r"\W", "", text.casefold()) for text in (one, other))
    return left in right or right in left


def _had_after_all(said: _Said, turn: UserTurn, text: str) -> Iterator[Finding]:
    missing = lacked(text, turn.heard)
    asked = asked_for(turn.heard)
    searches = looks_for(text)
    for thing in [one for one in said.lacked if one not in missing]:
        values = [
            value
            for sentence in sentences(text)
            if thing in (*things_in(sentence), *asked) or thing.name in _WITH_A_FORM
            for value in thing.values(sentence)
        ]
        if not values:
            continue
        before, value = said.lacked.pop(thing), values[0]
        if searches or looks_for(before.text):
            continue
        if value not in said.shown and value.lstrip("#") not in said.shown:
            yield Finding(
                kind="contradicted_itself",
                sentence=f"It gave the {thing.name} {value}, which it said in turn "
                f"{before.number} that it did not have.",
                turn=turn.number,
                words=quoted(turn.text, value),
                instruction=quoted(before.text),
            )
    for thing in missing:
        if not thing.values(text):
            said.lacked.setdefault(thing, turn)
    yield from _used_after_all(said, turn, text)


_WITH_A_FORM: Final = frozenset({"e-mail address", "phone number", "zip code"})


def _used_after_all(said: _Said, turn: UserTurn, text: str) -> Iterator[Finding]:
    """A thing without a value: no credit card, and then "my credit card"."""
    for sentence in sentences(text):
        lowered = sentence.casefold()
        for match in _NOT_HAD.finditer(lowered):
            called = _PHRASE_END.sub("", match[1] or match[2] or match[3]).strip()
            if len(called) > 3:
                said.not_had.setdefault(called, turn)
        if _NEGATED.search(lowered) or lowered.endswith("?"):
            continue
        for called, before in said.not_had.items():
            if before is not turn and re.search(rf"\bmy {re.escape(called)}\b", lowered):
                yield Finding(
                    kind="contradicted_itself",
                    sentence=f"It spoke of its {called}, which it said in turn {before.number} "
                    "that it did not have.",
                    turn=turn.number,
                    words=quoted(sentence),
                    instruction=quoted(before.text),
                )
                said.not_had.pop(called)
                break


def _denials(said: _Said, turn: UserTurn, text: str) -> Iterator[Finding]:
    if affirms(text) and not limited(text):
        # Who agrees to a proposal has asked for it.
        proposals = [turn.heard] if len(turn.heard) < _SHORT else questions(turn.heard)[-2:]
        for proposal in proposals:
            said.asked.append((stems(proposal), f"{quoted(proposal)} {quoted(text)}", turn))
    for sentence in sentences(text):
        lowered = sentence.casefold()
        denied = _NEVER_ASKED.search(lowered)
        if denied is None:
            if not lowered.endswith("?") and not _NEGATED.search(lowered):
                said.asked.append((stems(sentence), sentence, turn))
            continue
        named = stems(denied["what"])
        if not named or re.match(r" (?:for |to )?(?:that|this)\b", denied["what"]):
            named = _restated(turn.heard)
        for asked, earlier, where in said.asked:
            shared = named & asked
            if where.number < turn.number and shared and len(shared) >= _SHARE * len(named):
                yield Finding(
                    kind="contradicted_itself",
                    sentence=f"It denies what it asked for in turn {where.number}.",
                    turn=turn.number,
                    words=quoted(sentence),
                    instruction=quoted(earlier),
                )
                return


_SAYING: Final = frozenset(
    map(stem, words_of("said told requested asked wanted wish okay fine note"))
)


def _restated(heard: str) -> frozenset[str]:
    """What the agent says that the user had asked for."""
    for sentence in sentences(heard.replace("’", "'")):
        if _AS_ASKED.search(sentence.casefold()):
            return stems(sentence) - _SAYING
    return frozenset()
