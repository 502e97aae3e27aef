"""The parts of a framework that block run in threads; their tools step from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from anyio.lowlevel import checkpoint_if_cancelled

from greenroom.agents.frameworks.offers import BlockingTool, Offer, OfferedTool
from greenroom.agents.threads import Interrupted
from greenroom.errors import InputError

T = TypeVar("T")


class Threads:
    """Runs blocking code of one conversation.

    A thread cannot be stopped. When its turn is cancelled, its tools raise Interrupted and its
    model refuses, so that it ends at its next call; the turn waits for it.
    """

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._loop = asyncio.get_running_loop()
        self._calls: set[Future[str]] = set()
        self._ended = True
        self._over = False

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns; what it raises is raised here."""
        results: list[T] = []
        problem: Exception | None = None
        async with anyio.create_task_group() as watch:
            await watch.start(self._hang_up_when_cancelled)
            with anyio.CancelScope(shield=True):
                try:
                    # A limiter of its own: there are as many threads as conversations.
                    results.append(
                        await anyio.to_thread.run_sync(
                            _until_interrupted, work, limiter=anyio.CapacityLimiter(1)
                        )
                    )
                except Exception as error:
                    problem = error
            self._ended = True
            watch.cancel_scope.cancel()
        await checkpoint_if_cancelled()
        # Raised outside of the task group, which would wrap it.
        if problem is not None:
            raise problem
        return results[0]

    async def _hang_up_when_cancelled(self, *, task_status: TaskStatus[None]) -> None:
        self._ended = False
        task_status.started()
        try:
            await anyio.sleep_forever()
        finally:
            if not self._ended:
                self._over = True
                self._offer.refuse_model()
                for call in list(self._calls):
                    call.cancel()

    def caller(self, tool: OfferedTool) -> Callable[..., str]:
        """The tool as a function that blocks until the observation is there."""

        def call(**arguments: Any) -> str:
            if _on(self._loop):
                raise InputError(f"The tool '{tool.name}' would block the event loop: await it.")
            if self._over:
                raise Interrupted
            future = asyncio.run_coroutine_threadsafe(tool(**arguments), self._loop)
            self._calls.add(future)
            try:
                return future.result()
            except CancelledError:
                raise Interrupted from None
            finally:
                self._calls.discard(future)

        return _named(call, tool)

    def tool(self, tool: OfferedTool) -> BlockingTool:
        """The tool for code in a thread."""
        return BlockingTool(tool.name, tool.description, tool.parameters, self.caller(tool))

    def either(self, tool: OfferedTool) -> Callable[..., Any]:
        """The tool as a function that blocks in a thread, and gives an awaitable elsewhere."""
        blocking = self.caller(tool)

        def call(**arguments: Any) -> Any:
            return tool(**arguments) if _on(self._loop) else blocking(**arguments)

        return _named(call, tool)


def _named(function: Callable[..., T], tool: OfferedTool) -> Callable[..., T]:
    function.__name__ = tool.name
    function.__doc__ = tool.description
    return function


def _on(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _until_interrupted(work: Callable[[], T]) -> T:
    try:
        return work()
    except Interrupted:
        raise InterruptedError("The conversation was over.") from None
