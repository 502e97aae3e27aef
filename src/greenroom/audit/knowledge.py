"""What a simulated user can know at a turn: the instruction, what was said, what tools said."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations

from greenroom.audit.facts import Fact, FactKind, date_key, facts_in
from greenroom.audit.talks import Talk

_DAYS_ON = re.compile(
    r"\b(?:next|following|previous|day (?:after|before|earlier|later|sooner)|days (?:after"
    r"|before|earlier|later)|push|tomorrow|"
    r"yesterday|weeks?|within|between|through|until|range|any day|whole day|flexible|ago"
    r"|later|earlier|(?:one|two|three|\d+) days?)\b"
)
_MOST_AMOUNTS = 40


@lru_cache(maxsize=1024)
def _read(text: str) -> frozenset[tuple[FactKind, str]]:
    return frozenset((fact.kind, fact.key) for fact in facts_in(text))


class Knowledge:
    """Texts that the user can take facts from; more is heard turn by turn."""

    def __init__(self, talk: Talk) -> None:
        self._instruction = talk.instruction.text
        self._heard: list[str] = [talk.instruction.text, talk.more_known]
        self._results: list[str] = []

    def hear(self, text: str) -> None:
        """The agent said something, or the user said something that was looked at already."""
        if text:
            self._heard.append(text)

    def see(self, result: str) -> None:
        """A tool answered: the agent may have read it out, or acted on it."""
        if result:
            self._results.append(result)

    def holds(self, fact: Fact) -> bool:
        """Whether somebody gave the fact to the user, or it follows from what they were given."""
        if any(_in_text(fact, text) for text in self._heard):
            return True
        return any(_in_result(fact, text) for text in self._results) or self._follows(fact)

    def _follows(self, fact: Fact) -> bool:
        if fact.kind == "date":
            return self._is_near(fact)
        return fact.kind in ("amount", "number") and self._is_sum(fact)

    def _is_near(self, fact: Fact) -> bool:
        """A day that is said relative to one that is known: the next day, within two weeks."""
        if not any(_DAYS_ON.search(text.casefold()) for text in self._heard):
            return False
        known = sorted(
            _day(key) for text in self._heard for kind, key in _read(text) if kind == "date"
        )
        day = _day(fact.key)
        return bool(known) and known[0] - 7 <= day <= known[-1] + 7

    def _is_sum(self, fact: Fact) -> bool:
        """A sum or a difference of amounts that were said; or one of them, rounded."""
        wanted = float(fact.key)
        known = [
            float(key)
            for text in self._heard
            for kind, key in _read(text)
            if kind in ("amount", "number") and len(key) < 9
        ]
        known = sorted(set(known))[:_MOST_AMOUNTS]
        if any(abs(one - wanted) <= max(1.0, 0.02 * wanted) for one in known):
            return fact.kind == "amount"
        if abs(sum(known) - wanted) < 1:
            return True
        return any(
            min(abs(one + other - wanted), abs(abs(one - other) - wanted)) < 1
            for one, other in combinations(known, 2)
        )


def _day(key: str) -> int:
    month, day = key.split("-")
    return int(month) * 31 + int(day)


def _in_text(fact: Fact, text: str) -> bool:
    return (fact.kind, fact.key) in _read(text) or _written(fact, text)


def _in_result(fact: Fact, text: str) -> bool:
    """Like `_in_text`; results are long, so they are searched, and not read."""
    if fact.kind == "date":
        month, day = fact.key.split("-")
        other = f"{int(month)}-{int(day)}"
        return (
            f"-{fact.key}" in text
            or f"-{other}" in text
            or (
                date_key(int(month), int(day)) != "" and (fact.kind, fact.key) in _read(text[:2000])
            )
        )
    if fact.kind == "time":
        hour, minute = fact.key.split(":")
        hours = (int(hour), int(hour) + 12)
        return any(f"{one:02}:{minute}" in text or f"{one}:{minute}" in text for one in hours)
    return _written(fact, text)


_LETTER_FIRST = re.compile(r"[a-z]\d{6,}$")
_SPLIT = re.compile(r"[^a-z0-9]+")


def _written(fact: Fact, text: str) -> bool:
    if fact.kind in ("date", "time"):
        return False
    lowered = _lowered(text)
    match fact.kind:
        case "email" | "user_id":
            return fact.key in lowered
        case "code":
            # The letter before a number may be left out.
            digits = fact.key[1:] if _LETTER_FIRST.match(fact.key) else fact.key
            return _bounded(fact.key, lowered) or _bounded(digits, lowered)
        case "phone":
            return fact.key in _digits(text)
        case "address":
            number, street = fact.key.split(" ", 1)
            return _bounded(number, lowered) and street in lowered
        case "name":
            known = _name_words(text)
            return all(
                part in known for word in fact.key.split() for part in _SPLIT.split(word) if part
            )
        case _:
            return _number_in(fact.key, lowered)


@lru_cache(maxsize=512)
def _lowered(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())


@lru_cache(maxsize=512)
def _digits(text: str) -> str:
    return re.sub(r"[^\d\n]|(?<=\n)\n", "", text)


@lru_cache(maxsize=512)
def _name_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))


def _bounded(key: str, text: str) -> bool:
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
