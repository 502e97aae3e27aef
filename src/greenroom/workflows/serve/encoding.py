"""JSON on the wire: read with limits, written whatever it holds."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

MOST_LEVELS = 200
"""How deeply a body may be nested: what orjson writes is limited to 254, envelope included."""


class NotUnderstood(Exception):
    """A body that is no JSON, or none that is taken; the text says why."""


def decode(body: bytes) -> Any:
    """The JSON in a body; an empty body is an empty object."""
    if not body:
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NotUnderstood(f"The body is not JSON: {error}.") from error
    # Counting brackets is quick, and tells of most bodies that they cannot be too deep.
    if body.count(b"[") + body.count(b"{") > MOST_LEVELS and _is_deep(value):
        raise NotUnderstood(f"The body is nested more than {MOST_LEVELS} levels deep.")
    return value


def _is_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MOST_LEVELS):
        level = [
            item
            for held in level
            for item in (
                cast("dict[str, Any]", held).values()
                if isinstance(held, dict)
                else cast("list[Any]", held)
            )
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


def encode(value: Any) -> bytes:
    """Plain JSON types as JSON text."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Half of a surrogate pair, a very large number, very many levels: slower, but it can.
        return json.dumps(value, separators=(",", ":")).encode()


__all__ = ["MOST_LEVELS", "NotUnderstood", "decode", "encode"]
