"""Turns that run: in the server, not in a request. Pages come and go, and the answer goes on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.playground.turn_calls import answered
from greenroom.playground.turn_log import TurnLog
from greenroom.store import StoreOutage, this_process
from greenroom.store.leases import RENEWAL_SECONDS
from greenroom.store.thread_records import TreatAs, TurnRecord, TurnStatus
from greenroom.store.turns import stopped_replies
from greenroom.workflows.calls import CallError

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

SECONDS_BETWEEN_FLUSHES = 0.25
"""How often the text so far is kept."""

CLOSED = "The playground was closed before the answer was complete. Run it again."

_CHARACTERS_A_SECOND = 4 << 20  # the text of a long answer is written again with each flush
_SECONDS_BETWEEN_CHECKS = 1.0
_SECONDS_BETWEEN_SWEEPS = 5.0
_SECONDS_FOR_THE_STORE = 60.0

_logger = logging.getLogger("greenroom.playground")


@dataclass(frozen=True)
class TurnJob:
    """A turn that is kept as running, and what is needed to run it."""

    turn: TurnRecord
    before: tuple[str, ...]
    """The turns before it, whose messages are sent along."""
    treat_as: TreatAs | None
    """What the person wants; None: what the workflow says of itself."""


class LiveTurns:
    """The turns that this process runs."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self.owner = this_process()
        self._live: dict[str, TurnLog] = {}
        self._tasks: TaskGroup | None = None
        self._renewed = float("-inf")
        self.ended = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run turns while the block runs; those that run at its end are broken."""
        store = self._playground.store
        await self._break_abandoned()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._flush)
            tasks.start_soon(self._sweep)
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()
        with suppress(GreenroomError):
            await self._playground.in_store(store.turns.processes.release, str(self.owner))

    def end(self) -> None:
        """Break the turns that run, because the playground ends; others are not begun."""
        self.ended = True
        for log in self._live.values():
            log.stop()

    async def prepare(self) -> None:
        """Have the store know that this process is alive, before turns are kept as its own."""
        now = time.monotonic()
        if now - self._renewed >= RENEWAL_SECONDS:
            turns = self._playground.store.turns
            await self._playground.in_store(turns.processes.renew, self.owner)
            self._renewed = now

    def start(self, job: TurnJob, limiter: anyio.CapacityLimiter | None = None) -> TurnLog:
        """Run a turn; with a limiter, when there is room."""
        if self._tasks is None or self.ended:
            raise InputError("The playground is closing.")
        log = self._live[job.turn.id] = TurnLog(job.turn)
        self._tasks.start_soon(self._run, log, job, limiter)
        self._playground.changes.turn(job.turn.id, job.turn.thread_id, "running")
        return log

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *given: Any) -> None:
        """Do something beside the turns, until the playground ends."""

        async def guarded() -> None:
            try:
                await work(*given)
            except Exception as problem:
                note("What was to follow a turn failed", problem)

        if self._tasks is not None:
            self._tasks.start_soon(guarded)

    def find(self, turn_id: str) -> TurnLog | None:
        """A turn that runs here."""
        return self._live.get(turn_id)

    async def stop(self, turn_id: str) -> None:
        """Stop a turn, wherever it runs, and wait until it is kept."""
        log = self._live.get(turn_id)
        if log is None:
            turns = self._playground.store.turns
            ended = await self._playground.in_store(turns.stop, turn_id)
            if ended is not None:
                self._playground.changes.turn(ended.id, ended.thread_id, ended.status)
            return
        log.stop()
        await log.wait()

    # One turn

    async def _run(self, log: TurnLog, job: TurnJob, limiter: anyio.CapacityLimiter | None) -> None:
        status: TurnStatus = "broken"
        error: str | None = CLOSED
        try:
            with log.scope:
                try:
                    async with limiter or nullcontext():
                        # A task of its own can be stopped while a handler blocks its thread.
                        await asyncio.create_task(answered(self._playground, log, job))
                    status, error = "done", None
                except GreenroomError as problem:
                    kind = problem.kind if isinstance(problem, CallError) else ""
                    told = str(problem) or type(problem).__name__
                    error = redacted(told if kind in ("", told) else f"{kind}: {told}")
                except Exception as problem:
                    error = redacted(f"{type(problem).__name__}: {problem}")
            if log.scope.cancelled_caught and not self.ended:
                status, error = "stopped", None
        finally:
            with anyio.CancelScope(shield=True):
                await self._end(log, status, error)

    async def _end(self, log: TurnLog, status: TurnStatus, error: str | None) -> None:
        """Keep how a turn ended, then tell it."""
        turn, turns = log.turn, self._playground.store.turns
        log.ending = True
        log.settle()
        turn.status, turn.error, turn.owner = status, error, None
        turn.seconds = log.seconds if turn.seconds is None else turn.seconds
        if status == "done":
            turn.content.text = ""
        if status == "stopped":
            turn.content.replies = stopped_replies(turn.content)
        until = time.monotonic() + _SECONDS_FOR_THE_STORE
        while True:
            try:
                if not await self._playground.in_store(turns.end, turn, self.owner):
                    kept = await self._playground.in_store(turns.find, turn.id)
                    status, error = kept.status, kept.error
                break
            except StoreOutage as problem:
                if time.monotonic() > until or self._tasks is None:
                    status, error = "broken", str(problem)
                    break
            except Exception as problem:
                note("A turn could not be kept", problem)
                status, error = "broken", f"This turn could not be kept: {redacted(str(problem))}"
                with suppress(Exception):
                    await self._playground.in_store(turns.give_up, turn.id, self.owner, error)
                break
            await anyio.sleep(1)
        del self._live[turn.id]
        log.end(status, error)
        self._playground.changes.turn(turn.id, turn.thread_id, status)

    # All turns

    async def _flush(self) -> None:
        """Keep the text so far, and notice what other processes did to these turns."""
        checked = time.monotonic()
        while True:
            await anyio.sleep(SECONDS_BETWEEN_FLUSHES)
            now = time.monotonic()
            try:
                await self._keep_texts(now)
                if self._live and now - checked >= _SECONDS_BETWEEN_CHECKS:
                    checked = now
                    await self._notice()
            except Exception as problem:  # the store is away for now
                note("The text so far could not be kept", problem)

    async def _keep_texts(self, now: float) -> None:
        due = [log for log in self._live.values() if _is_due(log, now)]
        if due:
            records = [log.flushed(now) for log in due]
            flush = self._playground.store.turns.flush
            await self._playground.in_store(flush, records, self.owner)

    async def _notice(self) -> None:
        """Stop the turns that another process stopped."""
        await self.prepare()
        before = set(self._live)
        held = await self._playground.in_store(self._playground.store.turns.running, self.owner)
        for key in before - held:
            if (log := self._live.get(key)) is not None and not log.ending:
                log.stop()

    async def _sweep(self) -> None:
        """End the turns of processes that are gone."""
        while True:
            await anyio.sleep(_SECONDS_BETWEEN_SWEEPS)
            await self._break_abandoned()

    async def _break_abandoned(self) -> None:
        turns = self._playground.store.turns
        try:
            for ended in await self._playground.in_store(turns.break_abandoned):
                self._playground.changes.turn(ended.id, ended.thread_id, ended.status)
        except Exception as problem:  # the store is away for now
            note("Abandoned turns could not be looked for", problem)


def note(what: str, problem: Exception) -> None:
    """Log what failed beside a request; the traceback could show a secret."""
    _logger.warning("%s: %s: %s", what, type(problem).__name__, redacted(str(problem)))


def _is_due(log: TurnLog, now: float) -> bool:
    pause = max(SECONDS_BETWEEN_FLUSHES, log.size / _CHARACTERS_A_SECOND)
    return log.unflushed and now - log.flushed_at >= pause - SECONDS_BETWEEN_FLUSHES / 2
