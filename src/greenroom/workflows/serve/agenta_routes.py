"""Agenta's current routes: `/inspect` tells what a workflow is, `/invoke` calls it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from greenroom.workflows.call.calls import Answer, CallError
from greenroom.workflows.declare.problems import InvalidCall
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.bodies import Asked, read_invocation, session_of
from greenroom.workflows.serve.event_stream import EventWriter
from greenroom.workflows.serve.exchange import Exchange, Headers, Refusal, unprocessable
from greenroom.workflows.serve.negotiation import Form, wanted_form, wants_vercel
from greenroom.workflows.serve.served import (
    WIRE_VERSION,
    Served,
    identity_headers,
    status_of,
    words_of,
)
from greenroom.workflows.serve.traces import Trace, trace_of
from greenroom.workflows.serve.usage_shapes import agenta_usage
from greenroom.workflows.serve.vercel import VERCEL_HEADERS, VercelWriter, with_plain_messages


def inspection(workflow: Workflow) -> dict[str, Any]:
    """What `/inspect` answers; flags stand where the RFC has them, and where the SDK has them."""
    schemas = workflow.schemas
    request: dict[str, Any] = {"version": WIRE_VERSION, "data": {"revision": {}}}
    answer: dict[str, Any] = {
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

    def __init__(self, served: Served) -> None:
        self._answer = inspection(served.workflow)
        self._max_body = served.max_body

    async def __call__(self, exchange: Exchange) -> None:
        """Tell what the workflow is, whatever revision the body asks for."""
        if exchange.method == "POST":
            await exchange.json(self._max_body)
        await exchange.answer(200, self._answer, [(b"x-ag-version", WIRE_VERSION.encode())])


class Invoke:
    """`/invoke`."""

    def __init__(self, served: Served) -> None:
        self._served = served

    async def __call__(self, exchange: Exchange) -> None:
        """Call the workflow."""
        asked = read_invocation(await exchange.json(self._served.max_body))
        form = wanted_form(exchange, stream=asked.stream)
        vercel = wants_vercel(exchange)
        if vercel:
            asked = replace(asked, inputs=with_plain_messages(asked.inputs))
            form = _vercel_form(exchange, form)
        trace, session_id = trace_of(exchange.header(b"traceparent")), session_of(asked, exchange)
        headers = identity_headers(trace, session_id)
        try:
            if form == "json":
                answer = await self._served.answer(exchange, asked.call(session_id, trace))
                body = answer.outputs if asked.bare else _envelope(answer, trace, session_id)
                await exchange.answer(200, body, headers)
            else:
                await self._stream(exchange, asked, form, trace, session_id, vercel=vercel)
        except InvalidCall as error:
            raise invalid(error, asked) from error
        except CallError as error:
            raise _failed(error, trace, session_id, headers) from error

    async def _stream(
        self,
        exchange: Exchange,
        asked: Asked,
        form: Form,
        trace: Trace,
        session_id: str,
        *,
        vercel: bool,
    ) -> None:
        headers, call = identity_headers(trace, session_id), asked.call(session_id, trace)
        if vercel:
            writer = VercelWriter(trace, session_id)
            await self._served.stream(exchange, call, writer, [*headers, *VERCEL_HEADERS])
        else:
            writer = EventWriter("sse" if form == "sse" else "ndjson", trace, session_id)
            await self._served.stream(exchange, call, writer, headers)


def _vercel_form(exchange: Exchange, form: Form) -> Form:
    """The AI SDK wants a stream, and asks for nothing in particular: only JSON by name is JSON."""
    wants_json = form == "json" and b"application/json" in (exchange.header(b"accept") or b"")
    return "json" if wants_json else "sse"


def _envelope(answer: Answer, trace: Trace, session_id: str) -> dict[str, Any]:
    envelope: dict[str, Any] = {
        "session_id": session_id,
        "span_id": trace.span_id,
        "trace_id": trace.trace_id,
        "version": WIRE_VERSION,
        "status": {"code": 200, "message": "Success"},
        "data": {"outputs": answer.outputs},
    }
    usage = agenta_usage(answer)
    if usage is not None:
        envelope["usage"] = usage
    return envelope


def invalid(error: InvalidCall, asked: Asked) -> Refusal:
    """The answer to a call that the workflow cannot take."""
    return unprocessable(
        [
            {"type": one.kind, "loc": [*asked.place, *one.where], "msg": one.text}
            for one in error.problems
        ]
    )


def _failed(error: CallError, trace: Trace, session_id: str, headers: Headers) -> Refusal:
    status = status_of(error)
    body = {
        "session_id": session_id,
        "span_id": trace.span_id,
        "trace_id": trace.trace_id,
        "version": WIRE_VERSION,
        "status": {"code": status, "message": words_of(error), "type": error.kind},
    }
    return Refusal(status, body, headers)


__all__ = ["Inspect", "Invoke", "inspection", "invalid"]
