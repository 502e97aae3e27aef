"""Targets that stay open: the calls of all threads share them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.workflows.calls import Profile, Target

SECONDS_TO_OPEN = 60.0
_SECONDS_OF_A_FAILURE = 15.0
_SECONDS_TO_CLOSE = 2.0

Open = Callable[[str], AbstractAsyncContextManager[Target]]


class _Held:
    """A target in the task that holds it open."""

    def __init__(self) -> None:
        self.ready = anyio.Event()
        self.leave = anyio.Event()
        self.target: Target | None = None
        self.error: GreenroomError | None = None
        self.since = anyio.current_time()
        self.users = 0
        self.dropped = False

    def release(self) -> None:
        if self.dropped and self.users == 0:
            self.leave.set()


class OpenTargets:
    """Targets by address; each is opened when it is first needed."""

    def __init__(self, open_one: Open) -> None:
        self._open = open_one
        self._held: dict[str, _Held] = {}
        self._tasks: TaskGroup | None = None
        self._holding = 0
        self._left = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep targets open while the block runs."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                for held in self._held.values():
                    held.leave.set()
                self._held.clear()
                with anyio.move_on_after(_SECONDS_TO_CLOSE, shield=True):
                    while self._holding:  # each closes its connections
                        await self._left.wait()
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def use(self, address: str) -> AsyncGenerator[Target]:
        """The target, which is open at least while the block runs; raises if it cannot be opened.

        One that could not be opened before is tried again.
        """
        held = self._held.get(address)
        if held is not None and held.error is not None:
            self.forget(address)
        held = self._at(address)
        held.users += 1
        try:
            yield await _opened(held, address, SECONDS_TO_OPEN)
        finally:
            held.users -= 1
            held.release()

    async def look(self, address: str, seconds: float = SECONDS_TO_OPEN) -> Profile:
        """What is known of the target; a failure is remembered for some seconds."""
        held = self._held.get(address)
        failed = held is not None and held.error is not None
        if held and failed and anyio.current_time() - held.since > _SECONDS_OF_A_FAILURE:
            self.forget(address)
        return (await _opened(self._at(address), address, seconds)).profile

    def known(self, address: str) -> Profile | None:
        """What is known of the target already."""
        held = self._held.get(address)
        return held.target.profile if held is not None and held.target is not None else None

    def forget(self, address: str) -> None:
        """Open the target anew when it is needed next; calls under way keep the old one."""
        held = self._held.pop(address, None)
        if held is not None:
            held.dropped = True
            held.release()

    def _at(self, address: str) -> _Held:
        held = self._held.get(address)
        if held is None:
            if self._tasks is None:
                raise InputError("The playground is closing.")
            held = self._held[address] = _Held()
            self._tasks.start_soon(self._hold, address, held)
        return held

    async def _hold(self, address: str, held: _Held) -> None:
        self._holding += 1
        try:
            async with self._open(address) as target:
                held.target = target
                held.ready.set()
                await held.leave.wait()
        except GreenroomError as error:
            held.error = error
        except Exception as error:
            held.error = InputError(redacted(f"{type(error).__name__}: {error}"))
        finally:
            self._holding -= 1
            self._left.set()
            self._left = anyio.Event()
            held.since = anyio.current_time()
            held.ready.set()
            if held.target is not None and self._held.get(address) is held:
                del self._held[address]  # it broke while it was open


async def _opened(held: _Held, address: str, seconds: float) -> Target:
    with anyio.move_on_after(seconds):
        await held.ready.wait()
    if held.error is not None:
        raise held.error
    if held.target is None:
        raise InputError(f"{redacted(address)} has not answered within {seconds:g} seconds.")
    return held.target
