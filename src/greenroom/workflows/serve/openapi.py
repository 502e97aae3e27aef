"""The OpenAPI document of a server, made from the models of bodies and the workflows' schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve import bodies
from greenroom.workflows.serve.body_schemas import (
    BodySchemas,
    Schema,
    any_completion,
    any_response,
    reference,
    shared_components,
)

_JSON = "application/json"
_SSE = "text/event-stream"
# A schema cannot describe a stream, so there are examples.
_EVENT = '{"type":"message_delta","data":{"id":"msg-1","delta":"Hel"}}'
_CHUNK = '{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}'
_RESPONSE_EVENT = (
    "event: response.output_text.delta\n"
    'data: {"type":"response.output_text.delta","sequence_number":4,"delta":"Hel"}\n\n'
)


@dataclass(frozen=True)
class Mounted:
    """A workflow and the path that its routes begin with; empty for the root."""

    workflow: Workflow
    prefix: str


def document(mounted: Sequence[Mounted], *, secured: bool) -> dict[str, Any]:
    """Paths and components."""
    schemas = {one.workflow: BodySchemas(one.workflow) for one in mounted}
    health = _operation("health", "", "Whether the server runs.", reference(bodies.Health))
    metrics = _operation("metrics", "", "Counters, for Prometheus.", {}, _NOT_ALLOWED)
    metrics["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    overview = reference(bodies.Overview)
    front = _operation(
        "overview", "", "What is served, and how to call it.", overview, _NOT_ALLOWED
    )
    front["responses"]["200"]["content"]["text/html"] = {"schema": {"type": "string"}}
    paths: dict[str, Any] = {
        "/": {"get": front},
        "/health": {"get": health | {"security": []}},
        "/metrics": {"get": metrics},
    }
    for one in mounted:
        paths |= _agenta_paths(one, schemas[one.workflow])
        if one.prefix and one.workflow.is_chat:
            own = schemas[one.workflow]
            paths |= _openai_paths(one.prefix, own.completion(), own.response())
    chat = [one for workflow, one in schemas.items() if workflow.is_chat]
    if len(chat) == 1:
        paths |= _openai_paths("", chat[0].completion(), chat[0].response())
    else:
        paths |= _openai_paths("", any_completion(), any_response())
    if not chat:
        for one in ("chat/completions", "responses", "responses/{id}"):
            del paths[f"/v1/{one}"]
    components: dict[str, Any] = {"schemas": dict(shared_components())}
    for one in schemas.values():
        components["schemas"] |= one.components
    if not secured:
        return {"paths": paths, "components": components}
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {"paths": paths, "components": components, "security": [{"token": []}]}


# Operations -------------------------------------------------------------------------------------


_STATUSES = {
    "400": "The body is not valid.",
    "401": "The token is missing or wrong.",
    "403": "Pages of this origin may not call.",
    "404": "There is no such model or response.",
    "406": "No form of the answer is acceptable.",
    "413": "The body is too large.",
    "422": "The body is not valid.",
    "500": "The workflow failed.",
    "503": "Too many calls are running.",
    "504": "The workflow took too long.",
}
_NOT_ALLOWED: dict[str, Any] = dict.fromkeys(("401", "403"), bodies.RefusedRequest)
_BODY_ERRORS = _NOT_ALLOWED | {"413": bodies.RefusedRequest, "422": bodies.BodyProblems}
_CALL_ERRORS = _BODY_ERRORS | {"503": bodies.RefusedRequest}
_FAILED = ("500", "504")
_OPENAI_ERRORS = _NOT_ALLOWED | dict.fromkeys(
    ("400", "404", "413", "500", "503", "504"), bodies.OpenAIError
)


def _agenta_paths(mounted: Mounted, schemas: BodySchemas) -> dict[str, Any]:
    workflow, prefix = mounted.workflow, mounted.prefix
    about: dict[str, Any] = {"tags": [workflow.slug]}
    if workflow.flags:
        about["x-agenta"] = {"flags": dict(workflow.flags)}

    def inspect(name: str) -> dict[str, Any]:
        summary = f"What {workflow.name} is: flags, schemas, parameters."
        return about | _operation(name, prefix, summary, reference(bodies.Inspection), _BODY_ERRORS)

    def legacy(name: str) -> dict[str, Any]:
        summary = f"Call {workflow.name}, as Agenta's tools did up to 0.95."
        errors, body = (
            _CALL_ERRORS | dict.fromkeys(_FAILED, bodies.LegacyFailedCall),
            schemas.legacy(),
        )
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
        _CALL_ERRORS | {"406": bodies.NotAcceptable} | dict.fromkeys(_FAILED, bodies.FailedCall),
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


def _openai_paths(prefix: str, body: Schema, response_body: Schema) -> dict[str, Any]:
    listed, completion = reference(bodies.Models), reference(bodies.ChatCompletion)
    summary = "Call a chat workflow as a model, as OpenAI's clients do."
    complete = _operation("chat-completions", prefix, summary, completion, _OPENAI_ERRORS, body)
    example = {"example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n"}
    complete["responses"]["200"]["content"][_SSE] = example
    summary = "Call a chat workflow as a model of OpenAI's Responses API."
    response = reference(bodies.Response)
    respond = _operation("responses", prefix, summary, response, _OPENAI_ERRORS, response_body)
    respond["responses"]["200"]["content"][_SSE] = {"example": _RESPONSE_EVENT}
    model = reference(bodies.OpenAIModel)
    missing = _NOT_ALLOWED | {"404": bodies.OpenAIError}
    one = _operation("model", prefix, "One of them.", model, missing)
    name: Schema = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    one["parameters"] = [name]
    again = _operation("response", prefix, "A stored response.", response, missing)
    deleted = _operation(
        "delete-response", prefix, "Delete it.", reference(bodies.DeletedResponse), missing
    )
    again["parameters"] = deleted["parameters"] = [name | {"name": "id"}]
    summary, errors = "The chat workflows, as models.", _NOT_ALLOWED
    return {
        f"{prefix}/v1/models": {"get": _operation("models", prefix, summary, listed, errors)},
        f"{prefix}/v1/models/{{name}}": {"get": one},
        f"{prefix}/v1/chat/completions": {"post": complete},
        f"{prefix}/v1/responses": {"post": respond},
        f"{prefix}/v1/responses/{{id}}": {"get": again, "delete": deleted},
    }


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
        responses[status] = _content(reference(model), description=_STATUSES[status])
    identity = f"{name}{prefix.replace('/', '-')}"
    found = {"operationId": identity, "summary": summary, "responses": responses}
    return found if body is None else found | {"requestBody": _content(body, required=True)}


def _content(schema: Schema, **about: Any) -> dict[str, Any]:
    return {**about, "content": {_JSON: {"schema": schema}}}
