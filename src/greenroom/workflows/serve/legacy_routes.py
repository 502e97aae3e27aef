"""Agenta's routes up to SDK 0.95: `/run` and `/test`."""

from __future__ import annotations

from typing import Any

from greenroom.workflows.call.calls import CallError
from greenroom.workflows.declare.problems import InvalidCall
from greenroom.workflows.serve.agenta_routes import invalid
from greenroom.workflows.serve.bodies import read_old_call, session_of
from greenroom.workflows.serve.exchange import Exchange, Refusal
from greenroom.workflows.serve.served import Served, identity_headers, status_of, words_of
from greenroom.workflows.serve.traces import trace_of
from greenroom.workflows.serve.usage_shapes import agenta_usage

OLD_VERSION = "3.0"
"""The version that these answers bear."""


class Run:
    """`/run` and `/test`: only in Agenta's own servers do they differ."""

    def __init__(self, served: Served) -> None:
        self._served = served

    async def __call__(self, exchange: Exchange) -> None:
        """Call the workflow."""
        asked = read_old_call(await exchange.json(self._served.max_body))
        trace, session_id = trace_of(exchange.header(b"traceparent")), session_of(asked, exchange)
        headers = identity_headers(trace, session_id)
        try:
            answer = await self._served.answer(exchange, asked.call(session_id, trace))
        except InvalidCall as error:
            raise invalid(error, asked) from error
        except CallError as error:
            body = {"detail": {"message": words_of(error), "type": error.kind}}
            raise Refusal(status_of(error), body, headers) from error
        is_text = isinstance(answer.outputs, str)
        body: dict[str, Any] = {
            "version": OLD_VERSION,
            "data": answer.outputs,
            "content_type": "text/plain" if is_text else "application/json",
            "trace_id": trace.trace_id,
            "span_id": trace.span_id,
        }
        usage = agenta_usage(answer)
        await exchange.answer(200, body | ({"usage": usage} if usage else {}), headers)


__all__ = ["Run"]
