"""What reports say in words, so that every format says the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, cast

from greenroom.reports.sections import Cell, Column, Figure, Format
from greenroom.store.outcomes import outcome_info

NOTHING: Final = "–"
"""Stands for a figure that there is none of."""


KINDS: Final[dict[str, tuple[str, str]]] = {
    "wrong_tool": ("Wrong tool", "called another tool than the one that was needed"),
    "wrong_arguments": ("Wrong arguments", "called the right tool with other arguments"),
    "missing_write": ("Change not made", "did not make a change that was needed"),
    "extra_write": ("Change too many", "made a change that was not asked for"),
    "outputs_missing": ("Answer not given", "did not tell the user what they had to hear"),
    "user_action": ("User's action", "the user did not do what they had to"),
    "call_missing": ("Call not made", "nobody made a call that was needed"),
    "assertion_unmet": ("Assertion unmet", "the worlds are not in the state that was asked for"),
    "judged_unmet": ("Judged", "a judge says that the conversation lacks something"),
    "crashed": ("Crashed", "raised an error in its own code"),
    "max_steps": ("Out of steps", "did not come to an end within its steps"),
    "max_time": ("Out of time", "did not come to an end within its time"),
    "too_many_errors": ("Too many errors", "was ended because too many calls failed"),
    "model_limit": ("Model's limit", "the model could not or would not answer any more"),
    "invalid_action": ("Invalid action", "did what cannot be done, or nothing more"),
    "call_as_text": ("Call as text", "wrote a tool call as text instead of making it"),
    "user_ended_early": ("User left early", "the user ended the conversation before it was done"),
    "infrastructure": ("Infrastructure error", "something other than the agent broke"),
    "other": ("Other", "none of the above"),
}

PARTS: Final[dict[str, str]] = {
    "database": "databases",
    "assertions": "assertions",
    "actions": "calls",
    "outputs": "answers",
    "judged": "judged sentences",
}
"""How the parts of a reward are named."""

_TONES = {
    "green": "good",
    "red": "bad",
    "yellow": "limit",
    "magenta": "odd",
    "cyan": "broken",
    "dim": "missing",
}

# The layout of tau2-bench's scenarios.
_REASON = re.compile(r"^\tReason for call:\n((?:\t\t.*\n?|\s*\n)+)", re.MULTILINE)
_INSTRUCTIONS = re.compile(r"^Instructions:\n(.*)\Z", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_IDENTITY = re.compile(
    r"\b(you are|you're|your name|user[ _]id|e-?mail|zip code|you live|residing|account)\b", re.I
)
_WISH = re.compile(
    r"\b(want|wish|would like|need|cancel|return|exchange|change|modify|book|refund|order|receiv)",
    re.I,
)
_WANTS = re.compile(r"\byou (want|need|wish|would like)\b", re.I)

_CAUTIOUS = "near 0 and 1, and with few tasks or rows, they are on the safe side"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def kind_words(kind: str) -> tuple[str, str]:
    """The label and the meaning of a kind of failure."""
    return KINDS.get(kind) or (kind, "")


def tone(outcome: str) -> str:
    """The name of the colours that pages mark an outcome with."""
    style = outcome_info(outcome).style.split()
    return _TONES.get(style[-1], "plain") if style else "plain"


def one_line(text: str, limit: int | None = None, *, spaces: bool = False) -> str:
    """Text from data as one line without control characters, shortened to the limit.

    Runs of spaces become one, unless they are to stay.
    """
    line = text if text.isprintable() else _CONTROLS.sub(" ", text)
    line = line.rstrip() if spaces else " ".join(line.split())
    if limit is not None and len(line) > limit:
        return line[: max(1, limit - 1)].rstrip() + "…"
    return line


def _reason(instruction: str) -> str:
    """The part of an instruction that says why the user calls, where it has such parts."""
    found = _REASON.search(instruction) or _INSTRUCTIONS.search(instruction)
    return " ".join(found[1].split()) if found else instruction.strip()


def wish(instruction: str) -> str:
    """What a user wants: the instruction without the sentences that only say who the user is."""
    sentences = _SENTENCE.split(_reason(instruction))
    for place, sentence in enumerate(sentences):
        if not _IDENTITY.search(sentence):
            return " ".join(sentences[place:])
        if _WISH.search(sentence):
            wants = _WANTS.search(sentence)
            start = sentence[wants.start() if wants else 0 :]
            return " ".join([start[:1].upper() + start[1:], *sentences[place + 1 :]])
    return " ".join(sentences)


def percent(value: float, digits: int = 0) -> str:
    """A share in per cent; what is neither none nor all is never rounded to it."""
    if not math.isfinite(value):
        return NOTHING
    for more in range(digits, digits + 4):
        number = f"{100 * value:.{more}f}"
        if value in (0, 1) or float(number) not in (0, 100):
            return f"{number} %"
    return f"{100 * value:.{digits}f} %"


def money(value: float) -> str:
    """US dollars; small amounts with more decimals."""
    return f"${value:,.2f}" if abs(value) >= 1 or value == 0 else f"${value:.4f}"


def date_text(moment: datetime) -> str:
    """A day and a time, with the zone where it is known."""
    zone = moment.tzname() or ""
    return f"{moment.day} {moment:%B %Y, %H:%M} {zone}".strip()


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 task, 2 tasks."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def interval_note(confidence: float, truth: str, *, cautious: bool = False) -> str:
    """What the ranges mean, in one line."""
    level = f"{100 * confidence:g}"
    return (
        f"The range beside a figure is its {level} % interval: of 100 such ranges, {level} hold "
        f"{truth}."
        + (f" Those with * are cautious and hold it more often: {_CAUTIOUS}." if cautious else "")
    )


def known(value: float | None) -> float | None:
    """A number for a section: None where it is not known."""
    return None if value is None or not math.isfinite(value) else value


def show(value: Cell, form: Format = "text", digits: int | None = None) -> str:
    """A value as text, by its format; a dash where there is none."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return outcome_info(value).label if form == "outcome" else one_line(value)
    if isinstance(value, list):
        if form == "ratio":
            return "/".join(f"{number:,}" for number in value) if any(value) else NOTHING
        return " ".join(outcome_info(str(name)).symbol for name in value)
    return _FORMATS[form](value, digits)


def span(low: float | None, high: float | None, form: Format, digits: int | None = None) -> str:
    """An interval as text; the unit stands once."""
    if low is None:
        return ""
    if high is None:
        return f"{show(low, form, digits)} or more"
    if form == "percent":
        return f"{100 * low:.{digits or 1}f} to {100 * high:.{digits or 1}f} %"
    return f"{show(low, form, digits)} to {show(high, form, digits)}"


def cell_text(cell: Cell, column: Column) -> str:
    """A cell of a table as text."""
    if column.interval:
        ends = cast("list[float]", cell) if isinstance(cell, list) else []
        low, high = (*ends, None, None)[:2]
        return span(low, high, column.format, column.digits)
    return show(cell, column.format, column.digits)


def figure_text(figure: Figure) -> tuple[str, str, str]:
    """A figure's value, its interval and its value under the second convention, as text."""
    value = figure.value
    interval = span(figure.low, figure.high, figure.format, figure.digits)
    if figure.cautious and interval:
        interval += " *"
    return (
        figure.unknown if value is None and figure.unknown else _figure(figure, value),
        interval,
        "" if figure.second is None else _figure(figure, figure.second),
    )


def _figure(figure: Figure, value: float | None) -> str:
    digits = 1 if figure.format == "percent" and figure.digits is None else figure.digits
    return show(value, figure.format, digits)


def _seconds(value: float, digits: int | None) -> str:
    """Short times in milliseconds, long ones as people say them."""
    if value < 60:
        short = f"{value:.2f} s" if value < 10 else f"{value:.1f} s"
        return f"{1000 * value:.1f} ms" if value < 0.1 else short
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


_FORMATS: Final[dict[str, Callable[[float, int | None], str]]] = {
    "text": lambda value, digits: f"{value:g}",
    "count": lambda value, digits: f"{value:,.0f}",
    "decimal": lambda value, digits: f"{value:.{3 if digits is None else digits}f}",
    "signed": lambda value, digits: f"{value:+.{3 if digits is None else digits}f}",
    "percent": lambda value, digits: percent(value, digits or 0),
    "money": lambda value, digits: money(value),
    "seconds": _seconds,
}
