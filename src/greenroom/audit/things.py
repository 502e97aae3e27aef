"""Things with a name and a value: an e-mail address, a zip code, the number of a policy.

Any word before "number", "id" or "code" names such a thing, so the kinds of domains need no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from greenroom.audit.facts import EMAIL, facts_in
from greenroom.audit.wording import questions, sentences

_CODE: Final = (
    r"#?(?<![\w@.-])(?=[\w-]*\d[\w-]*\d[\w-]*\d)[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+){0,4}(?![\w@])"
)
_PHONE: Final = r"\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"
_ZIP: Final = r"(?<![\w#-])\d{5}(?:-\d{4})?(?!\w)"
_CALLED: Final = {
    "e-mail address": r"e-?mails?(?: address)?",
    "phone number": r"(?:tele|cell ?|mobile )?phone numbers?|(?:mobile|cell) number"
    r"|(?<=\ba )(?:mobile |cell ?)?phone|(?<=\bno )(?:mobile |cell ?)?phone",
    "zip code": r"zip(?: ?code)?|(?:postal|post) ?code",
    "date of birth": r"date of birth|birth ?date|birthday|dob",
    "address": r"(?<!mail )(?:(?:street|home|billing|postal|delivery|shipping) )?address",
}
_VALUES: Final = {
    "e-mail address": re.compile(EMAIL),
    "phone number": re.compile(_PHONE),
    "zip code": re.compile(_ZIP),
}
_USER_ID: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)*_\d{3,}\b(?!@)")
_OF_PERSONS: Final = frozenset({"user", "customer", "account", "member", "profile"})
_ORDER: Final = re.compile(r"#[A-Z]?\d{5,}|\bW\d{6,}")
_NUMBERED: Final = re.compile(
    r"\b(?!the\b|my\b|your\b|a\b|an\b|that\b|this\b|which\b|what\b|any\b|and\b|or\b|by\b|zip\b"
    r"|postal\b|post\b|phone\b|mobile\b|telephone\b|cell\b|same\b|right\b|wrong\b|correct\b"
    r"|large\b|small\b|total\b|discount\b|promo\b|area\b|country\b)"
    r"([a-z]{3,20}) (?:number|id|code|reference)s?\b"
)
_NUMBER_OF: Final = re.compile(
    r"\b(?:number|id|code) (?:of|on) (?:the|my|your|this|our) (?:[a-z]{3,20} )?"
    r"(?!account\b|phone\b)([a-z]{3,20})\b"
)
_NAMED: Final = re.compile(
    "|".join(f"(?P<n{place}>\\b(?:{called})\\b)" for place, called in enumerate(_CALLED.values()))
)
_NAMES: Final = tuple(_CALLED)


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that is asked for by its name."""

    name: str

    def values(self, text: str) -> list[str]:
        """What may be a value of it, in a text that is about it."""
        if self.name in _VALUES:
            return [match[0] for match in _VALUES[self.name].finditer(text)]
        if self.name == "date of birth":
            return [fact.words for fact in facts_in(text) if fact.kind == "date"]
        if self.name == "address":
            return [fact.words for fact in facts_in(text) if fact.kind == "address"]
        if self.name.split()[0] in _OF_PERSONS and (ids := _USER_ID.findall(text)):
            return ids
        return [
            one
            for one in re.findall(_CODE, text)
            if not _USER_ID.fullmatch(one)
            and not re.fullmatch(_PHONE, one)
            and not one.endswith(("th", "st", "nd", "rd"))
        ]

    def shaped(self, text: str) -> list[str]:
        """Its values in any text, where their shape alone tells what they are."""
        if self.name in _VALUES:
            return self.values(text)
        kind = self.name.split()[0]
        return (
            _ORDER.findall(text)
            if kind == "order"
            else (_USER_ID.findall(text) if kind in _OF_PERSONS else [])
        )

    def held_by(self, instruction: str) -> list[str]:
        """Its values in an instruction, where these can be told from those of other things."""
        if self.name in _VALUES or self.name == "address":
            return self.values(instruction)
        kind = self.name.split()[0]
        if kind == "order" and (orders := _ORDER.findall(instruction)):
            return orders
        called = _CALLED.get(self.name) or re.escape(self.name.split()[0]) + r"\w{0,3}"
        around = re.compile(
            rf"\b(?:{called})(?:[ _](?:number|id|code|reference))?(?: is| are|:|,| of"
            rf"| \()?[^.;\n\w#]{{0,3}}"
            rf"(?:is )?(.{{1,40}})",
            re.IGNORECASE,
        )
        found: list[str] = []
        for match in around.finditer(instruction):
            value = next(iter(self.values(match[1])), "")
            if value and match[1].startswith(value):
                found.append(value)
        if not found and kind in _OF_PERSONS:
            return _USER_ID.findall(instruction)
        return found


@lru_cache(maxsize=4096)
def things_in(text: str) -> tuple[Thing, ...]:
    """The things that a text names, each once."""
    return tuple(dict.fromkeys(thing for _, _, thing in _places(text.casefold())))


def _places(lowered: str) -> Iterator[tuple[int, int, Thing]]:
    for match in _NAMED.finditer(lowered):
        yield match.start(), match.end(), Thing(_NAMES[int((match.lastgroup or "n0")[1:])])
    for match in _NUMBER_OF.finditer(lowered):
        yield match.start(), match.end(), Thing(f"{match[1]} number")
    for match in _NUMBERED.finditer(lowered):
        yield (
            match.start(),
            match.end(),
            Thing(f"{match[1]} {'id' if match[1] in _OF_PERSONS else 'number'}"),
        )


def asked_for(heard: str) -> tuple[Thing, ...]:
    """The things that an agent asks for in a message."""
    return tuple(dict.fromkeys(thing for one in questions(heard) for thing in things_in(one)))


_NOT: Final = (
    r"(?:do not|don't|did not|didn't|can not|can't|cannot|couldn't|could not|no longer|never"
    r"|not|isn't|unable|haven't|have not)"
)
_WITHOUT: Final = re.compile(
    rf"\b(?:{_NOT}(?: (?!want\b|need\b|like\b|wish\b|mind\b|think\b)[a-z']+){{0,3}}? (?:have"
    rf"|own|use|read|think of|know|remember|recall|recollect"
    r"|find|see|got|get|given|received|provide|give|tell|say|learned|learnt"
    r"|access|locate|have access)|(?:have )?no (?:idea|clue|record|memory)|have no"
    r"|there(?:'s| is| was) no|not (?:\w+ )?(?:sure|certain)|unsure"
    r"|forgot|forgotten|lost|misplaced|without)\b"
)
_BETWEEN: Final = re.compile(
    r"(?:[ ,]+(?:to|tell|you|give|the|my|our|a|an|any|that|this|what|which|where|exact"
    r"|specific|right"
    r"|associated|about|of|for|on|me|it|is|its|their|either|own|access|at|hand|what's|number"
    r"|correct"
    r"|full|current|with))*[ ,]+"
)
_GONE: Final = re.compile(
    r"^(?: \w+)?(?:'s| is| was| has)?(?: just)? (?:escapes me|slipped|isn't something"
    r"|not something|unknown|lost|gone)"
    r"|^(?: \w+)? escapes me"
)
_IT: Final = re.compile(
    r"(?:[ ,]+(?:to|tell|you|give))*[ ,]+(?:it|them|one|any|that|this|those|these|that one"
    r"|(?:that|this|the|any such)? ?(?:information|number|detail|details))\b"
    r"|\W*$|[ ,]+(?:right now|at the moment|sorry|off ?hand|by heart|with me|on me|at hand|here)\b"
)


def lacked(text: str, heard: str = "") -> list[Thing]:
    """What a message says its writer does not have or know.

    A thing is named in the same sentence or just before it; or the message says so of the one
    thing that it was asked for.
    """
    found: list[Thing] = []
    before: tuple[Thing, ...] = ()
    for sentence in sentences(text.replace("’", "'")):
        lowered = sentence.casefold()
        places = list(_places(lowered))
        for match in _WITHOUT.finditer(lowered):
            named = [thing for start, _, thing in places if _joined(lowered, match.end(), start)]
            if named:
                found.append(named[0])
            elif _IT.match(lowered, match.end()):
                earlier = [thing for start, _, thing in places if start < match.start()]
                asked = asked_for(heard)
                found += earlier[-1:] or before[-1:] or (asked if len(asked) == 1 else ())
        if _BARELY.fullmatch(lowered) and _WHETHER.search(heard.casefold()):
            found += things_in(heard)[:1] if len(things_in(heard)) == 1 else ()
        found += [thing for _, end, thing in places if _GONE.match(lowered[end:])]
        before = tuple(thing for _, _, thing in places)
    return list(dict.fromkeys(found))


_BARELY: Final = re.compile(
    r"\W*(?:no\W+)?(?:sorry\W+)?i(?:'m afraid i)? (?:don't|do not|can't)(?:\W+sorry)?\W*"
)
_WHETHER: Final = re.compile(
    r"\b(?:do|would|can) you (?:happen to )?(?:have|know|remember|recall|find)\b"
)
"""Whether the user has something is answered by "I don't"."""


def _joined(text: str, end: int, start: int) -> bool:
    return start > end and _BETWEEN.fullmatch(text, end, start) is not None


_LOOKS: Final = re.compile(
    r"\b(?:let me|i'll|i will|one moment|a moment|a second|a minute|hold on|hang on|give me"
    r"|found|looked|checked|checking|searching|just remembered|remembered|turns out)\b"
)


def looks_for(text: str) -> bool:
    """The message says that its writer looks for something, or has found it."""
    return _LOOKS.search(text.casefold().replace("’", "'")) is not None
