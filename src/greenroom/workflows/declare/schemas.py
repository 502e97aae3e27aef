"""JSON schemas of a workflow, from the type hints of its handler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.calls import MESSAGES, TOOLS
from greenroom.workflows.declare.arguments import Argument, HandlerArguments
from greenroom.workflows.declare.hints import (
    alternatives,
    item_of,
    plain,
    without_none,
    yielded_by,
)
from greenroom.workflows.declare.outputs import NotJson, json_value

TYPE_REF = "x-ag-type-ref"
"""The key that marks a schema as that of a message, or of several."""

MESSAGES_SCHEMA: dict[str, Any] = {"type": "array", TYPE_REF: "messages"}
TOOLS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "description": "Tools that the caller runs, in OpenAI's shape.",
    "default": [],
}
MESSAGE_SCHEMA: dict[str, Any] = {"type": "object", TYPE_REF: "message"}
ANY_MESSAGES_SCHEMA: dict[str, Any] = {
    "anyOf": [MESSAGE_SCHEMA, MESSAGES_SCHEMA, {"type": "object", "required": [MESSAGES]}],
    TYPE_REF: "message",
}
"""What a handler without a hint, or a generator, may give; Agenta's tools read the root's mark."""

Verdict = tuple[bool, str]
"""Whether a workflow chats, and how we know."""


def inputs_schema(arguments: HandlerArguments, *, is_chat: bool) -> dict[str, Any]:
    """The JSON schema of a call's inputs."""
    schema: dict[str, Any] = {"type": "object"}
    whole = arguments.first("inputs")
    if whole is not None and whole.adapter is not None:
        schema |= without_none(whole.hint).model_json_schema()
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", []))
    if is_chat or arguments.first("messages") is not None:
        properties = {MESSAGES: MESSAGES_SCHEMA if is_chat else {"type": "array"}} | properties
        if arguments.needs_messages and MESSAGES not in required:
            required.insert(0, MESSAGES)
    of_arguments, definitions = _argument_schemas(arguments.inputs)
    properties |= of_arguments
    if arguments.first("tools") is not None:
        properties[TOOLS] = TOOLS_SCHEMA
    required += [one.name for one in arguments.inputs if one.required]
    if properties:
        schema["properties"] = properties
    if arguments.takes_anything:
        schema["additionalProperties"] = True
    if required:
        schema["required"] = required
    if definitions or "$defs" in schema:
        schema["$defs"] = {**schema.get("$defs", {}), **definitions}
    return schema


def _argument_schemas(
    arguments: tuple[Argument, ...],
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    checked = [(one.name, "validation", one.adapter) for one in arguments if one.adapter]
    found, rest = TypeAdapter[Any].json_schemas(checked)  # pyright: ignore[reportArgumentType]
    schemas: dict[str, dict[str, Any]] = {}
    for one in arguments:
        schema = dict(found.get((one.name, "validation"), {}))
        schemas[one.name] = schema if one.required else schema | _default(one.default)
    return schemas, rest.get("$defs", {})


def _default(value: Any) -> dict[str, Any]:
    try:
        return {"default": json_value(value)}
    except NotJson:
        return {}


def outputs_schema(returned: Any, *, is_chat: bool, streams: bool) -> dict[str, Any]:
    """The JSON schema of the outputs, by the return hint; a chat workflow returns messages."""
    if is_chat and (streams or returned in (Any, object)):
        return ANY_MESSAGES_SCHEMA
    if is_chat:
        several = any(item_of(one) is not None for one in alternatives(returned))
        return MESSAGES_SCHEMA if several else MESSAGE_SCHEMA
    if streams:
        piece = yielded_by(returned)
        if plain(piece) is str:
            return {"type": "string"}
        return {} if piece is Any else {"type": "array", "items": _schema_of(piece)}
    return _schema_of(returned)


def _schema_of(hint: Any) -> dict[str, Any]:
    if hint in (Any, object):
        return {}
    try:
        return TypeAdapter(hint).json_schema(mode="serialization")
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError):
        return {}  # outputs are dumped whatever their type


# What a schema says of chatting, where no flag does --------------------------------------------


def judged_by_schema(*schemas: tuple[str, Any]) -> Verdict:
    """Whether a workflow without the flag chats: by a mark in a schema of inputs, or its type.

    Each schema comes with its name. Workflows here and behind addresses are judged by this alone.
    """
    signs = {_takes_messages(as_dict(schema)): place for place, schema in reversed(schemas)}
    if place := signs.get("marked"):
        return True, f"the schema of {place}, which marks messages as a message history"
    if place := signs.get("shaped"):
        return True, f"the schema of {place}, which has a list of messages"
    return False, "default: there is no flag, and the inputs have no list of messages"


def properties_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The properties of an object, or of the first object among several possibilities."""
    for option in _options(schema):
        if found := as_dict(option.get("properties")):
            return {name: as_dict(one) for name, one in found.items()}
    return {}


def _takes_messages(inputs: dict[str, Any]) -> str | None:
    schema = properties_of(inputs).get(MESSAGES)
    if schema is None:
        return None
    if MESSAGES in (schema.get(TYPE_REF), schema.get("x-parameter")):
        return "marked"
    return "shaped" if any(map(_may_be_array, _options(schema))) else None


def _options(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for name in ("allOf", "anyOf", "oneOf"):
        for option in as_list(schema.get(name)):
            yield from _options(as_dict(option))


def _may_be_array(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    if kind is None:
        return not any(name in schema for name in ("allOf", "anyOf", "oneOf", "enum", "const"))
    return kind == "array" or "array" in as_list(kind)
