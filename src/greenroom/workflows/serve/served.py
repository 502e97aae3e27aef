"""A workflow as a server has it: called within limits, its failures logged."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

import anyio

from greenroom.errors import redacted
from greenroom.workflows.call.calls import Answer, Call, CallError, Event
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.declare.contract import SERVER_ERROR
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.disconnect import unless_client_leaves
from greenroom.workflows.serve.exchange import (
    ClientLeft,
    Exchange,
    Headers,
    Receive,
    Refusal,
    Scope,
    Send,
)
from greenroom.workflows.serve.limits import Slots
from greenroom.workflows.serve.traces import Trace

WIRE_VERSION = "2025.07.14"
"""The version of Agenta's wire that is spoken."""

_CLIENT_ERROR = 400
_LAST_STATUS = 599

log = logging.getLogger("greenroom.serving")


class Writer(Protocol):
    """Writes a streamed answer in one form."""

    content_type: bytes

    def frames(self, event: Event) -> bytes:
        """What an event looks like on the wire; nothing for one that is not sent."""
        ...

    def failed(self, error: CallError) -> bytes:
        """What tells of a failure, and ends the stream."""
        ...


class Served:
    """A workflow, and the limits that it shares with the others of its server."""

    def __init__(
        self, workflow: Workflow, *, max_body: int, slots: Slots, threads: anyio.CapacityLimiter
    ) -> None:
        self.workflow = workflow
        self.max_body = max_body
        self._slots = slots
        self._target = LocalTarget(workflow, threads=threads)

    async def answer(self, exchange: Exchange, call: Call) -> Answer:
        """The answer to a call; raises a CallError where there is none."""
        with self._slots.one():
            try:
                return await unless_client_leaves(exchange.receive, self._target.call(call))
            except CallError as error:
                self._log(error)
                raise

    async def stream(
        self, exchange: Exchange, call: Call, writer: Writer, headers: Headers
    ) -> None:
        """Send the answer in pieces; raises a CallError as long as nothing was sent."""
        with self._slots.one():
            await unless_client_leaves(
                exchange.receive, self._stream(exchange, call, writer, headers)
            )

    async def _stream(
        self, exchange: Exchange, call: Call, writer: Writer, headers: Headers
    ) -> None:
        try:
            async with aclosing(self._target.stream(call)) as events:
                async for event in events:
                    frames = writer.frames(event)
                    if frames and not exchange.started:
                        await exchange.begin(writer.content_type, headers)
                    if frames:
                        await exchange.piece(frames)
        except CallError as error:
            self._log(error)
            if not exchange.started:
                raise
            await exchange.piece(writer.failed(error))
        await exchange.end()

    def _log(self, error: CallError) -> None:
        if status_of(error) < SERVER_ERROR:
            return
        told = "".join(traceback.format_exception(error.__cause__ or error)).rstrip()
        log.error("The workflow '%s' failed.\n%s", self.workflow.name, redacted(told))


class Endpoint:
    """An ASGI application that answers one path: refusals become answers."""

    def __init__(
        self,
        handle: Callable[[Exchange], Awaitable[None]],
        *,
        shape: Callable[[Refusal], Refusal] = lambda refusal: refusal,
    ) -> None:
        self._handle = handle
        self._shape = shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        exchange = Exchange(scope, receive, send)
        try:
            await self._handle(exchange)
        except Refusal as refusal:
            shaped = self._shape(refusal)
            await exchange.answer(shaped.status, shaped.body, shaped.headers)
        except ClientLeft:
            return
        except asyncio.CancelledError:
            # The server ends, and has waited for long enough.
            if not exchange.started:
                await exchange.answer(503, {"detail": "The server has been stopped."})


def status_of(error: CallError) -> int:
    """The status that tells of an error: the handler's own where it names one."""
    status = error.status or SERVER_ERROR
    return status if _CLIENT_ERROR <= status <= _LAST_STATUS else SERVER_ERROR


def words_of(error: CallError) -> str:
    """What a client is told of an error: never a secret."""
    return redacted(str(error))


def identity_headers(trace: Trace, session_id: str) -> Headers:
    """The headers that tell which call this was."""
    return [
        (b"x-ag-version", WIRE_VERSION.encode()),
        (b"x-ag-trace-id", trace.trace_id.encode()),
        (b"x-ag-span-id", trace.span_id.encode()),
        (b"x-ag-session-id", session_id.encode()),
        (b"traceparent", trace.traceparent.encode()),
    ]


__all__ = [
    "WIRE_VERSION",
    "Endpoint",
    "Served",
    "Writer",
    "identity_headers",
    "status_of",
    "words_of",
]
