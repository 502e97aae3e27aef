"""What a user says that does not go with what it said before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from greenroom.audit.facts import EMAIL
from greenroom.audit.findings import Finding, quoted
from greenroom.audit.talks import Talk, UserTurn
from greenroom.audit.wording import affirms, limited, questions, sentences, stems

_PLAIN: Final = str.maketrans("’", "'")
_SLOTS: Final = {
    "e-mail address": (
        r"e-?mail(?: address)?(?: on file)?",
        EMAIL,
    ),
    "zip code": (r"(?:zip(?: ?code)?|(?:postal|post) ?code)", r"\d{5}"),
    "phone number": (r"(?:phone|mobile|cell)(?: number)?", r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"),
    "user id": (
        r"(?:user|customer|account|member) ?(?:id|name)",
        r"[a-z]+(?:_[a-z]+)*_\d+|[A-Z]?\d{3,}",
    ),
    "date of birth": (
        r"(?:date of birth|birth ?date|dob|birthday)",
        r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{2,4}|[A-Z][a-z]+ \d{1,2},? \d{4}",
    ),
    "name": (r"(?:full |last |first )?name", r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)+"),
}
_GIVES: Final = {
    name: re.compile(
        rf"\b(?:my|the) {called}(?: (?:on|for|in) (?:file|my account|the account"
        rf"|record))?(?: is|'s|:| would be|,)? *(?:actually |now )?({value})(?![\w@])"
    )
    for name, (called, value) in _SLOTS.items()
}
_CHANGE: Final = re.compile(
    r"\b(?:new|change|update|updated|instead|moved|sorry|mistake|correct|meant|other|another"
    r"|old|wrong|typo)\b"
)
_LACKED: Final = {
    "order number": (r"order (?:id|number)s?", r"#W?\d{5,}|\bW\d{6,}"),
    "reservation number": (
        r"(?:reservation|booking|confirmation) (?:id|number|code)s?",
        r"\b(?=[A-Z0-9]*\d)[A-Z0-9]{6}\b",
    ),
    "e-mail address": (
        r"e-?mail(?: address)?",
        EMAIL,
    ),
    "zip code": (r"(?:zip(?: ?code)?|(?:postal|post) ?code)", r"(?<![\w#])\d{5}(?!\w)"),
    "user id": (r"user ?id", r"\b[a-z]+(?:_[a-z]+)*_\d{3,}\b(?!@)"),
    "phone number": (r"phone number", r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"),
}
LACKS: Final = {
    name: re.compile(
        rf"\b(?:i|we)(?: really| honestly| actually)? (?:do not|don't|can't|cannot|can not"
        rf"|couldn't|no longer|never)(?: seem to| quite| actually| currently| even| really)? "
        rf"(?:have|remember|recall|know|find|got|had|recollect)(?: what)? (?:(?:the|my|any|an"
        rf"|that|a|exact|specific|it is|its|this|your|their|either) )*{called}\b"
    )
    for name, (called, _) in _LACKED.items()
}
VALUES: Final = {name: re.compile(value) for name, (_, value) in _LACKED.items()}
_NEVER_ASKED: Final = re.compile(
    r"\bi (?:never|did not|didn't|haven't|have not) (?:actually |even |once )?(?:ask(?:ed)?"
    r"|want(?:ed)?|request(?:ed)?|agree[d]?|said?|say|told|tell|mention(?:ed)?|authori[sz]ed?"
    r"|meant?)\b(?P<what>.*)"
)
_SHORT: Final = 300
_SHARE: Final = 0.6
_NEGATED: Final = re.compile(r"\b(?:not|n't|don't|without|never|no)\b")
_ASKS: Final = re.compile(
    r"\b(?:i(?:'d| would)? (?:like|want|need|wish)|please|can you|could you|go ahead|yes)\b"
)


@dataclass
class _Said:
    given: dict[str, tuple[str, UserTurn]] = field(default_factory=dict[str, tuple[str, UserTurn]])
    lacked: dict[str, UserTurn] = field(default_factory=dict[str, UserTurn])
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
        yield from _other_values(said, turn, text)
        yield from _had_after_all(said, turn, text)
        yield from _denials(said, turn, text)


def _other_values(said: _Said, turn: UserTurn, text: str) -> Iterator[Finding]:
    for name, pattern in _GIVES.items():
        for match in re.finditer(pattern, _with_small_labels(text)):
            value = match[1]
            first, where = said.given.setdefault(name, (value, turn))
            if _same(first, value) or value in said.shown or _CHANGE.search(text.casefold()):
                continue
            yield Finding(
                kind="contradicted_itself",
                sentence=f"It gave its {name} as {value}, and in turn {where.number} as {first}.",
                turn=turn.number,
                words=quoted(turn.text, value),
            )
            said.given[name] = (value, turn)


_LABEL: Final = re.compile(r"\b(?:My|The|Email|E-mail|Zip|ZIP|Name|User|ID|Phone|Date|DOB)\b")


def _with_small_labels(text: str) -> str:
    return _LABEL.sub(lambda match: match[0].lower(), text)


def _same(one: str, other: str) -> bool:
    left, right = (re.sub(r"\W", "", text.casefold()) for text in (one, other))
    return left in right or right in left


def _had_after_all(said: _Said, turn: UserTurn, text: str) -> Iterator[Finding]:
    lowered = text.casefold()
    for name, pattern in VALUES.items():
        value = pattern.search(text)
        lacks = LACKS[name].search(lowered)
        if value is not None and lacks is None and name in said.lacked:
            before = said.lacked.pop(name)
            if value[0] not in said.shown and value[0].lstrip("#") not in said.shown:
                yield Finding(
                    kind="contradicted_itself",
                    sentence=f"It gave the {name} {value[0]}, which it said in turn "
                    f"{before.number} that it did not have.",
                    turn=turn.number,
                    words=quoted(turn.text, value[0]),
                    instruction=quoted(before.text),
                )
        if lacks is not None and value is None:
            said.lacked.setdefault(name, turn)


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
            if _ASKS.search(lowered) and not _NEGATED.search(lowered):
                said.asked.append((stems(sentence), sentence, turn))
            continue
        named = stems(denied["what"])
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
