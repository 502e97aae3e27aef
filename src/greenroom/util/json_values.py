"""Looking into JSON that others wrote."""

from __future__ import annotations

import json
import math
import sys
from typing import Any, cast

import orjson

from greenroom.util.characters import writable
from greenroom.util.raw_json import DEEPEST, plain, raw_text

_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"


def decoded(content: bytes) -> Any:
    """The JSON in a body; raises a ValueError where there is none, or it is nested too deeply.

    NaN, infinity and halves of surrogate pairs, which some servers write, are cleaned away.
    """
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(content)
        except RecursionError:
            raise ValueError(_TOO_DEEP) from None
        check_depth(value)
        return cleaned(value)
    if content.count(b"[") + content.count(b"{") > DEEPEST:
        check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise a ValueError for JSON that is nested too deeply."""
    # Level by level: quicker than one node after the other, and without recursion.
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [
            item
            for node in level
            for item in (cast("dict[str, Any]", node).values() if isinstance(node, dict) else node)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def cleaned(value: Any) -> Any:
    """JSON that every serializer takes: null for NaN and infinity, no halves of surrogate pairs."""
    if isinstance(value, str):
        return value if value.isascii() else writable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def portable_text(value: Any) -> str:
    """A value as JSON that every reader takes: halves of surrogate pairs are replaced."""
    value = plain(value)
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # these halves, or numbers beyond 64 bits
        return raw_text(cleaned(value))


def encoded(value: Any) -> bytes:
    """Plain JSON types as JSON text."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # The standard library also writes lone surrogates, huge integers and deep nesting.
        return json.dumps(value, separators=(",", ":")).encode()


def count_of(value: Any) -> int | None:
    """A number of tokens that somebody reports, within 64 bits; None if it is no such number."""
    amount = amount_of(value)
    return None if amount is None else min(int(value), 2**63 - 1)


def amount_of(value: Any) -> float | None:
    """A number that somebody reports, from 0 on; None if it is no such number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < math.inf:
        return None
    return min(value, sys.float_info.max)


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
