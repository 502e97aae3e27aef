"""Running calls of a workflow within the limits of a server; failures are logged."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import anyio
from starlette.types import Receive, Scope, Send

from greenroom.errors import redacted
from greenroom.tracing import Span
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.call.traced import answer_attributes, workflow_span
from greenroom.workflows.calls import SERVER_ERROR, Answer, Call, CallError, Event
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.deadlines import LeftBehind, OutOfTime, cancel_on_disconnect, in_time
from greenroom.workflows.serve.exchange import ClientDisconnected, Exchange, Headers, Refusal
from greenroom.workflows.serve.limits import Slots
from greenroom.workflows.serve.metrics import Metrics
from greenroom.workflows.serve.streams import SECONDS_OF_SILENCE, PieceStream

Result = TypeVar("Result")
Handle = Callable[[Exchange], Awaitable[None]]
"""Answers the requests of one route."""
Shape = Callable[[Refusal], Refusal]
"""Gives a refusal the shape that the clients of a route read."""

TIMED_OUT = 504
"""The status of a call that takes too long."""
TIMEOUT = "Timeout"
"""The kind of its error."""
_CLIENT_ERROR = 400
_LAST_STATUS = 599

log = logging.getLogger("greenroom.serve")


Tell = Callable[[Event], Awaitable[None]]
"""Is told each piece of an answer."""


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
    """A workflow, and the limits and counters that it shares with the others of its server."""

    def __init__(
        self,
        workflow: Workflow,
        *,
        max_body: int,
        slots: Slots,
        threads: anyio.CapacityLimiter,
        metrics: Metrics,
        timeout: float | None = None,
        keep_alive: float = SECONDS_OF_SILENCE,
    ) -> None:
        self.workflow = workflow
        self.max_body = max_body
        self._slots = slots
        self._target = LocalTarget(workflow, threads=threads)
        self._metrics = metrics
        self._timeout = timeout
        self._keep_alive = keep_alive
        self._left: LeftBehind = set()

    @property
    def takes_tools(self) -> bool | None:
        """Whether the workflow takes tools that the caller runs; None if it does not tell."""
        return self._target.profile.takes_tools

    async def answer(self, exchange: Exchange, call: Call) -> Answer:
        """The answer to a call; raises a CallError if there is none."""
        with self._counted(call):
            return await self._watched(exchange, partial(self._answered, call))

    async def follow(self, exchange: Exchange, call: Call, tell: Tell) -> Answer:
        """The answer to a call, whose pieces and whose end are told; raises a CallError."""
        with self._counted(call):
            return await self._watched(exchange, partial(self._followed, call, tell))

    async def stream(
        self, exchange: Exchange, call: Call, writer: Writer, headers: Headers
    ) -> None:
        """Send the answer in pieces; raises a CallError as long as nothing was sent."""
        pieces = PieceStream(exchange, writer.content_type, headers, self._keep_alive)
        try:
            with self._counted(call):
                await self._watched(exchange, partial(self._written, call, writer, pieces))
        except CallError as error:
            if not exchange.started:
                raise
            await pieces.end(writer.failed(error))
        finally:
            pieces.close()

    async def _answered(self, call: Call) -> Answer:
        with self._slots.one(), self._span(call) as span:
            answer = await self._target.call(call)
            span.set(answer_attributes(answer))
            self._metrics.used(self.workflow.slug, answer)
            return answer

    async def _followed(self, call: Call, tell: Tell) -> Answer:
        with self._slots.one(), self._span(call) as span:
            async with aclosing(self._target.stream(call)) as events:
                async for event in events:
                    if event.kind == "end":
                        span.set(answer_attributes(event.data))
                        self._metrics.used(self.workflow.slug, event.data)
                    with self._slots.lent():
                        await tell(event)
                    if event.kind == "end":
                        return event.data
        raise AssertionError("a stream ends with the whole answer")

    async def _written(self, call: Call, writer: Writer, pieces: PieceStream) -> None:
        async def write(event: Event) -> None:
            if frames := writer.frames(event):
                await pieces.send(frames)

        await self._followed(call, write)
        await pieces.end()

    async def _watched(self, exchange: Exchange, work: Callable[[], Awaitable[Result]]) -> Result:
        try:
            limited = in_time(work, self._timeout, self._left)
            return await cancel_on_disconnect(exchange.receive, limited)
        except OutOfTime:
            text = f"The workflow '{self.workflow.name}' took longer than {self._timeout:g} s."
            log.warning("%s", text)
            raise CallError(text, status=TIMED_OUT, kind=TIMEOUT) from None
        except CallError as error:
            self._log(error)
            raise

    @contextmanager
    def _counted(self, call: Call) -> Generator[None]:
        """Count a call, how it ended and how long it took."""
        began, outcome = time.perf_counter(), "disconnected"
        if call.session_id is not None:
            self._metrics.session(call.session_id)
        try:
            yield
            outcome = "ok"
        except Refusal:
            outcome = "refused"
            raise
        except CallError as error:
            status = error_status(error)
            outcome = "timeout" if error.kind == TIMEOUT and status == TIMED_OUT else "failed"
            outcome = "refused" if status < SERVER_ERROR else outcome
            raise
        finally:
            self._metrics.call(self.workflow.slug, outcome, time.perf_counter() - began)

    def _span(self, call: Call) -> AbstractContextManager[Span]:
        """The span of the call, whose id clients and the handler are told."""
        name = self.workflow.name
        return workflow_span(name, call, kind="server", ids=call.traceparent, parent=call.caller)

    def _log(self, error: CallError) -> None:
        if error_status(error) < SERVER_ERROR:
            return
        lines = "".join(traceback.format_exception(error.__cause__ or error)).rstrip()
        log.error("The workflow '%s' failed.\n%s", self.workflow.name, redacted(lines))


@dataclass(frozen=True)
class RouteApp:
    """An ASGI application for one path: refusals become answers, in a shape that clients read."""

    handle: Handle
    shape: Shape = lambda refusal: refusal
    path: str = ""
    """The route, as it is declared."""

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


def error_status(error: CallError) -> int:
    """The HTTP status of an error: its own if it is one of HTTP's errors, else 500."""
    status = error.status or SERVER_ERROR
    return status if _CLIENT_ERROR <= status <= _LAST_STATUS else SERVER_ERROR


def error_text(error: CallError) -> str:
    """The text of an error for clients, without secrets."""
    return redacted(str(error))
