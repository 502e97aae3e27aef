"""Calling a workflow in this process: a handler of any kind becomes a Target."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from greenroom.errors import redacted
from greenroom.messages import messages_of
from greenroom.tracing import spans
from greenroom.workflows.call.traced import (
    answer_attributes,
    in_span,
    start_workflow_span,
    workflow_span,
)
from greenroom.workflows.calls import (
    MESSAGES,
    SERVER_ERROR,
    Answer,
    Call,
    CallError,
    Event,
    InvalidCall,
    calls_beside,
)
from greenroom.workflows.declare.arguments import check_any, check_messages
from greenroom.workflows.declare.outputs import NotJson, check_messages_returned, json_value
from greenroom.workflows.declare.pieces import Pieces, UnderWay
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.usage import ReportedUsage, current_usage

_END: Any = object()


class LocalTarget:
    """A workflow of this process as a Target.

    `threads` limits how many sync handlers run at once; by default anyio's own limit does.
    """

    def __init__(
        self, workflow: Workflow, *, address: str = "", threads: anyio.CapacityLimiter | None = None
    ) -> None:
        self.workflow = workflow
        self.profile = workflow.profile(address)
        self._threads = threads
        self._under_way = UnderWay()

    async def call(self, call: Call) -> Answer:
        if spans.active is None or call.traceparent is not None:  # a server has a span for it
            return await self._answered(call)
        with workflow_span(self.workflow.name, call) as span:
            answer = await self._answered(replace(call, traceparent=span.traceparent))
            span.set(answer_attributes(answer))
            return answer

    async def _answered(self, call: Call) -> Answer:
        if self.workflow.streams:
            async with aclosing(self.stream(call)) as events:
                async for event in events:
                    if event.kind == "end":
                        return event.data
        began, usage = time.perf_counter(), ReportedUsage()
        token = current_usage.set(usage)
        try:
            returned = await self._returned(call)
        finally:
            current_usage.reset(token)
        try:
            outputs = json_value(returned)
        except NotJson as error:
            raise self._not_json(error) from error
        if self.workflow.is_chat:
            check_messages_returned(self.workflow.name, outputs)
        return _answer(call, outputs, usage, began)

    def stream(self, call: Call) -> AsyncGenerator[Event]:
        if not self.workflow.streams:
            return self._whole(call)
        if spans.active is None or call.traceparent is not None:
            return self._pieces(call)
        span = start_workflow_span(spans.active, self.workflow.name, call)
        inner = self._pieces(replace(call, traceparent=span.traceparent))
        return in_span(span, inner)

    async def _whole(self, call: Call) -> AsyncGenerator[Event]:
        answer = await self.call(call)
        if self.profile.is_chat:
            for message in messages_of(answer.outputs) or []:
                yield Event(kind="message", data=message)
        yield Event(kind="end", data=answer)

    async def _pieces(self, call: Call) -> AsyncGenerator[Event]:
        name, is_chat = self.workflow.name, self.workflow.is_chat
        began, usage = time.perf_counter(), ReportedUsage()
        collected = Pieces(name, usage, is_chat=is_chat, under_way=self._under_way)
        source = self._bound(call)()
        if self.workflow.kind == "generator":
            source = _from_thread(source, self._threads)
        with closing(collected):
            # The generator runs in the context of the caller of the next piece, so the usage is set
            # for each piece.
            async with aclosing(source) as pieces:
                while True:
                    token = current_usage.set(usage)
                    try:
                        piece = await anext(pieces, _END)
                    except (Exception, SystemExit) as error:
                        raise _failure(error) from error
                    finally:
                        current_usage.reset(token)
                    if piece is _END:
                        break
                    try:
                        events = collected.take(piece)
                    except NotJson as error:
                        raise self._not_json(error) from error
                    for event in events:
                        yield event
                    await asyncio.sleep(0)  # a generator that never waits must not block the others
            for event in collected.end():
                yield event
            outputs = collected.outputs
            if is_chat:
                check_messages_returned(name, outputs)
            told = calls_beside(outputs, collected.tool_calls)
            yield Event(kind="end", data=_answer(call, outputs, usage, began, told))

    async def close(self) -> None:
        """Nothing to close: it has no connections."""

    def _bound(self, call: Call) -> Callable[[], Any]:
        """The handler with its arguments; raises InvalidCall if they are wrong."""
        workflow, call = self.workflow, self.profile.placed(call)
        if workflow.is_chat and workflow.arguments.first("messages") is None:
            check_messages(call.inputs.get(MESSAGES))
        if workflow.is_chat and workflow.arguments.needs_messages:
            check_any(call.inputs.get(MESSAGES))
        positional, named = workflow.arguments.bind(call, workflow.configuration)
        if call.parameters and workflow.arguments.first("parameters") is None:
            # Checked although the handler takes none.
            workflow.configuration.values(call.parameters)
        return partial(workflow.handler, *positional, **named)

    async def _returned(self, call: Call) -> Any:
        """What a function returns; what it raises becomes a CallError."""
        handler = self._bound(call)
        try:
            if self.workflow.kind == "coroutine":
                return await handler()
            # A thread cannot be stopped: on cancellation its slot stays taken until it ends.
            output = await to_thread.run_sync(handler, limiter=self._threads)
            return await output if inspect.isawaitable(output) else output
        except (Exception, SystemExit) as error:
            raise _failure(error) from error

    def _not_json(self, error: NotJson) -> CallError:
        return CallError(
            f"What the workflow '{self.workflow.name}' returned is not JSON: {error}",
            status=SERVER_ERROR,
            kind="NotJson",
        )


async def _from_thread(
    source: Generator[Any], threads: anyio.CapacityLimiter | None
) -> AsyncGenerator[Any]:
    """A sync generator's pieces; each is made in a worker thread, off the event loop."""
    running = threading.Lock()

    def advance() -> Any:
        with running:
            return next(source, _END)

    def close() -> None:
        with running:  # after a cancellation a thread may still be making a piece
            source.close()

    try:
        while (piece := await to_thread.run_sync(advance, limiter=threads)) is not _END:
            yield piece
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(close, limiter=threads)


def _failure(error: BaseException) -> CallError:
    """What a handler raised, in words for the caller."""
    if isinstance(error, CallError) and not isinstance(error, InvalidCall):
        return error  # an InvalidCall is about a call that the handler itself made
    kind = type(error).__name__
    return CallError(redacted(str(error)) or kind, status=SERVER_ERROR, kind=kind)


def _answer(
    call: Call,
    outputs: Any,
    usage: ReportedUsage,
    began: float,
    told: Sequence[dict[str, Any]] = (),
) -> Answer:
    return Answer(
        outputs=outputs,
        tool_calls=list(told),
        session_id=call.session_id,
        seconds=time.perf_counter() - began,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost,
    )
