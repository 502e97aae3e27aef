"""What a simulated user can know at a turn: the instruction, what was said, what tools said."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import combinations
from typing import Final

from greenroom.audit.facts import Fact, FactKind, date_key, facts_in
from greenroom.audit.talks import Talk

_DAYS_ON: Final = re.compile(
    r"\b(?:next|following|previous|day (?:after|before|earlier|later|sooner)|days (?:after|before"
    r"|earlier|later)|push|tomorrow|yesterday|weeks?|within|between|through|until|range|any day"
    r"|whole day|flexible|ago|later|earlier|(?:one|two|three|\d+) days?)\b"
)
_MOST_AMOUNTS: Final = 40
_EACH: Final = re.compile(r"\b(?:each|apiece|instal?lments?|payments of)\b")
_TIMES: Final = frozenset(map(float, range(2, 13)))
_LONGEST: Final = 200_000
"""Characters of one text that are looked at."""


class Knowledge:
    """Texts that the user can take facts from; more is heard turn by turn."""

    def __init__(self, talk: Talk) -> None:
        self._heard: list[_Text] = [_Text(talk.instruction.text), _Text(talk.more_known)]
        self._results: list[_Text] = []

    def hear(self, text: str) -> None:
        """The agent said something."""
        if text:
            self._heard.append(_Text(text))

    def see(self, result: str) -> None:
        """A tool answered: the agent may have read it out, or acted on it."""
        if result:
            self._results.append(_Text(result))

    def holds(self, fact: Fact) -> bool:
        """Whether somebody gave the fact to the user, or it follows from what they were given."""
        if any(text.says(fact) for text in self._heard):
            return True
        return any(text.shows(fact) for text in self._results) or self._follows(fact)

    def _follows(self, fact: Fact) -> bool:
        if fact.kind == "date":
            return self._is_near(fact)
        return fact.kind in ("amount", "number") and self._is_sum(fact)

    def _is_near(self, fact: Fact) -> bool:
        """A day that is said relative to one that is known: the next day, within a week."""
        if not any(_DAYS_ON.search(text.lowered) for text in self._heard):
            return False
        known = sorted(
            _day(key) for text in self._heard for kind, key in text.facts if kind == "date"
        )
        return bool(known) and known[0] - 7 <= _day(fact.key) <= known[-1] + 7

    def _is_sum(self, fact: Fact) -> bool:
        """A sum or a difference of amounts that were said; or one of them, rounded."""
        wanted = float(fact.key)
        said = {
            float(key)
            for text in self._heard
            for kind, key in text.facts
            if kind in ("amount", "number") and len(key) < 9
        }
        known = sorted(said)[:_MOST_AMOUNTS]
        if any(abs(one - wanted) <= max(1.0, 0.02 * wanted) for one in known):
            return fact.kind == "amount"
        if abs(sum(known) - wanted) < 1:
            return True
        each = any(_EACH.search(text.lowered) for text in self._heard)
        if each and any(one > 1 and wanted / one in _TIMES for one in known):
            return True
        return any(
            min(abs(one + other - wanted), abs(abs(one - other) - wanted)) < 1
            for one, other in combinations(known, 2)
        )


def _day(key: str) -> int:
    month, day = key.split("-")
    return int(month) * 31 + int(day)


_LETTER_FIRST: Final = re.compile(r"[a-z]\d{6,}$")
_SPLIT: Final = re.compile(r"[^a-z0-9]+")


class _Text:
    """A text with what was made of it so far, for as long as its conversation is read."""

    def __init__(self, text: str) -> None:
        self.text = text[:_LONGEST]

    @cached_property
    def facts(self) -> frozenset[tuple[FactKind, str]]:
        return frozenset((fact.kind, fact.key) for fact in facts_in(self.text))

    @cached_property
    def lowered(self) -> str:
        return re.sub(r"(?<=\d),(?=\d{3})", "", self.text.casefold())

    @cached_property
    def digits(self) -> str:
        return re.sub(r"\D", "", self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"[^\W\d_]+", self.text.casefold()))

    def says(self, fact: Fact) -> bool:
        """The fact stands in what somebody said."""
        return (fact.kind, fact.key) in self.facts or self._writes(fact)

    def shows(self, fact: Fact) -> bool:
        """The fact stands in a result; these are long, so they are searched, and not read."""
        if fact.kind == "date":
            month, day = map(int, fact.key.split("-"))
            return f"-{date_key(month, day)}" in self.text or f"-{month}-{day}" in self.text
        if fact.kind == "time":
            hour, minute = fact.key.split(":")
            hours = (int(hour), int(hour) + 12)
            return any(
                f"{one:02}:{minute}" in self.text or f"{one}:{minute}" in self.text for one in hours
            )
        return self._writes(fact)

    def _writes(self, fact: Fact) -> bool:
        key = fact.key
        match fact.kind:
            case "date" | "time":
                return False
            case "email" | "user_id":
                return key in self.lowered
            case "code":
                # The letter before a number may be left out.
                digits = key[1:] if _LETTER_FIRST.match(key) else key
                return _stands_alone(key, self.lowered) or _stands_alone(digits, self.lowered)
            case "phone":
                return key in self.digits
            case "address":
                number, street = key.split(" ", 1)
                return _stands_alone(number, self.lowered) and street in self.lowered
            case "name":
                parts = (part for word in key.split() for part in _SPLIT.split(word))
                return all(part in self.words for part in parts if part)
            case _:
                return _number_in(key, self.lowered)


def _stands_alone(key: str, text: str) -> bool:
    start = text.find(key)
    while start >= 0:
        end = start + len(key)
        if not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalnum():
            return True
        start = text.find(key, start + 1)
    return False


def _number_in(key: str, text: str) -> bool:
    """A number by itself, with further cents, or as the end of a longer one: the last four."""
    start = text.find(key)
    while start >= 0:
        end = start + len(key)
        if not text[end : end + 1].isdigit() and (
            not (start and text[start - 1].isdigit()) or len(key) == 4
        ):
            return True
        start = text.find(key, start + 1)
    return False


__all__ = ["Knowledge"]
