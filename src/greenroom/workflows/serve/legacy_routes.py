"""Agenta's routes up to SDK 0.95: `/run` and `/test`."""

from __future__ import annotations

from greenroom.workflows.calls import CallError, InvalidCall
from greenroom.workflows.serve.bodies import LegacyAnswer, LegacyBody, LegacyFailure, read_body
from greenroom.workflows.serve.exchange import Exchange, Refusal
from greenroom.workflows.serve.headers import call_ids
from greenroom.workflows.serve.runner import CallRunner, error_status, error_text
from greenroom.workflows.usage import agenta_usage

LEGACY_VERSION = "3.0"
"""The version in these answers."""


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
