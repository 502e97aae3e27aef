"""One event loop in a thread of its own, for plain code that needs asynchronous work."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from greenroom.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")


class EventLoop:
    """A share of this process's loop, which runs while anybody has one."""

    def __init__(self) -> None:
        self._thread = thread = _process.entered()
        self._number = os.getpid()
        self._release = weakref.finalize(self, _leave, thread, self._number)

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that it was made in."""
        return self._number != os.getpid()

    @property
    def released(self) -> bool:
        """Whether it was given back."""
        return not self._release.alive

    def release(self) -> None:
        """Give it back; may be called again."""
        self._release()

    def start(
        self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Begin asynchronous work on the loop."""
        if self.forked:
            raise InputError("This was made before the process was forked: make one in each.")

        async def work() -> T:
            return await function(*args, **kwargs)

        return self._thread.start(work)

    def call(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run asynchronous work to its end, from any plain thread."""
        return self.start(function, *args, **kwargs).result()


class _Thread:
    """The thread that runs the loop."""

    def __init__(self) -> None:
        self.shares = 0
        self._work: set[Future[Any]] = set()
        self._begun = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="greenroom event loop", daemon=True
        )
        self._thread.start()

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._begun.set()
        await self._ended.wait()
        if self._work:
            await asyncio.wait([asyncio.wrap_future(one) for one in list(self._work)])

    def start(self, work: Callable[[], Any]) -> Future[Any]:
        self._begun.wait()
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work(), self._loop)
        self._work.add(future)
        future.add_done_callback(self._work.discard)
        return future

    def end(self) -> None:
        """End it when the work that is under way is done."""
        self._begun.wait()
        self._loop.call_soon_threadsafe(self._ended.set)
        if threading.current_thread() is not self._thread:  # as it is where garbage is collected
            self._thread.join()


class _Process:
    """What this process has: a fork has no thread but its own, so it begins anew."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self._lock = threading.RLock()
        self._thread: _Thread | None = None

    def entered(self) -> _Thread:
        # Nobody waits for the thread here: it may collect garbage that needs this lock.
        with self._lock:
            self._thread = thread = self._thread or _Thread()
            thread.shares += 1
            return thread

    def leave(self, thread: _Thread) -> None:
        with self._lock:
            thread.shares -= 1
            if thread.shares:
                return
            self._thread = None
        thread.end()


def _leave(thread: _Thread, number: int) -> None:
    if number == os.getpid():
        _process.leave(thread)


_process = _Process()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_process.renew)

__all__ = ["EventLoop"]
