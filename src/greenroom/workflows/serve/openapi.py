"""The OpenAPI document of a server: its operations, and what their bodies and answers are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.openapi_schemas import SHARED, BodySchemas, Schema, reference

_JSON = "application/json"
_SSE = "text/event-stream"
# A schema cannot say what a stream is made of: an example can.
_EVENT = '{"type":"message_delta","data":{"id":"msg-1","delta":"Hel"}}'
_CHUNK = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}'
_TEXT: Schema = {"type": "string"}


@dataclass(frozen=True)
class Mounted:
    """A workflow and the path that its routes begin with; nothing at the root."""

    workflow: Workflow
    prefix: str


def document(mounted: Sequence[Mounted], *, secured: bool) -> dict[str, Any]:
    """Paths and components."""
    paths: dict[str, Any] = {"/health": {"get": _health()}}
    components: dict[str, Schema] = dict(SHARED)
    for one in mounted:
        bodies = BodySchemas(one.workflow)
        components |= bodies.components
        paths |= _paths(one, bodies)
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


def _paths(mounted: Mounted, bodies: BodySchemas) -> dict[str, Any]:
    workflow, prefix = mounted.workflow, mounted.prefix
    extension: dict[str, Any] = {"flags": dict(workflow.flags)} if workflow.flags else {}
    about: dict[str, Any] = {"tags": [workflow.slug]}
    if extension:
        about["x-agenta"] = extension
    inspect = about | {
        "summary": f"What {workflow.name} is: flags, schemas, parameters.",
        "responses": _responses(reference("Inspection"), "401", "403", "413", "422"),
    }
    old = about | {
        "requestBody": _body(bodies.old()),
        "responses": _responses(
            bodies.old_answer(), "401", "403", "413", "422", "503", failure=_failure_of_old()
        ),
    }
    return {
        f"{prefix}/inspect": {
            "get": inspect | {"operationId": _id("get-inspect", prefix)},
            "post": inspect
            | {
                "operationId": _id("inspect", prefix),
                "requestBody": _body({"type": "object"}, required=False),
            },
        },
        f"{prefix}/invoke": {"post": about | _invoke(workflow, prefix, bodies)},
        **{
            f"{prefix}/{name}": {
                "post": old
                | {
                    "operationId": _id(name, prefix),
                    "summary": f"Call {workflow.name}, as Agenta's tools did up to 0.95.",
                }
            }
            for name in ("run", "test")
        },
    }


def _invoke(workflow: Workflow, prefix: str, bodies: BodySchemas) -> dict[str, Any]:
    answers = _responses(
        {"anyOf": [bodies.answer(), bodies.outputs]},
        *("401", "403", "406", "413", "422", "503"),
        failure=reference("Failure"),
    )
    answers["200"]["content"] |= {
        _SSE: {"example": f"data: {_EVENT}\n\n"},
        "application/x-ndjson": {"example": f"{_EVENT}\n"},
    }
    return {
        "operationId": _id("invoke", prefix),
        "summary": f"Call {workflow.name}.",
        "description": workflow.description,
        "parameters": [
            {
                "name": "x-ag-messages-format",
                "in": "header",
                "required": False,
                "description": "`vercel` for the Vercel AI SDK's messages and stream.",
                "schema": {"type": "string", "enum": ["agenta", "vercel"]},
            }
        ],
        "requestBody": _body({"anyOf": [bodies.envelope(), bodies.plain()]}),
        "responses": answers,
    }


def _completion(mounted: Mounted | None) -> dict[str, Any]:
    if mounted is None:
        body: Schema = {
            "type": "object",
            "required": ["model", "messages"],
            "properties": {
                "model": _TEXT,
                "messages": {"type": "array", "items": reference("Message")},
                "stream": {"type": "boolean"},
            },
        }
    else:
        body = BodySchemas(mounted.workflow).completion()
    answers = _responses(reference("ChatCompletion"))
    answers["200"]["content"][_SSE] = {"example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n"}
    answers |= {
        status: {"description": words, "content": {_JSON: {"schema": reference("OpenAIError")}}}
        for status, words in _OPENAI_ERRORS.items()
    }
    answers |= {status: _ERRORS[status] for status in ("401", "403")}
    return {
        "operationId": _id("chat-completions", mounted.prefix if mounted else ""),
        "summary": "Call a chat workflow as a model, as OpenAI's clients do.",
        "requestBody": _body(body),
        "responses": answers,
    }


def _models(prefix: str) -> dict[str, Any]:
    return {
        "operationId": _id("models", prefix),
        "summary": "The chat workflows, as models.",
        "responses": _responses(reference("Models"), "401"),
    }


def _health() -> dict[str, Any]:
    schema = {"type": "object", "properties": {"status": {"const": "ok"}}}
    return {
        "operationId": "health",
        "summary": "Whether the server runs.",
        "security": [],
        "responses": _responses(schema),
    }


def _failure_of_old() -> Schema:
    told = {"type": "object", "properties": {"message": _TEXT, "type": _TEXT}}
    return {"type": "object", "required": ["detail"], "properties": {"detail": told}}


def _body(schema: Schema, *, required: bool = True) -> dict[str, Any]:
    return {"required": required, "content": {_JSON: {"schema": schema}}}


def _responses(schema: Schema, *errors: str, failure: Schema | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "200": {"description": "The answer.", "content": {_JSON: {"schema": schema}}}
    }
    found |= {status: _ERRORS[status] for status in errors}
    if failure is not None:
        found["500"] = _error("The workflow failed.", failure)
    return found


def _error(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {_JSON: {"schema": schema}}}


def _id(name: str, prefix: str) -> str:
    return f"{name}{prefix.replace('/', '-')}"


_ERRORS: dict[str, dict[str, Any]] = {
    "401": _error("The token is missing or wrong.", reference("Refusal")),
    "403": _error("A page of another origin may not call.", reference("Refusal")),
    "406": _error("There is no answer in an accepted form.", reference("NotAcceptable")),
    "413": _error("The body is too large.", reference("Refusal")),
    "422": _error("The body is not what it should be.", reference("Problems")),
    "503": _error("Too many calls run already.", reference("Refusal")),
}
_OPENAI_ERRORS = {
    "400": "The body is not what it should be.",
    "404": "There is no such model.",
    "413": "The body is too large.",
    "500": "The workflow failed.",
    "503": "Too many calls run already.",
}

__all__ = ["Mounted", "document"]
