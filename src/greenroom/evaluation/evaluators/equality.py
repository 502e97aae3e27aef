"""When two outputs are the same: as JSON, never as the text that a program would print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from greenroom.util.raw_json import raw_value


def same(output: Any, expected: Any) -> bool:
    """Whether an output is the expected one.

    Where one side is a text and the other is not, the text is read as JSON: a cell of a CSV file
    has no other way to say 42 or {"a": 1}.
    """
    if isinstance(output, str) and not isinstance(expected, str):
        return _encodes(output, expected)
    if isinstance(expected, str) and not isinstance(output, str):
        return _encodes(expected, output)
    return json_equal(output, expected)


def json_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return left.keys() == right.keys() and all(
            json_equal(value, right[key]) for key, value in left.items()
        )
    if is_array(one) and is_array(other):
        first, second = cast("Sequence[Any]", one), cast("Sequence[Any]", other)
        return len(first) == len(second) and all(map(json_equal, first, second))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return type_name(one) == type_name(other) and one == other


def is_array(value: Any) -> bool:
    """Whether a value is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def type_name(value: Any) -> str:
    """JSON's word for what a value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, Mapping) else "array"


def _encodes(text: str, value: Any) -> bool:
    try:
        return json_equal(raw_value(text), value)
    except (ValueError, RecursionError):
        return False
