"""Findings in words: short sentences that name a call and shorten its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from greenroom.analysis.alignment import Write
from greenroom.analysis.arguments import ABSENT, ArgumentDifference, target_of
from greenroom.canonical import canonical_text

LONGEST_SENTENCE = 159
_LONGEST_VALUE = 36
_NAMED_ARGUMENTS = 2


def sentence(text: str) -> str:
    """One line that ends with a full stop and is not too long to be read at a glance."""
    line = " ".join(text.split())
    if len(line) >= LONGEST_SENTENCE:
        return line[: LONGEST_SENTENCE - 1].rstrip() + "…"
    return line if line.endswith((".", "!", "?")) else f"{line}."


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 step", "2 steps"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def call(write: Write) -> str:
    """A call by its tool and what it is about: "cancel_pending_order on #W123"."""
    target = target_of(write.kwargs)
    if target is None:
        return write.name
    preposition = "for" if target.argument == "user_id" else "on"
    return f"{write.name} {preposition} {_shorten(target.value)}"


def wrong_arguments(
    write: Write, differences: Sequence[ArgumentDifference], remark: str = ""
) -> str:
    """What was called with which arguments, and which were right; as much of it as fits."""
    target = target_of(write.kwargs)
    about = target.argument if target is not None else None
    wrong_target = next((d for d in differences if d.name == about), None)
    if wrong_target is not None:
        right = wrong_target.expected
        right = right if isinstance(right, str) else "no such argument"
        return f"Called {call(write)} where {_shorten(right)} was right{remark}"
    # Two arguments in full are told, or the first of more.
    named = len(differences) if len(differences) <= _NAMED_ARGUMENTS else 1
    texts = [
        f"Called {call(write)} {_joined(differences, told, longest)}{remark}"
        for told, longest in ((named, _LONGEST_VALUE), (1, _LONGEST_VALUE), (1, 24), (1, 12))
    ]
    return next((text for text in texts if len(text) < LONGEST_SENTENCE), texts[-1])


def _joined(differences: Sequence[ArgumentDifference], named: int, longest: int) -> str:
    told = " and ".join(_argument(difference, longest) for difference in differences[:named])
    left = len(differences) - named
    return told + (f" (and {count(left, 'more argument')})" if left else "")


def _argument(difference: ArgumentDifference, longest: int) -> str:
    name, expected, actual = difference.name, difference.expected, difference.actual
    if actual is ABSENT:
        return f"without {name}, {_value(expected, longest)} being right"
    if expected is ABSENT:
        return f"with {name} {_value(actual, longest)}, which does not belong there"
    if isinstance(expected, list) and isinstance(actual, list):
        return _list(name, cast("list[Any]", expected), cast("list[Any]", actual), longest)
    return f"with {name} {_value(actual, longest)} where {_value(expected, longest)} was right"


def _list(name: str, expected: list[Any], actual: list[Any], longest: int) -> str:
    # What both have in common is not worth the room.
    lacking, surplus = _without(expected, actual), _without(actual, expected)
    if not lacking and not surplus:
        return f"with {name} in another order than was right"
    if not surplus:
        return f"without {_items(lacking, longest)} in {name}"
    if not lacking:
        return f"with {_items(surplus, longest)} too many in {name}"
    if len(repr(expected)) <= longest and len(repr(actual)) <= longest:
        return f"with {name} {actual} where {expected} was right"
    right = _items(lacking, longest)
    return f"with {_items(surplus, longest)} in {name} where {right} was right"


def _without(items: list[Any], others: list[Any]) -> list[Any]:
    left = [canonical_text(other) for other in others]
    rest: list[Any] = []
    for item in items:
        text = canonical_text(item)
        if text in left:
            left.remove(text)
        else:
            rest.append(item)
    return rest


def _items(items: list[Any], longest: int) -> str:
    first = _value(items[0], longest)
    return first if len(items) == 1 else f"{first} and {len(items) - 1} more"


def _value(value: Any, longest: int) -> str:
    if isinstance(value, dict):
        # What a record is made of says enough: its keys are the same on both sides.
        inner = ", ".join(str(part) for part in cast("dict[str, Any]", value).values())
        return _shorten(f"{{{inner}}}", longest)
    return _shorten(repr(value), longest)


def _shorten(text: str, longest: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
