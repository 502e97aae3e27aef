"""The OpenAPI document of a server, made from the models of bodies and the workflows' schemas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
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
    paths: dict[str, Any] = {"/health": {"get": _health()}}
    components: dict[str, Schema] = dict(_shared_components())
    for one in mounted:
        schemas = BodySchemas(one.workflow)
        components |= schemas.components
        paths |= _paths(one, schemas)
    chat = [one for one in mounted if one.workflow.is_chat]
    paths["/v1/models"] = {"get": _models("")}
    for one in chat:
        if one.prefix:
            paths[f"{one.prefix}/v1/models"] = {"get": _models(one.prefix)}
            paths[f"{one.prefix}/v1/chat/completions"] = {"post": _completion(one)}
    if chat:
        root = chat[0] if len(chat) == 1 else None
        paths["/v1/chat/completions"] = {"post": _completion(root and Mounted(root.workflow, ""))}
    found: dict[str, Any] = {"paths": paths, "components": {"schemas": components}}
    if secured:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
    return found


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
            own |= {"inputs": self._variables, MESSAGES: _messages()}
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


def _messages() -> Schema:
    return {
        "type": "array",
        "items": _reference(Message),
        TYPE_REF: MESSAGES,
        "description": "The message history, oldest first.",
    }


def _without(key: str, schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name != key}


def _with_messages(inputs: Schema) -> Schema:
    properties = as_dict(inputs.get("properties"))
    if as_dict(properties.get(MESSAGES)).get(TYPE_REF) != MESSAGES:
        return inputs
    return inputs | {"properties": properties | {MESSAGES: _messages()}}


def _without_messages(inputs: Schema) -> Schema:
    properties = _without(MESSAGES, as_dict(inputs.get("properties")))
    required = [name for name in inputs.get("required", ()) if name != MESSAGES]
    rest = {k: v for k, v in inputs.items() if k not in ("properties", "required")}
    if properties:
        rest["properties"] = properties
    return rest | {"required": required} if required else rest


# Operations -------------------------------------------------------------------------------------


def _paths(mounted: Mounted, schemas: BodySchemas) -> dict[str, Any]:
    workflow, prefix = mounted.workflow, mounted.prefix
    about: dict[str, Any] = {"tags": [workflow.slug]}
    if workflow.flags:
        about["x-agenta"] = {"flags": dict(workflow.flags)}

    def inspect(name: str, body: Schema | None = None) -> dict[str, Any]:
        summary = f"What {workflow.name} is: flags, schemas, parameters."
        errors, answer = ("401", "403", "413", "422"), _reference(bodies.Inspection)
        return about | _operation(name, prefix, summary, answer, errors, body=body)

    def legacy(name: str) -> dict[str, Any]:
        return about | _operation(
            name,
            prefix,
            f"Call {workflow.name}, as Agenta's tools did up to 0.95.",
            schemas.legacy_answer(),
            _CALL_ERRORS,
            body=_body(schemas.legacy()),
            failure=_reference(bodies.LegacyFailedCall),
        )

    empty = _body({"type": "object"}) | {"required": False}
    return {
        f"{prefix}/inspect": {"get": inspect("get-inspect"), "post": inspect("inspect", empty)},
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
        ("406", *_CALL_ERRORS),
        body=_body({"anyOf": [schemas.envelope(), schemas.plain()]}),
        failure=_reference(bodies.FailedCall),
    )
    found["responses"]["200"]["content"] |= {
        _SSE: {"example": f"data: {_EVENT}\n\n"},
        "application/x-ndjson": {"example": f"{_EVENT}\n"},
    }
    header = {
        "name": "x-ag-messages-format",
        "in": "header",
        "required": False,
        "description": "`vercel` for the Vercel AI SDK's messages and stream.",
        "schema": {"type": "string", "enum": ["agenta", "vercel"]},
    }
    return found | {"description": workflow.description, "parameters": [header]}


def _completion(mounted: Mounted | None) -> dict[str, Any]:
    """A completion of one workflow, or of the one that the body names."""
    if mounted is None:
        own = {"model": {"type": "string"}, MESSAGES: _messages()}
        body = _filled(bodies.CompletionBody, own, required=["model", MESSAGES])
    else:
        body = BodySchemas(mounted.workflow).completion()
    found = _operation(
        "chat-completions",
        mounted.prefix if mounted else "",
        "Call a chat workflow as a model, as OpenAI's clients do.",
        _reference(bodies.ChatCompletion),
        ("401", "403"),
        body=_body(body),
    )
    error, answers = _reference(bodies.OpenAIError), found["responses"]
    answers["200"]["content"][_SSE] = {"example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n"}
    answers |= {status: _described(text, error) for status, text in _OPENAI_ERRORS.items()}
    return found


def _models(prefix: str) -> dict[str, Any]:
    answer = _reference(bodies.Models)
    return _operation("models", prefix, "The chat workflows, as models.", answer, ("401",))


def _health() -> dict[str, Any]:
    answer = _reference(bodies.Health)
    return _operation("health", "", "Whether the server runs.", answer) | {"security": []}


def _operation(
    name: str,
    prefix: str,
    summary: str,
    answer: Schema,
    errors: Iterable[str] = (),
    *,
    body: Schema | None = None,
    failure: Schema | None = None,
) -> dict[str, Any]:
    responses = {"200": _described("The answer.", answer)} | {one: _ERRORS[one] for one in errors}
    if failure is not None:
        responses["500"] = _described("The workflow failed.", failure)
    found = {
        "operationId": f"{name}{prefix.replace('/', '-')}",
        "summary": summary,
        "responses": responses,
    }
    return found if body is None else found | {"requestBody": body}


def _body(schema: Schema) -> Schema:
    return {"required": True, "content": {_JSON: {"schema": schema}}}


def _described(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {_JSON: {"schema": schema}}}


_CALL_ERRORS = ("401", "403", "413", "422", "503")
_ERRORS: dict[str, dict[str, Any]] = {
    "401": _described("The token is missing or wrong.", _reference(bodies.RefusedRequest)),
    "403": _described("Pages of this origin may not call.", _reference(bodies.RefusedRequest)),
    "406": _described("No form of the answer is acceptable.", _reference(bodies.NotAcceptable)),
    "413": _described("The body is too large.", _reference(bodies.RefusedRequest)),
    "422": _described("The body is not valid.", _reference(bodies.BodyProblems)),
    "503": _described("Too many calls are running.", _reference(bodies.RefusedRequest)),
}
_OPENAI_ERRORS = {
    "400": "The body is not valid.",
    "404": "There is no such model.",
    "413": "The body is too large.",
    "500": "The workflow failed.",
    "503": "Too many calls are running.",
}
