"""The signature of a chat workflow: it takes messages, and returns one or several."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.workflows.declare.arguments import HandlerArguments
from greenroom.workflows.declare.hints import (
    alternatives,
    function_of,
    is_model,
    item_of,
    yielded_by,
)
from greenroom.workflows.declare.outputs import MESSAGE_LINE

PIECE_LINE = 'yield "some text"'

_MESSAGE_FIELDS = frozenset({"role", "messages"})
"""A class whose objects are a message, or hold messages, has one of these fields."""


def check_signature(
    name: str,
    handler: Callable[..., Any],
    signature: inspect.Signature,
    arguments: HandlerArguments,
    *,
    streams: bool,
) -> None:
    """Raise an InputError if the signature is not that of a chat workflow."""
    where = f"The chat workflow '{name}'{place_of(handler)}"
    if not arguments.takes_messages:
        raise InputError(
            f"{where} takes no messages. Write:\n  {_with_messages(handler, signature)}"
        )
    returned = signature.return_annotation
    hint = yielded_by(returned) if streams else returned
    if any(_may_be_message(one, piece=streams) for one in alternatives(hint)):
        return
    verb, line = ("yields", PIECE_LINE) if streams else ("returns", MESSAGE_LINE)
    raise InputError(
        f"{where} {verb} {_name_of(hint)} by its hint, and not messages. Write:\n  {line}"
    )


def place_of(handler: Callable[..., Any]) -> str:
    """The file and line of a handler, in brackets."""
    code = getattr(inspect.unwrap(function_of(handler)), "__code__", None)
    if code is None:
        return ""
    return f" ({code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{code.co_firstlineno})"


def _may_be_message(hint: Any, *, piece: bool) -> bool:
    if hint in (Any, object, inspect.Signature.empty) or isinstance(hint, typing.TypeVar):
        return True
    if hint is str:
        return piece
    held = item_of(hint)
    if held is not None:
        return any(_may_be_message(one, piece=False) for one in alternatives(held))
    if is_model(hint):
        return issubclass(hint, Message) or not _MESSAGE_FIELDS.isdisjoint(hint.model_fields)
    if isinstance(hint, type) and is_dataclass(hint):
        return not _MESSAGE_FIELDS.isdisjoint(one.name for one in fields(hint))
    origin = cast("Any", typing.get_origin(hint) or hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _with_messages(handler: Callable[..., Any], signature: inspect.Signature) -> str:
    is_async = inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)
    names = ", ".join(["messages", *signature.parameters])
    name = getattr(handler, "__name__", "")
    return f"{'async ' if is_async else ''}def {name if name.isidentifier() else 'chat'}({names}):"


def _name_of(hint: Any) -> str:
    if hint is type(None):
        return "None"
    return hint.__name__ if isinstance(hint, type) else str(hint)
