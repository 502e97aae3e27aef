"""The JSON schemas of bodies, made from their models and the workflows' schemas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from greenroom.messages import Message
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.calls import MESSAGES
from greenroom.workflows.declare.schemas import TYPE_REF
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve import bodies

Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_LOCAL = "#/$defs/"
_OPTIONS_OF_STREAMS: Schema = {
    "anyOf": [
        {"properties": {"stream": {"const": True}}, "required": ["stream"]},
        {"properties": {"stream_options": {"type": "null"}}},
    ]
}
"""There are none for a whole answer."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_SHARED: tuple[Any, ...] = (
    Message,
    bodies.BodyProblems,
    bodies.ChatCompletion,
    bodies.DeletedResponse,
    bodies.FailedCall,
    bodies.Flags,
    bodies.Health,
    bodies.Inspection,
    bodies.LegacyFailedCall,
    bodies.Models,
    bodies.NotAcceptable,
    bodies.OpenAIError,
    bodies.OpenAIModel,
    bodies.Overview,
    bodies.RefusedRequest,
    bodies.Response,
    bodies.StreamOptions,
)


class BodySchemas:
    """The schemas of one workflow's bodies; `components` are those that they refer to."""

    def __init__(self, workflow: Workflow) -> None:
        self.components: dict[str, Schema] = {}
        self._prefix = _UNSAFE.sub("-", workflow.slug)
        self._is_chat = workflow.is_chat
        inputs = self._hoisted(workflow.schemas.inputs or {"type": "object"})
        variables = _without_messages(inputs)
        # A call gives only the parameters that it changes, so none is required.
        parameters = _without("required", self._hoisted(workflow.schemas.parameters or {}))
        parameters = {"type": "object"} | parameters
        self._parameters = {"anyOf": [self._named("parameters", parameters), {"type": "null"}]}
        self._inputs = self._named("inputs", _with_messages(inputs))
        self._variables = self._named("variables", variables)
        self._needs_inputs = bool(inputs.get("required"))
        self._needed = [MESSAGES] if MESSAGES in inputs.get("required", ()) else []
        self._needed += ["inputs"] if variables.get("required") else []
        self.outputs = self._named("outputs", self._hoisted(workflow.schemas.outputs or {}))

    def envelope(self) -> Schema:
        """Agenta's envelope around a call."""
        data = _filled(
            bodies.CallData,
            {"inputs": self._inputs, "parameters": self._parameters},
            without=(MESSAGES,),
            required=["inputs"] if self._needs_inputs else [],
        )
        return _filled(bodies.Envelope, {"data": data}, required=["data"])

    def plain(self) -> Schema:
        """A call without an envelope."""
        keys = [MESSAGES, "inputs", "parameters"] if self._is_chat else ["inputs", "parameters"]
        return self._at_root(bodies.PlainBody) | {
            "anyOf": [{"required": [key]} for key in keys],
            "not": {"required": ["data"]},
        }

    def legacy(self) -> Schema:
        """A call of `/run` or `/test`."""
        return self._at_root(bodies.LegacyBody, {"ag_config": self._parameters})

    def completion(self) -> Schema:
        """A call of OpenAI's route."""
        body = self._at_root(bodies.CompletionBody, {"model": {"type": "string"}}, ["model"])
        return body | _OPTIONS_OF_STREAMS

    def response(self) -> Schema:
        """A call of OpenAI's Responses API."""
        own = {"inputs": self._variables, "parameters": self._parameters} | _response_fields()
        needed = [one for one in self._needed if one != MESSAGES]
        return _filled(bodies.ResponsesBody, own, required=["model", "input", *needed])

    def answer(self) -> Schema:
        """Agenta's envelope around an answer."""
        data = _filled(bodies.AnswerData, {"outputs": self.outputs})
        return _filled(bodies.AnswerEnvelope, {"data": data})

    def legacy_answer(self) -> Schema:
        """An answer of `/run` or `/test`."""
        return _filled(bodies.LegacyAnswer, {"data": self.outputs})

    def _at_root(
        self, model: Any, properties: Schema | None = None, required: Iterable[str] = ()
    ) -> Schema:
        """The schema of a body that has the inputs at its root."""
        own: Schema = {"parameters": self._parameters, "inputs": self._inputs}
        if self._is_chat:
            needs = MESSAGES in self._needed
            own |= {"inputs": self._variables, MESSAGES: _messages(needed=needs)}
        needed = [one for one in self._needed if self._is_chat or one != MESSAGES]
        return _filled(
            model,
            own | (properties or {}),
            without=() if self._is_chat else (MESSAGES,),
            required=[*required, *needed],
        )

    def _named(self, name: str, schema: Schema) -> Schema:
        key = f"{self._prefix}.{name}"
        self.components[key] = schema
        return {"$ref": f"{_REFERENCE}{key}"}

    def _hoisted(self, schema: Schema) -> Schema:
        """The schema with its definitions moved to the document's components."""
        for name, definition in as_dict(schema.get("$defs")).items():
            self.components[self._key(name)] = self._moved(definition)
        return self._moved(_without("$defs", schema))

    def _moved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._moved(item) for item in as_list(value)]
        if not isinstance(value, dict):
            return value
        fields = as_dict(value)
        target = fields.get("$ref")
        if isinstance(target, str) and target.startswith(_LOCAL):
            return fields | {"$ref": f"{_REFERENCE}{self._key(target.removeprefix(_LOCAL))}"}
        return {key: self._moved(item) for key, item in fields.items()}

    def _key(self, definition: str) -> str:
        return f"{self._prefix}.{_UNSAFE.sub('-', definition)}"


# Schemas from models ----------------------------------------------------------------------------


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@cache
def shared_components() -> dict[str, Schema]:
    """The schemas of bodies that are the same for all workflows."""
    _, found = TypeAdapter.json_schemas(
        [(one, "validation", TypeAdapter(one)) for one in _SHARED],
        ref_template=f"{_REFERENCE}{{model}}",
        schema_generator=_WithoutTitles,
    )
    return found["$defs"]


@cache
def _schema(model: Any) -> Schema:
    schema = TypeAdapter(model).json_schema(
        ref_template=f"{_REFERENCE}{{model}}", schema_generator=_WithoutTitles
    )
    return _without("$defs", schema)


def reference(model: Any) -> Schema:
    """A reference to one of them."""
    assert model in _SHARED, model
    return {"$ref": f"{_REFERENCE}{model.__name__}"}


def _filled(
    model: Any,
    properties: Schema,
    *,
    without: Collection[str] = (),
    required: list[str] | None = None,
) -> Schema:
    """The schema of a model, with a workflow's own schemas for some of its properties."""
    schema = _schema(model)
    kept = {name: one for name, one in schema["properties"].items() if name not in without}
    filled = schema | {"properties": kept | properties}
    if required is None:
        return filled
    return filled | {"required": required} if required else _without("required", filled)


def _messages(*, needed: bool = True) -> Schema:
    return {
        "type": "array",
        "items": reference(Message),
        TYPE_REF: MESSAGES,
        **({"minItems": 1} if needed else {}),
        "description": "The message history, oldest first.",
    }


def _without(key: str, schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != key}


def _with_messages(inputs: Schema) -> Schema:
    properties = as_dict(inputs.get("properties"))
    if as_dict(properties.get(MESSAGES)).get(TYPE_REF) != MESSAGES:
        return inputs
    messages = _messages(needed=MESSAGES in inputs.get("required", ()))
    return inputs | {"properties": properties | {MESSAGES: messages}}


def _without_messages(inputs: Schema) -> Schema:
    properties = _without(MESSAGES, as_dict(inputs.get("properties")))
    required = [name for name in inputs.get("required", ()) if name != MESSAGES]
    rest = inputs | {"properties": properties, "required": required}
    return {name: value for name, value in rest.items() if value not in ({}, [])}


# Bodies of OpenAI's routes ----------------------------------------------------------------------


def any_completion() -> Schema:
    """The body of a completion of the chat workflow that it names."""
    own = {"model": {"type": "string"}, MESSAGES: _messages()}
    return _filled(bodies.CompletionBody, own, required=["model", MESSAGES]) | _OPTIONS_OF_STREAMS


def any_response() -> Schema:
    """The body of a response of the chat workflow that it names."""
    return _filled(bodies.ResponsesBody, _response_fields(), required=["model", "input"])


def _response_fields() -> Schema:
    """What a request of the Responses API may hold, in the forms that are understood here."""
    text: Schema = {"type": "string"}
    parts = {"type": "array", "items": _object(type={"const": "input_text"}, text=text)}
    content = {"anyOf": [text, parts]}
    role = {"enum": ["user", "assistant", "system", "developer"]}
    items = [
        _object(role=role, content=content),
        _object(type={"const": "function_call"}, call_id=text, name=text, arguments=text),
        _object(type={"const": "function_call_output"}, call_id=text, output=content),
    ]
    said = {"type": "array", "minItems": 1, "items": {"anyOf": items}}
    tool = _object(type={"const": "function"}, name=text)
    tool["properties"]["parameters"] = {"type": "object"}
    return {
        "model": text,
        "input": {"anyOf": [text, said]},
        "tools": _or_null({"type": "array", "items": tool}),
        "tool_choice": {"enum": ["auto", "none", None]},
        "text": _or_null({"type": "object", "maxProperties": 0}),
        "max_output_tokens": _or_null({"type": "integer", "minimum": 1, "maximum": 2**53}),
        "reasoning": _or_null({"type": "object", "properties": {"effort": text}}),
        "include": _or_null({"type": "array", "items": text}),
        "truncation": {"enum": ["auto", "disabled", None]},
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
