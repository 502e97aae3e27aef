"""Requests to the user that scripted users understand: tools to call, one on each line.

Agents that know the ground truth ask in this form, so rehearsals of domains in which both parties
act need no language model. A person or a model can read it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import orjson

from greenroom.domains.tasks import Action
from greenroom.util.json_values import as_dict

PLEASE: Final = "Please do this on your side, then tell me:"
"""Begins a request."""

DONE: Final = "I have done that."
"""What a scripted user says after a request."""

_CALL: Final = re.compile(r"^- ([^\s{]+)(?: (\{.*\}))?$", re.MULTILINE)


def request_for(actions: Iterable[Action]) -> str:
    """The words that ask the user to call tools.

    >>> print(request_for([Action("toggle_wifi"), Action("set_fan", {"speed": 2})]))
    Please do this on your side, then tell me:
    - toggle_wifi
    - set_fan {"speed":2}
    """
    return "\n".join([PLEASE, *(_line(action) for action in actions)])


def requested_calls(content: str) -> list[Action]:
    """The calls that an agent's words ask for; none if they are no request.

    >>> [one.name for one in requested_calls(request_for([Action("a"), Action("b")]))]
    ['a', 'b']
    """
    _, asks, lines = content.partition(PLEASE)
    if not asks:
        return []
    return [Action(name, _arguments(text), "user") for name, text in _CALL.findall(lines)]


def _line(action: Action) -> str:
    arguments = f" {orjson.dumps(dict(action.kwargs)).decode()}" if action.kwargs else ""
    return f"- {action.name}{arguments}"


def _arguments(text: str) -> dict[str, object]:
    try:
        return as_dict(orjson.loads(text or "{}"))
    except orjson.JSONDecodeError:
        return {}
