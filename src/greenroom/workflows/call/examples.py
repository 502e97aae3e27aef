"""How to try a workflow: inputs that fit its schema, and a line for the shell."""

from __future__ import annotations

import os
import shlex
from typing import Any

import orjson

from greenroom.util.json_values import listing, mapping
from greenroom.workflows.call.calls import Call, Profile
from greenroom.workflows.call.client import wire_for
from greenroom.workflows.call.connection import token_variable
from greenroom.workflows.call.wires import Wire

_SAMPLES: dict[str, Any] = {
    "string": "...",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def needed_inputs(profile: Profile) -> dict[str, dict[str, Any]]:
    """The inputs that a call has to give, beside the messages, with their schemas.

    Where a schema does not say which are needed, all are.
    """
    schema = mapping(profile.schemas.inputs)
    properties = mapping(schema.get("properties"))
    needed = listing(schema["required"]) if "required" in schema else list(properties)
    return {name: mapping(properties.get(name)) for name in needed if name != "messages"}


def example_inputs(profile: Profile) -> dict[str, Any]:
    """Inputs that fit the schema, with placeholders for what only a person can know."""
    inputs: dict[str, Any] = {}
    if profile.is_chat or "messages" in mapping(mapping(profile.schemas.inputs).get("properties")):
        inputs["messages"] = [{"role": "user", "content": "Hello"}]
    return inputs | {name: _example(schema) for name, schema in needed_inputs(profile).items()}


def curl_line(profile: Profile, wire: Wire | None = None) -> str:
    """A command that calls the workflow; a token stands in it by the name of its variable."""
    wire = wire or wire_for(profile)
    body = wire.body(Call(inputs=example_inputs(profile)), streamed=False)
    body.pop("flags", None)
    parts = ["curl", "-s", shlex.quote(wire.url), "-H", "'Content-Type: application/json'"]
    variable = token_variable(wire.url)
    if os.environ.get(variable):
        parts += ["-H", f'"Authorization: Bearer ${variable}"']
    return " ".join([*parts, "-d", shlex.quote(orjson.dumps(body).decode())])


def kind_of(schema: Any) -> str:
    """What a schema allows, in a few words."""
    fields = mapping(schema)
    reference = fields.get("x-ag-type-ref")
    if isinstance(reference, str):
        return reference
    if values := listing(fields.get("enum")):
        return "one of " + ", ".join(map(str, values))
    kinds = fields.get("type")
    if kinds is None:
        options = [o for name in ("anyOf", "oneOf", "allOf") for o in listing(fields.get(name))]
        return " or ".join(dict.fromkeys(map(kind_of, options))) or "anything"
    return " or ".join(map(str, listing(kinds))) if isinstance(kinds, list) else str(kinds)


def _example(schema: dict[str, Any]) -> Any:
    if "default" in schema:
        return schema["default"]
    if values := listing(schema.get("examples")) or listing(schema.get("enum")):
        return values[0]
    return _SAMPLES.get(kind_of(schema).partition(" or ")[0], "...")


__all__ = ["curl_line", "example_inputs", "kind_of", "needed_inputs"]
