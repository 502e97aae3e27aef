"""What a handler returned, as plain JSON: local and remote callers get the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python

from greenroom.errors import GreenroomError
from greenroom.messages import Message, messages_of
from greenroom.util.characters import writable
from greenroom.util.raw_json import DEEPEST
from greenroom.workflows.calls import SERVER_ERROR, CallError

MESSAGE_LINE = 'return {"role": "assistant", "content": ...}'
PIECE_LINE = 'yield "some text"'

_PLAIN_TYPES = frozenset({str, int, bool, type(None)})


class NotJson(GreenroomError):
    """A handler returned something that JSON cannot express."""


def json_value(value: Any) -> Any:
    """The value in plain JSON types: models are dumped, NaN and infinities are null.

    Plain JSON comes back unchanged.
    """
    return _plain(value, DEEPEST)


def check_messages_returned(name: str, output: Any) -> list[dict[str, Any]]:
    """The messages that a chat workflow returned; raises a CallError if there are none."""
    found = None if isinstance(output, str) else messages_of(output)
    if found:
        return found
    raise CallError(
        f"The chat workflow '{name}' returned {_described(output)}, and not a message or a list of "
        f"messages. Write: {MESSAGE_LINE}",
        status=SERVER_ERROR,
        kind="NotAMessage",
    )


def message_fields(message: Message) -> dict[str, Any]:
    """A message as it is sent: without empty fields, but always with its content."""
    return {"role": message.role, "content": None} | message.model_dump(
        mode="json", exclude_none=True
    )


def _plain(value: Any, levels: int) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN_TYPES:
        return value
    if levels <= 0 and not isinstance(value, (float, str, int)):
        raise NotJson(f"it contains itself, or is nested more than {DEEPEST} levels deep.")
    if kind is dict or isinstance(value, Mapping):
        fields = cast("Mapping[Any, Any]", value)
        # No serializer takes half of a surrogate pair as a key.
        return {
            k if type(k) is str and k.isascii() else _key(k): _plain(v, levels - 1)
            for k, v in fields.items()
        }
    if kind is list or isinstance(value, tuple):
        return [_plain(item, levels - 1) for item in cast("list[Any]", value)]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return _plain(_dumped(value), levels - 1)


def _dumped(value: Any) -> Any:
    """The value one step nearer to JSON."""
    kind = cast("type[Any]", type(value)).__name__
    if isinstance(value, Message):
        return message_fields(value)
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return value.tolist()
    if isinstance(value, Iterator):  # reading it here would block the event loop
        raise NotJson(f"it holds a {kind}. To stream, yield in the handler itself.")
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, UnicodeDecodeError) as error:
        raise NotJson(f"it holds a {kind}.") from error


def _key(key: Any) -> str:
    if isinstance(key, str):  # a subclass, such as a member of an enumeration
        return writable(str.__str__(key))
    if key is None or isinstance(key, (bool, int, float)):
        return orjson.dumps(key).decode()
    return str(key)


def _described(output: Any) -> str:
    if output is None:
        return "nothing"
    if isinstance(output, Mapping):
        return "an object without a role and content"
    if isinstance(output, list):
        return "a list that holds other things" if output else "an empty list"
    return "a text" if isinstance(output, str) else f"a {type(output).__name__}"
