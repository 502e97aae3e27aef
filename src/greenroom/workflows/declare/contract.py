"""What makes a workflow a chat workflow: it takes messages, and gives one or several back."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from greenroom.errors import InputError
from greenroom.messages import Message, messages_of
from greenroom.workflows.call.calls import CallError
from greenroom.workflows.declare.binding import Binding
from greenroom.workflows.declare.hints import (
    alternatives,
    function_of,
    is_model,
    item_of,
    yielded_by,
)

MESSAGE_LINE = 'return {"role": "assistant", "content": ...}'
PIECE_LINE = 'yield "some text"'
SERVER_ERROR = 500

_OF_MESSAGES = frozenset({"role", "messages"})
"""The fields of which a class has one if its objects can be a message, or hold several."""


def check_declaration(
    name: str,
    handler: Callable[..., Any],
    signature: inspect.Signature,
    binding: Binding,
    *,
    streams: bool,
) -> None:
    """Raise where the signature says that this cannot be a chat workflow."""
    where = f"The chat workflow '{name}'{place_of(handler)}"
    if not binding.takes_messages:
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


def check_output(name: str, output: Any) -> list[dict[str, Any]]:
    """The messages that a chat workflow returned; raises where they are none."""
    found = None if isinstance(output, str) else messages_of(output)
    if found:
        return found
    raise CallError(
        f"The chat workflow '{name}' returned {_described(output)}, and not a message or a list of "
        f"messages. Write: {MESSAGE_LINE}",
        status=SERVER_ERROR,
        kind="NotAMessage",
    )


def place_of(handler: Callable[..., Any]) -> str:
    """Where a handler is written, to be put behind its name."""
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
        return issubclass(hint, Message) or not _OF_MESSAGES.isdisjoint(hint.model_fields)
    if isinstance(hint, type) and is_dataclass(hint):
        return not _OF_MESSAGES.isdisjoint(one.name for one in fields(hint))
    origin = cast("Any", typing.get_origin(hint) or hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _with_messages(handler: Callable[..., Any], signature: inspect.Signature) -> str:
    awaits = inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)
    names = ", ".join(["messages", *signature.parameters])
    name = getattr(handler, "__name__", "")
    return f"{'async ' if awaits else ''}def {name if name.isidentifier() else 'chat'}({names}):"


def _name_of(hint: Any) -> str:
    if hint is type(None):
        return "None"
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _described(output: Any) -> str:
    if output is None:
        return "nothing"
    if isinstance(output, Mapping):
        return "an object without a role and content"
    if isinstance(output, list):
        return "a list that holds other things" if output else "an empty list"
    if isinstance(output, str):
        return "a text"
    return f"a {type(output).__name__}"


__all__ = ["MESSAGE_LINE", "check_declaration", "check_output", "place_of"]
