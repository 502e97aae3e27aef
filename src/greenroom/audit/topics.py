"""What is asked for by name: an e-mail address, an order number, a zip code, a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from greenroom.audit.facts import Fact, FactKind, facts_in


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that an agent asks for and a user gives."""

    name: str
    pattern: re.Pattern[str]
    """How it is called, in small letters."""
    given: Callable[[str], bool]
    """Whether a message holds such a thing."""


def _has(*kinds: FactKind) -> Callable[[str], bool]:
    return lambda text: any(fact.kind in kinds for fact in _facts(text))


def _matches(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern)
    return lambda text: found.search(text) is not None


@lru_cache(maxsize=256)
def _facts(text: str) -> list[Fact]:
    return facts_in(text)


_ZIP: Final = r"\b\d{5}(?:-\d{4})?\b"
TOPICS: Final = (
    Topic("e-mail address", re.compile(r"\be-?mail\b"), _has("email")),
    Topic(
        "phone number",
        re.compile(r"\b(?:phone|mobile|cell|telephone)(?: number)?\b"),
        _has("phone"),
    ),
    Topic("zip code", re.compile(r"\b(?:zip|(?:postal|post) ?code)s?\b"), _matches(_ZIP)),
    Topic(
        "order number",
        re.compile(r"\border (?:id|number|no\b|#|code)s?|\bids? of (?:the|your) order"),
        _matches(r"#?\bW?\d{5,}\b"),
    ),
    Topic(
        "reservation number",
        re.compile(r"\b(?:reservation|booking|confirmation) (?:id|number|no\b|code|reference)s?"),
        _matches(r"\b(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b"),
    ),
    Topic(
        "user id",
        re.compile(r"\b(?:user|customer|account|member|profile) (?:id|name|number)\b|\busername\b"),
        _has("user_id", "code", "number"),
    ),
    Topic(
        "date of birth",
        re.compile(r"\b(?:date of birth|birth ?date|dob|birthday)\b"),
        _matches(r"\b(?:19\d\d|200\d|201[0-5])\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b"),
    ),
    Topic(
        "address",
        re.compile(r"\b(?<!e-mail )(?<!email )(?:\w+ )?address(?! book)\b"),
        _has("address"),
    ),
    Topic(
        "name",
        re.compile(r"\b(?:your|full|first|last|first and last|the) (?:full |last )?name\b"),
        _matches(r"\b[A-Z][\w'’-]+(?:,? [A-Z][\w'’-]+)+|\bname\b"),
    ),
)
"""Things with a form of their own: whether they were given can be seen."""


def topics_in(text: str) -> list[Topic]:
    """The things that a text names."""
    lowered = text.casefold()
    found = [topic for topic in TOPICS if topic.pattern.search(lowered)]
    names = {topic.name for topic in found}
    # An e-mail address is no address.
    if "e-mail address" in names and not re.search(r"\b(?<!e-mail )(?<!email )address", lowered):
        found = [topic for topic in found if topic.name != "address"]
    return found
