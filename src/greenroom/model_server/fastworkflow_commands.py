"""Write actions as FastWorkflow commands, and read the values back."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from greenroom.domains.tasks import Action
from greenroom.model_server.dspy_forms import Field, plain_text
from greenroom.util.json_values import as_list

UNKNOWN_COMMAND: Final = "water_the_plants <when>now</when>"
"""A command that no workflow has."""

_WISH = "I would like to "
_DEFAULT = re.compile(r"(?:Default value|use): '(.*)'\.$")


def exact_command(action: Action) -> str:
    """The command by its name, with a tag around each value.

    >>> exact_command(Action("light", {"lamps": ["hall"], "colour": "red"}))
    'light <lamps>["hall"]</lamps> <colour>red</colour>'
    """
    values = [f"<{name}>{plain_text(value)}</{name}>" for name, value in action.kwargs.items()]
    return " ".join([action.name, *values])


def incomplete_command(action: Action) -> str:
    """The command without its first value, which is often an id without a default."""
    return exact_command(Action(action.name, dict([*action.kwargs.items()][1:])))


def loose_command(action: Action) -> str:
    """The same command in words, without its name.

    >>> loose_command(Action("light_lamps", {"lamps": ["hall", "attic"], "colour": "red"}))
    'I would like to light lamps. The lamps is hall, attic. The colour is red.'
    """
    values = [f"The {_words(name)} is {_listed(value)}." for name, value in action.kwargs.items()]
    return " ".join([f"{_WISH}{_words(action.name)}.", *values])


def is_loose(command: str) -> bool:
    """Whether a command is written in words."""
    return command.startswith(_WISH)


def parameter_value(command: str, name: str, field: Field) -> Any:
    """The value of a parameter in a command, or its default; None without either."""
    tagged = rf"<{name}>(.*?)</{name}>"
    worded = rf"The {_words(name)} is (.*?)\.(?= The [\w ]+ is |\s*\Z)"
    found = (
        re.search(tagged, command, re.DOTALL)
        or re.search(worded, command, re.DOTALL)
        or _DEFAULT.search(field.about)
    )
    return None if found is None else _typed(found[1].strip(), field.type.lower())


def _typed(text: str, kind: str) -> Any:
    if "none" in kind and text == "None":
        return None
    in_words = [item.strip() for item in text.split(",") if item.strip()]
    fallback = in_words if "list" in kind else text
    is_words = not text.startswith("[") if "list" in kind else "str" in kind
    try:
        return fallback if is_words else orjson.loads(text)
    except orjson.JSONDecodeError:
        return fallback


def _listed(value: Any) -> str:
    items = as_list(value)
    plain = bool(items) and all(isinstance(item, str) for item in items)
    return ", ".join(items) if plain else plain_text(value)


def _words(name: str) -> str:
    return name.replace("_", " ")
