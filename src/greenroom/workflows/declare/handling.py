"""Running a handler for one call, whatever kind of function it is."""

from __future__ import annotations

import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import aclosing
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from greenroom.errors import redacted
from greenroom.workflows.call.calls import Call, CallError
from greenroom.workflows.declare.binding import MESSAGES, check_messages
from greenroom.workflows.declare.contract import SERVER_ERROR
from greenroom.workflows.declare.problems import InvalidCall
from greenroom.workflows.declare.workflow import Workflow

_END: Any = object()


def prepared(workflow: Workflow, call: Call) -> Callable[[], Any]:
    """The handler with its arguments; raises InvalidCall where they are not right."""
    if workflow.is_chat and workflow.binding.first("messages") is None:
        check_messages(call.inputs.get(MESSAGES))
    positional, named = workflow.binding.bind(call, workflow.configuration)
    if call.parameters and workflow.binding.first("parameters") is None:
        workflow.configuration.values(call.parameters)  # wrong ones are told, even if nobody looks
    return partial(workflow.handler, *positional, **named)


async def returned(
    workflow: Workflow, call: Call, threads: anyio.CapacityLimiter | None = None
) -> Any:
    """What a handler that is no generator returns; what it raises becomes a CallError."""
    handler = prepared(workflow, call)
    try:
        if workflow.kind == "coroutine":
            return await handler()
        # Not abandoned when cancelled: a thread cannot be stopped, and its place stays taken.
        output = await to_thread.run_sync(handler, limiter=threads)
        return await output if inspect.isawaitable(output) else output
    except (Exception, SystemExit) as error:
        raise failure(error) from error


async def pieces(
    workflow: Workflow, call: Call, threads: anyio.CapacityLimiter | None = None
) -> AsyncGenerator[Any]:
    """What a generator yields; what it raises becomes a CallError."""
    handler = prepared(workflow, call)
    source: AsyncIterator[Any] = (
        handler() if workflow.kind == "async generator" else _from_thread(handler(), threads)
    )
    async with aclosing(source):  # pyright: ignore[reportArgumentType]
        while True:
            try:
                piece = await anext(source, _END)
            except (Exception, SystemExit) as error:
                raise failure(error) from error
            if piece is _END:
                return
            yield piece


async def _from_thread(
    source: Generator[Any], threads: anyio.CapacityLimiter | None
) -> AsyncGenerator[Any]:
    """A generator's pieces, each made in a worker thread, so that nothing else has to wait."""
    running = threading.Lock()

    def advance() -> Any:
        with running:
            return next(source, _END)

    def close() -> None:
        with running:  # a piece may still be in the making, with nobody left to wait for it
            source.close()

    try:
        while (piece := await to_thread.run_sync(advance, limiter=threads)) is not _END:
            yield piece
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(close, limiter=threads)


def failure(error: BaseException) -> CallError:
    """What a handler raised, in words for whoever called it."""
    if isinstance(error, CallError) and not isinstance(error, InvalidCall):
        return error  # an invalid call is one that the handler made itself: not the caller's fault
    kind = type(error).__name__
    return CallError(redacted(str(error)) or kind, status=SERVER_ERROR, kind=kind)


__all__ = ["failure", "pieces", "prepared", "returned"]
