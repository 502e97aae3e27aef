"""Agenta's routes: `/inspect` tells what a workflow is, `/invoke` calls it.

`/run` and `/test` are those up to SDK 0.95.
"""

from __future__ import annotations

from dataclasses import replace

from greenroom.workflows.calls import Answer, CallError, InvalidCall
from greenroom.workflows.serve import bodies
from greenroom.workflows.serve.event_stream import EventWriter
from greenroom.workflows.serve.exchange import JSON, Exchange, Refusal, as_text, invalid_body
from greenroom.workflows.serve.headers import (
    WIRE_VERSION,
    CallIds,
    call_ids,
    wanted_format,
    wants_vercel,
)
from greenroom.workflows.serve.runner import CallRunner, error_status, error_text
from greenroom.workflows.serve.vercel import (
    VERCEL_HEADERS,
    VercelWriter,
    continued_id,
    has_ui_messages,
    with_plain_messages,
)
from greenroom.workflows.usage import agenta_usage

LEGACY_VERSION = "3.0"
"""The version in the answers of `/run` and `/test`."""


async def inspect(runner: CallRunner, exchange: Exchange) -> None:
    """`/inspect`: tell what the workflow is; a revision in the body is ignored.

    Flags are where Agenta's RFC and where its SDK have them.
    """
    if exchange.method == "POST":
        await exchange.json(runner.max_body)
    workflow, schemas = runner.workflow, runner.workflow.schemas
    request: bodies.Json = {"version": WIRE_VERSION, "data": {"revision": {}}}
    answer: bodies.Inspection = {
        "version": WIRE_VERSION,
        "revision": {
            "name": workflow.name,
            "slug": workflow.slug,
            "description": workflow.description,
            "data": {
                "uri": workflow.uri,
                "schemas": {
                    "parameters": schemas.parameters or {},
                    "inputs": schemas.inputs or {},
                    "outputs": schemas.outputs or {},
                },
                "parameters": workflow.configuration.defaults,
            },
        },
        "request": request,
    }
    if workflow.flags:
        answer["flags"] = request["flags"] = dict(workflow.flags)
    await exchange.answer(200, answer, [(b"x-ag-version", WIRE_VERSION.encode())])


async def invoke(runner: CallRunner, exchange: Exchange) -> None:
    """`/invoke`: call the workflow."""
    vercel = wants_vercel(exchange)
    try:
        body = bodies.read_invocation(await exchange.json(runner.max_body))
        if vercel is None:
            vercel = has_ui_messages(body.history)
        await _invoke(runner, exchange, body, vercel=vercel)
    except Refusal as refusal:
        raise as_text(refusal) if vercel and not _names_json(exchange) else refusal from refusal


async def _invoke(
    runner: CallRunner, exchange: Exchange, body: bodies.Invocation, *, vercel: bool
) -> None:
    wanted = wanted_format(exchange, stream=bodies.wants_stream(body))
    ids = call_ids(exchange, body.session_id or (body.chat_id if vercel else None))
    call = body.call(ids)
    message_id = None
    if vercel:
        message_id = continued_id(body.history)
        call = replace(call, inputs=with_plain_messages(call.inputs))
        # The AI SDK expects a stream and sends no Accept header: JSON is asked for by name.
        wanted = "json" if wanted == "json" and _names_json(exchange) else "sse"
    try:
        if wanted == "json":
            answer = await runner.answer(exchange, call)
            is_plain = isinstance(body, bodies.PlainBody)
            await exchange.answer(
                200, answer.outputs if is_plain else _envelope(answer, ids), ids.headers
            )
        elif vercel:
            headers = [*ids.headers, *VERCEL_HEADERS]
            await runner.stream(exchange, call, VercelWriter(ids, message_id), headers)
        else:
            await runner.stream(exchange, call, EventWriter(ids, wanted), ids.headers)
    except InvalidCall as error:
        raise invalid_body(error.problems, body.place) from error
    except CallError as error:
        raise _failed(error, ids) from error


def _names_json(exchange: Exchange) -> bool:
    return JSON in (exchange.header(b"accept") or b"")


async def run(runner: CallRunner, exchange: Exchange) -> None:
    """`/run` and `/test`, which differ only in Agenta's own servers: call the workflow."""
    body = bodies.read_body(bodies.LegacyBody, await exchange.json(runner.max_body))
    ids = call_ids(exchange, body.session_id)
    try:
        answer = await runner.answer(exchange, body.call(ids))
    except InvalidCall as error:
        raise invalid_body(error.problems) from error
    except CallError as error:
        failed: bodies.LegacyFailedCall = {
            "detail": {"message": error_text(error), "type": error.kind}
        }
        raise Refusal(error_status(error), failed, ids.headers) from error
    is_text = isinstance(answer.outputs, str)
    told: bodies.LegacyAnswer = {
        "version": LEGACY_VERSION,
        "data": answer.outputs,
        "content_type": "text/plain" if is_text else "application/json",
        "trace_id": ids.trace_id,
        "span_id": ids.span_id,
    }
    if usage := agenta_usage(answer):
        told["usage"] = usage
    await exchange.answer(200, told, ids.headers)


def _ids(ids: CallIds) -> bodies.AnswerIds:
    return {
        "session_id": ids.session_id,
        "span_id": ids.span_id,
        "trace_id": ids.trace_id,
        "version": WIRE_VERSION,
    }


def _envelope(answer: Answer, ids: CallIds) -> bodies.AnswerEnvelope:
    envelope: bodies.AnswerEnvelope = {
        **_ids(ids),
        "status": {"code": 200, "message": "Success"},
        "data": {"outputs": answer.outputs},
    }
    if answer.tool_calls:
        envelope["data"]["tool_calls"] = answer.tool_calls
    if usage := agenta_usage(answer):
        envelope["usage"] = usage
    return envelope


def _failed(error: CallError, ids: CallIds) -> Refusal:
    status = error_status(error)
    told: bodies.Status = {"code": status, "message": error_text(error), "type": error.kind}
    body: bodies.FailedCall = {**_ids(ids), "status": told}
    return Refusal(status, body, ids.headers)
