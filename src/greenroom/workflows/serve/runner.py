"""Running calls of a workflow within the limits of a server; failures are logged."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio
from starlette.types import Receive, Scope, Send

from greenroom.errors import redacted
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.calls import SERVER_ERROR, Answer, Call, CallError, Event
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.exchange import ClientDisconnected, Exchange, Headers, Refusal
from greenroom.workflows.serve.limits import Slots

Result = TypeVar("Result")

_SECONDS_UNWATCHED = 0.02
"""Most calls end earlier, and need no task that watches the connection."""
_CLIENT_ERROR = 400
_LAST_STATUS = 599

log = logging.getLogger("greenroom.serve")


class Writer(Protocol):
    """Writes a streamed answer in one form."""

    content_type: bytes

    def frames(self, event: Event) -> bytes:
        """An event on the wire; empty if it is not sent."""
        ...

    def failed(self, error: CallError) -> bytes:
        """The error and the end of the stream."""
        ...


class CallRunner:
    """A workflow, and the limits that it shares with the others of its server."""

    def __init__(
        self, workflow: Workflow, *, max_body: int, slots: Slots, threads: anyio.CapacityLimiter
    ) -> None:
        self.workflow = workflow
        self.max_body = max_body
        self._slots = slots
        self._target = LocalTarget(workflow, threads=threads)

    async def answer(self, exchange: Exchange, call: Call) -> Answer:
        """The answer to a call; raises a CallError if there is none."""
        with self._slots.one():
            try:
                return await cancel_on_disconnect(exchange.receive, self._target.call(call))
            except CallError as error:
                self._log(error)
                raise

    async def stream(
        self, exchange: Exchange, call: Call, writer: Writer, headers: Headers
    ) -> None:
        """Send the answer in pieces; raises a CallError as long as nothing was sent."""
        with self._slots.one():
            work = self._written(exchange, call, writer, headers)
            await cancel_on_disconnect(exchange.receive, work)

    async def _written(
        self, exchange: Exchange, call: Call, writer: Writer, headers: Headers
    ) -> None:
        try:
            async with aclosing(self._target.stream(call)) as events:
                async for event in events:
                    frames = writer.frames(event)
                    if frames and not exchange.started:
                        await exchange.begin(writer.content_type, headers)
                    if frames:
                        with self._slots.lent():
                            await exchange.piece(frames)
        except CallError as error:
            self._log(error)
            if not exchange.started:
                raise
            await exchange.piece(writer.failed(error))
        await exchange.end()

    def _log(self, error: CallError) -> None:
        if error_status(error) < SERVER_ERROR:
            return
        lines = "".join(traceback.format_exception(error.__cause__ or error)).rstrip()
        log.error("The workflow '%s' failed.\n%s", self.workflow.name, redacted(lines))


@dataclass(frozen=True)
class RouteApp:
    """An ASGI application for one path: refusals become answers, in a shape that clients read."""

    handle: Callable[[Exchange], Awaitable[None]]
    shape: Callable[[Refusal], Refusal] = lambda refusal: refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; drop the answer of a disconnected client."""
        exchange = Exchange(scope, receive, send)
        try:
            await self.handle(exchange)
        except Refusal as refusal:
            await exchange.refuse(self.shape(refusal))
        except ClientDisconnected:
            return
        except asyncio.CancelledError:
            # The server stops, and its grace period is over.
            if not exchange.started:
                await exchange.answer(503, {"detail": "The server has been stopped."})


async def cancel_on_disconnect(receive: Receive, work: Awaitable[Result]) -> Result:
    """The result of the work; a disconnect cancels it and raises ClientDisconnected."""
    loop = asyncio.get_running_loop()
    watchers: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    # A cancel scope waits for running threads, which cannot be stopped.
    with anyio.CancelScope() as scope:
        timer = loop.call_later(
            _SECONDS_UNWATCHED, lambda: watchers.append(loop.create_task(watch()))
        )
        try:
            return await work
        finally:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()
    raise ClientDisconnected


def error_status(error: CallError) -> int:
    """The HTTP status of an error: its own if it is one of HTTP's errors, else 500."""
    status = error.status or SERVER_ERROR
    return status if _CLIENT_ERROR <= status <= _LAST_STATUS else SERVER_ERROR


def error_text(error: CallError) -> str:
    """The text of an error for clients, without secrets."""
    return redacted(str(error))
