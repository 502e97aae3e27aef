"""What a handler returned, as JSON has it: every caller gets the same, near or far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python

from greenroom.errors import GreenroomError
from greenroom.messages import Message

_AS_IT_IS = frozenset({str, int, bool, type(None)})


class NotJson(GreenroomError):
    """A handler returned something that JSON has no words for."""


def json_value(value: Any) -> Any:
    """The value in plain JSON types: models are dumped, NaN and infinities are null.

    What is plain JSON already comes back equal to what it was.
    """
    try:
        return _plain(value)
    except RecursionError as error:
        raise NotJson("it contains itself, or is nested too deeply.") from error


def _plain(value: Any) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _AS_IT_IS:
        return value
    if kind is dict or isinstance(value, Mapping):
        fields = cast("Mapping[Any, Any]", value)
        return {k if type(k) is str else _key(k): _plain(v) for k, v in fields.items()}
    if kind is list or isinstance(value, tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return _plain(_dumped(value))


def _dumped(value: Any) -> Any:
    """One step nearer to JSON."""
    kind = cast("type[Any]", type(value)).__name__
    if isinstance(value, Message):
        return message_fields(value)
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return value.tolist()
    if isinstance(value, Iterator):  # to read it here would hold up everything else
        raise NotJson(f"it holds a {kind}. To stream, yield in the handler itself.")
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, UnicodeDecodeError) as error:
        raise NotJson(f"it holds a {kind}.") from error


def _key(key: Any) -> str:
    if isinstance(key, str):  # a subclass of it, such as a member of an enumeration
        return str.__str__(key)
    if key is None or isinstance(key, (bool, int, float)):
        return orjson.dumps(key).decode()
    return str(key)


def message_fields(message: Message) -> dict[str, Any]:
    """A message as it is sent: fields that say nothing are left out, but for the content."""
    return {"role": message.role, "content": None} | message.model_dump(
        mode="json", exclude_none=True
    )


__all__ = ["NotJson", "json_value", "message_fields"]
