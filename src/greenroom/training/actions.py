"""Actions as whoever trains gives them: words for the user, or calls of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import orjson

from greenroom.agents.tool_calls import usable_arguments
from greenroom.domains.tasks import RESPOND, Action, respond
from greenroom.errors import InputError
from greenroom.util.characters import writable
from greenroom.util.json_values import check_depth

_FORMS = (
    'An action is a text for the user, a call {"name": ..., "arguments": {...}}, or such a call as '
    "JSON"
)


def read_action(given: Any) -> Action:
    """What is to be done; raises InputError for what is no action.

    A text that is a JSON object with `name` and `arguments`, and nothing else, is a call. Any other
    text goes to the user.
    """
    if isinstance(given, Action):
        return given
    if isinstance(given, str):
        call = _written_call(given)
        return respond(writable(given)) if call is None else call
    if not isinstance(given, Mapping):
        raise InputError(f"{_FORMS}; this is a {type(given).__name__}.")
    fields = cast("Mapping[str, Any]", given)
    name = fields.get("name")
    arguments = fields.get("arguments", fields.get("kwargs", {}))
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise InputError(f"{_FORMS}; this is {given!r:.80}.")
    try:
        usable = usable_arguments(dict(cast("Mapping[str, Any]", arguments)))
    except (TypeError, ValueError) as problem:
        raise InputError(f"The arguments cannot be used: {problem}.") from None
    return Action(writable(name), usable)


def is_silent(action: Action) -> bool:
    """Whether it is a message without a word."""
    words = action.kwargs.get("content")
    return action.name == RESPOND and isinstance(words, str) and not words.strip()


def _written_call(text: str) -> Action | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found: Any = orjson.loads(text)
        check_depth(found)
    except ValueError:
        return None
    match found:
        case {"name": str(name), "arguments": dict(), **rest} if not rest:
            return Action(name, cast("dict[str, Any]", found["arguments"]))
        case _:
            return None


__all__ = ["is_silent", "read_action"]
