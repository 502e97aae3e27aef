"""JSON schemas of a workflow, from the type hints of its handler."""

from __future__ import annotations

from typing import Any

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from greenroom.workflows.calls import MESSAGES
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
MESSAGE_SCHEMA: dict[str, Any] = {"type": "object", TYPE_REF: "message"}
ANY_MESSAGES_SCHEMA: dict[str, Any] = {
    "anyOf": [MESSAGE_SCHEMA, MESSAGES_SCHEMA, {"type": "object", "required": [MESSAGES]}],
    TYPE_REF: "message",
}
"""What a handler without a hint, or a generator, may give; Agenta's tools read the root's mark."""


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
    required += [one.name for one in arguments.inputs if one.required]
    if properties:
        schema["properties"] = properties
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
