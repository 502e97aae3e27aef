"""Reading the inputs of a workflow from what a person types."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from greenroom.cli.output import echo
from greenroom.errors import InputError, UnknownName

if TYPE_CHECKING:
    from greenroom.workflows.calls import Profile


def parse_pairs(option: str, pairs: Sequence[str], schema: Any) -> dict[str, Any]:
    """The values of an option such as `--param temperature=0.5`, by the schema's types.

    Where the schema says nothing, what is JSON counts as JSON and the rest as text. A name that the
    schema does not have is passed on with a note: it may be a slip.
    """
    from greenroom.util.json_values import as_dict

    properties = as_dict(as_dict(schema).get("properties"))
    closed = bool(properties) and as_dict(schema).get("additionalProperties") is not True
    values: dict[str, Any] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise InputError(f"{option} takes NAME=VALUE, not '{pair}'.")
        if name in properties:
            values[name] = read_value(name, text, properties[name])
        else:
            if closed:
                echo(f"note: {UnknownName(f'name in {option}', name, properties)}", err=True)
            values[name] = _json_or_text(text)
    return values


def read_value(name: str, text: str, schema: Any) -> Any:
    """The value of an input: text where that is allowed, otherwise JSON.

    A text for `messages` is what the user says.
    """
    from greenroom.workflows.call.examples import kind_of

    kind = kind_of(schema)
    if kind == "anything" or "string" in kind or kind.startswith("one of"):
        return text
    if name == "messages" and not text.lstrip().startswith("["):
        return [{"role": "user", "content": text}]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{name} takes JSON ({kind}), not '{text}'.") from None


def line_inputs(line: str, profile: Profile, given: dict[str, Any]) -> dict[str, Any]:
    """The inputs in a line: a JSON object of them, or the one that is still needed."""
    if line.lstrip().startswith("{"):
        value = _json_or_text(line)
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
    missing = missing_inputs(profile, given)
    if not missing and not line.strip():
        return {}
    if len(missing) == 1:
        ((name, schema),) = missing.items()
        return {name: read_value(name, line, schema)}
    names = f"needs {', '.join(missing)}" if missing else "does not tell its inputs"
    raise InputError(
        f"'{profile.name}' {names}: write them as one JSON object, or give them by --input "
        "NAME=VALUE."
    )


def missing_inputs(profile: Profile, given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The inputs that are needed and not given yet, with their schemas."""
    from greenroom.workflows.call.examples import needed_inputs

    return {name: one for name, one in needed_inputs(profile).items() if name not in given}


def asked_inputs(
    read: Callable[[str], str], profile: Profile, given: dict[str, Any], first: str
) -> dict[str, Any]:
    """The missing inputs, asked for one by one; the first was typed already."""
    missing = missing_inputs(profile, given)
    if len(missing) <= 1 or first.lstrip().startswith("{"):
        return line_inputs(first, profile, given)
    values: dict[str, Any] = {}
    for number, (name, schema) in enumerate(missing.items()):
        values[name] = read_value(name, first if number == 0 else read(f"{name}: "), schema)
    return values


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
