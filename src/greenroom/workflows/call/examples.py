"""How to try a workflow: inputs that fit its schema, and a line for the shell."""

from __future__ import annotations

import os
import shlex
from typing import Any

import orjson

from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.call.client import wire_for
from greenroom.workflows.call.connection import token_variable
from greenroom.workflows.call.wires import Wire
from greenroom.workflows.calls import Call, Profile

_SAMPLES: dict[str, Any] = {
    "string": "...",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def needed_inputs(profile: Profile) -> dict[str, dict[str, Any]]:
    """The inputs that a call must give, with their schemas; without the messages of a chat."""
    properties = as_dict(as_dict(profile.schemas.inputs).get("properties"))
    needed = required_inputs(profile.schemas.inputs)
    hidden = "messages" if profile.is_chat else None
    return {name: as_dict(properties.get(name)) for name in needed if name != hidden}


def required_inputs(schema: Any) -> list[str]:
    """The inputs that a schema requires; without `required`, all that have no default."""
    fields = as_dict(schema)
    if "required" in fields:
        return [str(name) for name in as_list(fields["required"])]
    properties = as_dict(fields.get("properties"))
    return [name for name, one in properties.items() if "default" not in as_dict(one)]


def example_inputs(profile: Profile) -> dict[str, Any]:
    """Inputs that fit the schema, with placeholders."""
    inputs: dict[str, Any] = {}
    if profile.is_chat or "messages" in as_dict(as_dict(profile.schemas.inputs).get("properties")):
        inputs["messages"] = [{"role": "user", "content": "Hello"}]
    return {name: _example(schema) for name, schema in needed_inputs(profile).items()} | inputs


def curl_line(profile: Profile, wire: Wire | None = None) -> str:
    """A command that calls the workflow; a token appears as the name of its variable."""
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
    fields = as_dict(schema)
    reference = fields.get("x-ag-type-ref")
    if isinstance(reference, str):
        return reference
    if values := as_list(fields.get("enum")):
        return "one of " + ", ".join(map(str, values))
    kinds = fields.get("type")
    if kinds is None:
        options = [o for name in ("anyOf", "oneOf", "allOf") for o in as_list(fields.get(name))]
        return " or ".join(dict.fromkeys(map(kind_of, options))) or "anything"
    return " or ".join(map(str, as_list(kinds))) if isinstance(kinds, list) else str(kinds)


def _example(schema: dict[str, Any]) -> Any:
    if "default" in schema:
        return schema["default"]
    if values := as_list(schema.get("examples")) or as_list(schema.get("enum")):
        return values[0]
    return _SAMPLES.get(kind_of(schema).partition(" or ")[0], "...")
