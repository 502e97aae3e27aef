"""JSON for what others wrote: it gives back exactly what was put in.

orjson reads large numbers as floats and refuses half of a surrogate pair; both occur in the wild.
It is used where neither occurs, because it is several times quicker.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, ValidationError

from greenroom.util.characters import writable

ModelT = TypeVar("ModelT", bound=BaseModel)

DEEPEST = 200
"""Levels of nesting. Many functions that read JSON recurse, and Python ends at about 1,000."""
_MOST_BITS = 14_000  # Python neither writes nor reads numbers of more than 4,300 digits

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


def record_of(model: type[ModelT], text: str) -> ModelT:
    """The record that was written as this JSON."""
    try:
        # One step from text to record is several times quicker than two.
        return model.model_validate_json(text)
    except ValidationError:
        return model.model_validate(raw_value(text))  # half of a surrogate pair


def record_text(record: BaseModel | dict[str, Any] | list[Any]) -> str:
    """A record, or a part of one, as JSON; NaN and infinity become null."""
    value = record.model_dump(mode="json") if isinstance(record, BaseModel) else record
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return raw_text(plain(value))


def storable(text: str) -> str:
    """A text that every database takes: without NUL and halves of surrogate pairs."""
    return writable(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def plain(value: Any, levels: int = DEEPEST + 40) -> Any:
    """Any value as JSON: null for numbers without a word in JSON, texts for all else.

    What lies deeper than so many levels, as in a list that holds itself, is left out. By default
    there is room for a record around a value.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < _MOST_BITS else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if not isinstance(value, (dict, list, tuple, set, frozenset, Mapping)):
        return _shown(value)
    if levels == 0:
        return "(nested too deeply)"
    if isinstance(value, (dict, Mapping)):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(key): plain(item, levels - 1) for key, item in items}
    return [plain(item, levels - 1) for item in cast("Iterable[Any]", value)]


def _key(key: Any) -> str:
    # No serializer takes half of a surrogate pair as a key.
    return writable(key if isinstance(key, str) else _shown(key))


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
