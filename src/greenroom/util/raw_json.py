"""JSON for what others wrote: it gives back exactly what was put in.

orjson reads large numbers as floats and refuses half of a surrogate pair; both occur in the wild.
It is used where neither occurs, because it is several times quicker.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, cast

import orjson
from pydantic import BaseModel

_LONG_NUMBER = re.compile(r"\d{16}")
_LONG_NUMBER_BYTES = re.compile(rb"\d{16}")


def raw_text(value: Any) -> str:
    """A value as JSON that any database and any file can hold.

    A number that JSON cannot write (NaN, infinity) is a ValueError.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair has no place in UTF-8; escaped, it has.
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text


def raw_value(text: str | bytes) -> Any:
    """The value that was put in."""
    long = _LONG_NUMBER.search(text) if isinstance(text, str) else _LONG_NUMBER_BYTES.search(text)
    if long is None:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    return json.loads(text)


def record_text(record: BaseModel | dict[str, Any] | list[Any]) -> str:
    """A record, or a part of one, as JSON; NaN and infinity become null."""
    value = record.model_dump(mode="json") if isinstance(record, BaseModel) else record
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return raw_text(_finite(value))


def storable(text: str) -> str:
    """A text that every database takes: without NUL and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value
