"""Arguments of two calls compared with each other, by Tau Bench's notion of equality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from greenroom.canonical import canonical_text

ABSENT: Final = object()
"""Stands for an argument that one of two calls does not have."""

_TARGETS = ("order_id", "reservation_id")
_TARGET_OF_LAST_RESORT = "user_id"
_NO_TARGETS = ("payment_method_id", "payment_id", "item_id", "product_id")


@dataclass(frozen=True)
class ArgumentDifference:
    """An argument that differs, or a place inside one, such as `flights[0].date`."""

    name: str
    expected: Any
    actual: Any

    @property
    def root(self) -> str:
        """The argument itself: `flights`."""
        return re.split(r"[.\[]", self.name, maxsplit=1)[0]


@dataclass(frozen=True)
class RecordNamed:
    """The record that a call is about, as one of its arguments names it."""

    argument: str
    value: str


def target_of(kwargs: Mapping[str, Any]) -> RecordNamed | None:
    """What a call is about: an order or reservation before any other record, a user at last."""
    others = sorted(
        name
        for name in kwargs
        if name.endswith("_id") and name not in _NO_TARGETS and name != _TARGET_OF_LAST_RESORT
    )
    for name in (*_TARGETS, *others, _TARGET_OF_LAST_RESORT):
        value = kwargs.get(name)
        if isinstance(value, str):
            return RecordNamed(name, value)
    return None


def argument_differences(
    expected: Mapping[str, Any], actual: Mapping[str, Any]
) -> list[ArgumentDifference]:
    """What differs between the arguments of two calls of the same tool, in the expected order.

    Items of an order are a set to the tools that take them: `item_ids` are compared regardless of
    their order, and `new_item_ids` as what each of them is to become.
    """
    found = list(_item_differences(expected, actual))
    for name in dict.fromkeys([*expected, *actual]):
        if name not in ("item_ids", "new_item_ids"):
            found += _walk(name, expected.get(name, ABSENT), actual.get(name, ABSENT))
    order = {name: place for place, name in enumerate(dict.fromkeys([*expected, *sorted(actual)]))}
    return sorted(found, key=lambda difference: order.get(difference.root, len(order)))


def _item_differences(
    expected: Mapping[str, Any], actual: Mapping[str, Any]
) -> Iterator[ArgumentDifference]:
    same_sets = True
    for name in ("item_ids", "new_item_ids"):
        before, after = expected.get(name, ABSENT), actual.get(name, ABSENT)
        if _unordered(before) != _unordered(after):
            same_sets = False
            yield ArgumentDifference(name, before, after)
    if same_sets and _pairs(expected) != _pairs(actual):
        yield ArgumentDifference(
            "new_item_ids", expected.get("new_item_ids"), actual.get("new_item_ids")
        )


def _pairs(kwargs: Mapping[str, Any]) -> list[tuple[str, str]]:
    old, new = kwargs.get("item_ids"), kwargs.get("new_item_ids")
    if not isinstance(old, list) or not isinstance(new, list):
        return []
    pairs = zip(cast("list[Any]", old), cast("list[Any]", new), strict=False)
    return sorted((canonical_text(before), canonical_text(after)) for before, after in pairs)


def _unordered(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(canonical_text(item) for item in cast("list[Any]", value))
    return ABSENT if value is ABSENT else canonical_text(value)


def _walk(path: str, expected: Any, actual: Any) -> Iterator[ArgumentDifference]:
    if expected is ABSENT or actual is ABSENT:
        if expected is not actual:
            yield ArgumentDifference(path, expected, actual)
    elif canonical_text(expected) == canonical_text(actual):
        return
    elif isinstance(expected, dict) and isinstance(actual, dict):
        before, after = cast("dict[str, Any]", expected), cast("dict[str, Any]", actual)
        for key in dict.fromkeys([*before, *sorted(after)]):
            yield from _walk(f"{path}.{key}", before.get(key, ABSENT), after.get(key, ABSENT))
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _walk_lists(path, cast("list[Any]", expected), cast("list[Any]", actual))
    else:
        yield ArgumentDifference(path, expected, actual)


def _walk_lists(path: str, expected: list[Any], actual: list[Any]) -> Iterator[ArgumentDifference]:
    if len(expected) != len(actual):
        # They differ as a whole: their places do not answer to each other.
        yield ArgumentDifference(path, expected, actual)
        return
    for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
        yield from _walk(f"{path}[{index}]", left, right)
