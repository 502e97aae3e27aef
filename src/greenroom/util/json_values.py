"""Looking into JSON that others wrote."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson


def decoded(content: bytes) -> Any:
    """The JSON in a body; raises a ValueError where there is none."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # NaN and the like, which some servers write, are no reason to fail.
        return json.loads(content)


def encoded(value: Any) -> bytes:
    """Plain JSON types as JSON text."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # The standard library also writes lone surrogates, huge integers and deep nesting.
        return json.dumps(value, separators=(",", ":")).encode()


def as_dict(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
