"""Tool calls as models write them: tidied for the record, and read as actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from greenroom.agents.conversation import Unreadable, extras_of, read_object
from greenroom.domains.tasks import Action
from greenroom.util.characters import writable
from greenroom.util.json_values import as_dict, check_depth, cleaned

if TYPE_CHECKING:
    from greenroom.domains.tasks import Party

NAMELESS = "unnamed"
"""Recorded as the name of a call without one, because providers refuse empty names."""
NOT_MADE = "This call was not made: the conversation was already over."
"""The answer to calls that follow the last step."""


class CallTidier:
    """Brings the calls of a conversation into a form that any provider accepts.

    Simple servers leave out ids, give all calls the same id, or send the arguments as an object.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def __call__(self, calls: Iterable[Any]) -> list[dict[str, Any]]:
        """The calls of one message."""
        return [self._tidy(call) for call in calls]

    def _tidy(self, call: Any) -> dict[str, Any]:
        call = as_dict(call)
        function = as_dict(call.get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        tidy: dict[str, Any] = {
            "name": writable(name) if isinstance(name, str) and name else NAMELESS,
            "arguments": writable(_arguments_text(arguments)),
        }
        return {
            "id": self._new_id(call.get("id")),
            "type": "function",
            "function": tidy | extras_of(function, {"name", "arguments"}),
            **extras_of(call, {"id", "type", "function"}),
        }

    def _new_id(self, given: Any) -> str:
        call_id = writable(given) if isinstance(given, str) else ""
        number = len(self._ids)
        while not call_id or call_id in self._ids:
            number += 1
            call_id = f"call_{number}"
        self._ids.add(call_id)
        return call_id


def action_of_call(name: str, arguments: str, party: Party = "agent") -> Action:
    """The action that a recorded call asks for; raises Unreadable if there is none."""
    if name == NAMELESS:
        raise Unreadable("the call names no tool.")
    try:
        # Some models write nothing instead of an empty object for a tool without arguments.
        return Action(name, read_object(arguments.strip() or "{}"), party)
    except Unreadable as problem:
        raise Unreadable(f"the arguments are not a JSON object: {problem}") from None


def usable_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments that every record takes; raises what tells why there are none."""
    check_depth(arguments)
    try:
        return orjson.loads(orjson.dumps(arguments))
    except TypeError:  # halves of surrogate pairs, or numbers beyond 64 bits
        return orjson.loads(orjson.dumps(cleaned(arguments)))


def _arguments_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:
        # It cannot be JSON; the model is told so.
        return str(arguments)
