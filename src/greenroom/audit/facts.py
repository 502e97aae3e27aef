"""Facts in a text: names, addresses, ids, phone numbers, dates, times and amounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

FactKind = Literal[
    "email", "user_id", "code", "phone", "date", "time", "amount", "number", "address", "name"
]
WORDS: Final[dict[FactKind, str]] = {
    "email": "e-mail address",
    "user_id": "id",
    "code": "code",
    "phone": "phone number",
    "date": "date",
    "time": "time",
    "amount": "amount",
    "number": "number",
    "address": "address",
    "name": "name",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is either known or invented."""

    kind: FactKind
    key: str
    """The same for the same thing, however it is written."""
    words: str
    """As it stands in the text."""
    place: int = 0


_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "jan january", "feb february", "mar march", "apr april", "may", "jun june",
            "jul july", "aug august", "sep sept september", "oct october", "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_STREET: Final = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|way|court|ct|place|pl|square|"
    r"sq|highway|hwy|terrace|circle|parkway|pkwy|trail|row|alley|crescent|quay)"
)
EMAIL: Final = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
"""The pattern of an e-mail address; its lengths keep it quick on any text."""
_EMAIL: Final = re.compile(EMAIL)
_PHONE: Final = re.compile(
    r"(?<![\w-])(?:\+?\d{1,2}[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])"
)
_ISO: Final = re.compile(r"\b\d{4}-(\d{1,2})-(\d{1,2})\b")
_MONTH_DAY: Final = re.compile(
    rf"\b({_MONTH})\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:am|pm|:))", re.I
)
_DAY_MONTH: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})(?!\w)", re.I)
_SLASHED: Final = re.compile(r"(?<![\w/])(\d{1,2})/(\d{1,2})(?:/\d{2,4})?(?![\w/])")
_TIME: Final = re.compile(
    r"\b(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap])\.?m\b\.?|\b([01]?\d"
    r"|2[0-3]):([0-5]\d)(?::\d{2})?\b",
    re.I,
)
_ADDRESS: Final = re.compile(rf"\b(\d{{1,5}}) ((?:[A-Z][\w'.-]*\s){{1,4}}?){_STREET}\b", re.I)
_USER_ID: Final = re.compile(r"\b[a-z]+(?:_[a-z]+)*_\d{3,}\b", re.I)
_CODE: Final = re.compile(r"#?\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{5,}\b|#[A-Z]?\d{4,}\b")
_LETTERS: Final = re.compile(
    r"(?:reservation|confirmation|booking|code|record|pnr)\b[^.?!\n]{0,30}?\b([A-Z]{6})\b"
)
_UNIT: Final = re.compile(
    r"^\d+(?:GB|TB|MB|KB|MBPS|HZ|GHZ|KG|LBS?|ML|MAH|CM|MM|FT|MP|W|K|P|DPI|RPM|USD)$", re.I
)
_AMOUNT: Final = re.compile(
    r"[$€£]\s?(\d{1,12}(?:,\d{3}){0,4}(?:\.\d+)?)|\b(\d{1,12}(?:,\d{3}){0,4}(?:\.\d+)?)\s?(?:dollars|usd|bucks|euros)\b",
    re.I,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.,/#-])(\d{1,3}(?:,\d{3})+|\d{3,})(?:\.\d+)?(?![\w%]|\s?%|\s?percent|-?(?:mm|cm"
    r"|ml|gb)\b)"
)
_RELATION: Final = (
    r"(?:partner|wife|husband|spouse|son|daughter|child|brother|sister|mother|father|mom|mum"
    r"|dad|friend|assistant|"
    r"colleague|boss|roommate|flatmate|neighbou?r|cousin|uncle|aunt|nephew|niece|grandmother"
    r"|grandfather|girlfriend|"
    r"boyfriend|fiancée?|manager|landlord|lawyer|doctor|guest|companion)"
)
_NAME: Final = re.compile(
    r"\b(?:[Mm]y (?:full |last |first |sur)?name(?: is|'s)|[Nn]ame(?:'s| is|:)|(?:named|called)) +"
    r"((?:[A-Z][\w'’-]+)(?: +[A-Z][\w'’-]+){0,2})"
    rf"|\b(?:I'm|I am|[Tt]his is|(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur) (?:\w+ )?{_RELATION},?(?: is)?|"
    r"(?:[Tt]alk|[Ss]peak|[Aa]sk|[Cc]all|[Cc]ontact)(?: to| with| for)?|[Pp]assengers?(?: is"
    r"| are)?:?) +((?:[A-Z][a-z'’-]+)(?: +[A-Z][a-z'’-]+){1,2})"
)
_NO_NAMES: Final = frozenset(
    [
        "not",
        "and",
        "but",
        "the",
        "a",
        "yes",
        "no",
        "just",
        "still",
        "in",
        "i",
        "my",
        "with",
        "can",
        "could",
        "is",
        "on",
        "for",
        "it's",
        "looking",
        "trying",
        "sorry",
        "having",
        "currently",
        "from",
        "also",
        "thanks",
        "ok",
        "okay",
        "actually",
        "sure",
        "unfortunately",
        "glad",
        "happy",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "order",
        "user",
        "customer",
    ]
)
_ROUND: Final = frozenset({"100", "365", "911", "101", "1000"})


def facts_in(text: str) -> list[Fact]:
    """All facts of a text, each stretch of it read once."""
    return list(_facts(text))


def _facts(text: str) -> Iterator[Fact]:
    yield from _names(text)
    if not any(letter.isdigit() for letter in text):
        yield from _lettered(text)
        yield from (Fact("email", m[0].casefold(), m[0], m.start()) for m in _EMAIL.finditer(text))
        return
    left = _Left(text)
    yield from left.take(_EMAIL, "email", lambda m: m[0].casefold().rstrip("."))
    yield from left.take(_PHONE, "phone", lambda m: re.sub(r"\D", "", m[0])[-10:])
    yield from left.take(_ISO, "date", lambda m: date_key(int(m[1]), int(m[2])))
    yield from left.take(_MONTH_DAY, "date", lambda m: date_key(_month(m[1]), int(m[2])))
    yield from left.take(_DAY_MONTH, "date", lambda m: date_key(_month(m[2]), int(m[1])))
    yield from left.take(_TIME, "time", _time_key)
    yield from left.take(_SLASHED, "date", lambda m: date_key(int(m[1]), int(m[2])))
    yield from left.take(_ADDRESS, "address", lambda m: f"{m[1]} {m[2].split()[0].casefold()}")
    yield from left.take(_USER_ID, "user_id", lambda m: m[0].casefold())
    yield from left.take(_AMOUNT, "amount", lambda m: number_key(m[1] or m[2]))
    yield from left.take(_CODE, "code", lambda m: "" if _UNIT.match(m[0]) else code_key(m[0]))
    yield from _lettered(left.text)
    yield from left.take(_NUMBER, "number", _long_number)


class _Left:
    """What was not read yet: what is read is blanked, so that nothing is read twice."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(
        self, pattern: re.Pattern[str], kind: FactKind, key: Callable[[re.Match[str]], str]
    ) -> Iterator[Fact]:
        """The facts of a kind; a match without a key is none."""
        found: list[Fact] = []

        def blank(match: re.Match[str]) -> str:
            name = key(match)
            if name:
                found.append(Fact(kind, name, match[0].strip(), match.start()))
            return " " * len(match[0])

        self.text = pattern.sub(blank, self.text)
        return iter(found)


def _month(text: str) -> int:
    return _MONTHS[text.casefold().rstrip(".")]


def date_key(month: int, day: int) -> str:
    """A day of a year; empty if there is none."""
    return f"{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else ""


def _time_key(match: re.Match[str]) -> str:
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    # Half past three is said of the afternoon, too.
    return f"{hour % 12}:{minute:02}" if hour < 25 and minute < 60 else ""


def number_key(text: str) -> str:
    """A number without what separates its thousands, and without cents that are none."""
    whole, _, cents = text.replace(",", "").partition(".")
    cents = cents.rstrip("0")
    return f"{whole.lstrip('0') or '0'}{'.' + cents if cents else ''}"


def code_key(text: str) -> str:
    """A code without its sign."""
    return text.casefold().lstrip("#")


def _long_number(match: re.Match[str]) -> str:
    key = match[0].replace(",", "")
    year = len(key) == 4 and key[:2] in ("19", "20")
    return "" if year or key in _ROUND else key


def _lettered(text: str) -> Iterator[Fact]:
    for match in _LETTERS.finditer(text):
        yield Fact("code", match[1].casefold(), match[1], match.start(1))


def _names(text: str) -> Iterator[Fact]:
    for match in _NAME.finditer(text):
        words = [word.removesuffix("'s") for word in (match[1] or match[2]).split()]
        kept: list[str] = []
        for word in words:
            if word.casefold() in _NO_NAMES:
                break
            kept.append(word)
        if len(kept) >= (1 if match[1] else 2):
            words_kept = " ".join(kept)
            yield Fact("name", words_kept.casefold(), words_kept, match.start())
