"""The OpenAPI document of a server, made from the models of bodies and the workflows' schemas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
_SHARED: tuple[Any, ...] = (
    Message,
    bodies.BodyProblems,
    bodies.ChatCompletion,
    bodies.FailedCall,
    bodies.Flags,
    bodies.Health,
    bodies.Inspection,
    bodies.LegacyFailedCall,
    bodies.Models,
    bodies.NotAcceptable,
    bodies.OpenAIError,
    bodies.OpenAIModel,
    bodies.RefusedRequest,
)
_JSON = "application/json"
_SSE = "text/event-stream"
# A schema cannot describe a stream, so there are examples.
_EVENT = '{"type":"message_delta","data":{"id":"msg-1","delta":"Hel"}}'
_CHUNK = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}'
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class Mounted:
    """A workflow and the path that its routes begin with; empty for the root."""

    workflow: Workflow
    prefix: str


def document(mounted: Sequence[Mounted], *, secured: bool) -> dict[str, Any]:
    """Paths and components."""
    schemas = {one.workflow: BodySchemas(one.workflow) for one in mounted}
    health = _operation("health", "", "Whether the server runs.", _reference(bodies.Health))
    paths: dict[str, Any] = {"/health": {"get": health | {"security": []}}}
    for one in mounted:
        paths |= _agenta_paths(one, schemas[one.workflow])
        if one.prefix and one.workflow.is_chat:
            paths |= _openai_paths(one.prefix, schemas[one.workflow].completion())
    bodies_of_chat = [one.completion() for workflow, one in schemas.items() if workflow.is_chat]
    paths |= _openai_paths("", bodies_of_chat[0] if len(bodies_of_chat) == 1 else _any_completion())
    if not bodies_of_chat:
        del paths["/v1/chat/completions"]
    components: dict[str, Any] = {"schemas": dict(_shared_components())}
    for one in schemas.values():
        components["schemas"] |= one.components
    if not secured:
        return {"paths": paths, "components": components}
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {"paths": paths, "components": components, "security": [{"token": []}]}


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
        return self._at_root(bodies.CompletionBody, {"model": {"type": "string"}}, ["model"])

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
def _shared_components() -> dict[str, Schema]:
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


def _reference(model: Any) -> Schema:
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
        "items": _reference(Message),
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


# Operations -------------------------------------------------------------------------------------


_STATUSES = {
    "400": "The body is not valid.",
    "401": "The token is missing or wrong.",
    "403": "Pages of this origin may not call.",
    "404": "There is no such model.",
    "406": "No form of the answer is acceptable.",
    "413": "The body is too large.",
    "422": "The body is not valid.",
    "500": "The workflow failed.",
    "503": "Too many calls are running.",
}
_NOT_ALLOWED: dict[str, Any] = dict.fromkeys(("401", "403"), bodies.RefusedRequest)
_BODY_ERRORS = _NOT_ALLOWED | {"413": bodies.RefusedRequest, "422": bodies.BodyProblems}
_CALL_ERRORS = _BODY_ERRORS | {"503": bodies.RefusedRequest}
_OPENAI_ERRORS = _NOT_ALLOWED | dict.fromkeys(
    ("400", "404", "413", "500", "503"), bodies.OpenAIError
)


def _agenta_paths(mounted: Mounted, schemas: BodySchemas) -> dict[str, Any]:
    workflow, prefix = mounted.workflow, mounted.prefix
    about: dict[str, Any] = {"tags": [workflow.slug]}
    if workflow.flags:
        about["x-agenta"] = {"flags": dict(workflow.flags)}

    def inspect(name: str) -> dict[str, Any]:
        summary = f"What {workflow.name} is: flags, schemas, parameters."
        return about | _operation(
            name, prefix, summary, _reference(bodies.Inspection), _BODY_ERRORS
        )

    def legacy(name: str) -> dict[str, Any]:
        summary = f"Call {workflow.name}, as Agenta's tools did up to 0.95."
        errors, body = _CALL_ERRORS | {"500": bodies.LegacyFailedCall}, schemas.legacy()
        return about | _operation(name, prefix, summary, schemas.legacy_answer(), errors, body)

    ignored = {"requestBody": _content({"type": "object"}, required=False)}
    return {
        f"{prefix}/inspect": {"get": inspect("get-inspect"), "post": inspect("inspect") | ignored},
        f"{prefix}/invoke": {"post": about | _invoke(workflow, prefix, schemas)},
        f"{prefix}/run": {"post": legacy("run")},
        f"{prefix}/test": {"post": legacy("test")},
    }


def _invoke(workflow: Workflow, prefix: str, schemas: BodySchemas) -> dict[str, Any]:
    found = _operation(
        "invoke",
        prefix,
        f"Call {workflow.name}.",
        {"anyOf": [schemas.answer(), schemas.outputs]},
        _CALL_ERRORS | {"406": bodies.NotAcceptable, "500": bodies.FailedCall},
        {"anyOf": [schemas.envelope(), schemas.plain()]},
    )
    found["responses"]["200"]["content"] |= {
        _SSE: {"example": f"data: {_EVENT}\n\n"},
        "application/x-ndjson": {"example": f"{_EVENT}\n"},
    }
    for status, response in found["responses"].items():
        if status != "200":  # clients of the Vercel AI SDK get the reason alone
            response["content"]["text/plain"] = {"schema": {"type": "string"}}
    header = {
        "name": "x-ag-messages-format",
        "in": "header",
        "required": False,
        "description": "`vercel` for the Vercel AI SDK's messages and stream.",
        "schema": {"type": "string", "enum": ["agenta", "vercel"]},
    }
    return found | {"description": workflow.description, "parameters": [header]}


def _openai_paths(prefix: str, body: Schema) -> dict[str, Any]:
    listed, completion = _reference(bodies.Models), _reference(bodies.ChatCompletion)
    summary = "Call a chat workflow as a model, as OpenAI's clients do."
    complete = _operation("chat-completions", prefix, summary, completion, _OPENAI_ERRORS, body)
    example = {"example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n"}
    complete["responses"]["200"]["content"][_SSE] = example
    model = _reference(bodies.OpenAIModel)
    missing = _NOT_ALLOWED | {"404": bodies.OpenAIError}
    one = _operation("model", prefix, "One of them.", model, missing)
    name: Schema = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    one["parameters"] = [name]
    summary, errors = "The chat workflows, as models.", _NOT_ALLOWED
    return {
        f"{prefix}/v1/models": {"get": _operation("models", prefix, summary, listed, errors)},
        f"{prefix}/v1/models/{{name}}": {"get": one},
        f"{prefix}/v1/chat/completions": {"post": complete},
    }


def _any_completion() -> Schema:
    """The body of a completion of the chat workflow that it names."""
    own = {"model": {"type": "string"}, MESSAGES: _messages()}
    return _filled(bodies.CompletionBody, own, required=["model", MESSAGES])


def _operation(
    name: str,
    prefix: str,
    summary: str,
    answer: Schema,
    errors: Mapping[str, Any] | None = None,
    body: Schema | None = None,
) -> dict[str, Any]:
    responses = {"200": _content(answer, description="The answer.")}
    for status, model in (errors or {}).items():
        responses[status] = _content(_reference(model), description=_STATUSES[status])
    identity = f"{name}{prefix.replace('/', '-')}"
    found = {"operationId": identity, "summary": summary, "responses": responses}
    return found if body is None else found | {"requestBody": _content(body, required=True)}


def _content(schema: Schema, **about: Any) -> dict[str, Any]:
    return {**about, "content": {_JSON: {"schema": schema}}}
