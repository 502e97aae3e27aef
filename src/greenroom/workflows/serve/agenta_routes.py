"""Agenta's routes: `/inspect` tells what a workflow is, `/invoke` calls it.

`/run` and `/test` are those up to SDK 0.95.
"""

from __future__ import annotations

from dataclasses import replace

from greenroom.workflows.calls import Answer, CallError, InvalidCall
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.bodies import (
    AnswerEnvelope,
    AnswerIds,
    CallRequest,
    Failure,
    Inspection,
    Json,
    LegacyAnswer,
    LegacyBody,
    LegacyFailure,
    Status,
    read_body,
    read_invocation,
)
from greenroom.workflows.serve.event_stream import EventWriter
from greenroom.workflows.serve.exchange import JSON, Exchange, Refusal
from greenroom.workflows.serve.headers import (
    WIRE_VERSION,
    CallIds,
    Form,
    call_ids,
    wanted_form,
    wants_vercel,
)
from greenroom.workflows.serve.runner import CallRunner, error_status, error_text
from greenroom.workflows.serve.vercel import VERCEL_HEADERS, VercelWriter, with_plain_messages
from greenroom.workflows.usage import agenta_usage

LEGACY_VERSION = "3.0"
"""The version in the answers of `/run` and `/test`."""


def inspection(workflow: Workflow) -> Inspection:
    """The answer of `/inspect`; flags are where Agenta's RFC and where its SDK have them."""
    schemas = workflow.schemas
    request: Json = {"version": WIRE_VERSION, "data": {"revision": {}}}
    answer: Inspection = {
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
    return answer


class Inspect:
    """`/inspect`."""

    def __init__(self, runner: CallRunner) -> None:
        self._answer = inspection(runner.workflow)
        self._max_body = runner.max_body

    async def __call__(self, exchange: Exchange) -> None:
        """Tell what the workflow is; a revision in the body is ignored."""
        if exchange.method == "POST":
            await exchange.json(self._max_body)
        await exchange.answer(200, self._answer, [(b"x-ag-version", WIRE_VERSION.encode())])


class Invoke:
    """`/invoke`."""

    def __init__(self, runner: CallRunner) -> None:
        self._runner = runner

    async def __call__(self, exchange: Exchange) -> None:
        """Call the workflow."""
        request = read_invocation(await exchange.json(self._runner.max_body))
        form, vercel = wanted_form(exchange, stream=request.stream), wants_vercel(exchange)
        if vercel:
            request = replace(request, inputs=with_plain_messages(request.inputs))
            # The AI SDK expects a stream and sends no Accept header: JSON is asked for by name.
            named = JSON in (exchange.header(b"accept") or b"")
            form = "json" if form == "json" and named else "sse"
        ids = call_ids(exchange, request.session_id)
        try:
            if form == "json":
                answer = await self._runner.answer(exchange, request.call(ids))
                body = answer.outputs if request.plain else _envelope(answer, ids)
                await exchange.answer(200, body, ids.headers)
            else:
                await self._stream(exchange, request, form, ids, vercel=vercel)
        except InvalidCall as error:
            raise request.invalid(error) from error
        except CallError as error:
            raise _failed(error, ids) from error

    async def _stream(
        self, exchange: Exchange, request: CallRequest, form: Form, ids: CallIds, *, vercel: bool
    ) -> None:
        if vercel:
            writer, headers = VercelWriter(ids), [*ids.headers, *VERCEL_HEADERS]
        else:
            writer, headers = EventWriter("sse" if form == "sse" else "ndjson", ids), ids.headers
        await self._runner.stream(exchange, request.call(ids), writer, headers)


class Run:
    """`/run` and `/test`, which differ only in Agenta's own servers."""

    def __init__(self, runner: CallRunner) -> None:
        self._runner = runner

    async def __call__(self, exchange: Exchange) -> None:
        """Call the workflow."""
        request = read_body(LegacyBody, await exchange.json(self._runner.max_body)).request()
        ids = call_ids(exchange, request.session_id)
        try:
            answer = await self._runner.answer(exchange, request.call(ids))
        except InvalidCall as error:
            raise request.invalid(error) from error
        except CallError as error:
            failure: LegacyFailure = {"detail": {"message": error_text(error), "type": error.kind}}
            raise Refusal(error_status(error), failure, ids.headers) from error
        is_text = isinstance(answer.outputs, str)
        body: LegacyAnswer = {
            "version": LEGACY_VERSION,
            "data": answer.outputs,
            "content_type": "text/plain" if is_text else "application/json",
            "trace_id": ids.trace_id,
            "span_id": ids.span_id,
        }
        if usage := agenta_usage(answer):
            body["usage"] = usage
        await exchange.answer(200, body, ids.headers)


def _ids(ids: CallIds) -> AnswerIds:
    return {
        "session_id": ids.session_id,
        "span_id": ids.span_id,
        "trace_id": ids.trace_id,
        "version": WIRE_VERSION,
    }


def _envelope(answer: Answer, ids: CallIds) -> AnswerEnvelope:
    envelope: AnswerEnvelope = {
        **_ids(ids),
        "status": {"code": 200, "message": "Success"},
        "data": {"outputs": answer.outputs},
    }
    usage = agenta_usage(answer)
    if usage is not None:
        envelope["usage"] = usage
    return envelope


def _failed(error: CallError, ids: CallIds) -> Refusal:
    status = error_status(error)
    told: Status = {"code": status, "message": error_text(error), "type": error.kind}
    body: Failure = {**_ids(ids), "status": told}
    return Refusal(status, body, ids.headers)
