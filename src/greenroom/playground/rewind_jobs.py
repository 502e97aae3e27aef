"""Trials from a turn of a stored episode that the server plays.

They run in an event loop of their own, so that an agent that blocks does not stop the pages. The
store has all of their progress: a terminal sees it, and goes on with what a dead server left.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from threading import Event, Lock
from typing import Any

from anyio import CancelScope, to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal

from greenroom.benchmark import play_run
from greenroom.benchmark.rewind_runs import StartedRewind, start_rewind
from greenroom.errors import Conflict, GreenroomError, InputError, redacted
from greenroom.store import RunRecord, Store
from greenroom.trials import remove_if_refused

MOST_AT_ONCE = 8
_SECONDS_TO_STOP = 30.0


class RewindJobs:
    """The trials that this server plays. Its methods are called from threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._portal: BlockingPortal | None = None
        self._running: dict[str, tuple[CancelScope, Event]] = {}
        self._problems: dict[str, str] = {}
        self._starting = Lock()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Play trials while the block runs; what is under way at its end is stopped."""
        try:
            yield
        finally:
            await to_thread.run_sync(self._close)

    def start(self, run: str, task_index: int, **place: Any) -> StartedRewind:
        """Play trials from a place, or go on with those that were played from there before."""
        with self._starting:
            if len(self._running) >= MOST_AT_ONCE:
                raise Conflict(f"{MOST_AT_ONCE} are under way here: wait for one, or stop one.")
            started = start_rewind(self._store, run, task_index, **place)
            if started.context.interactive:
                raise InputError("A person plays the user of this run: use a terminal for it.")
            if len(self._store.runs.finished(started.run.id)) < started.run.planned:
                self._begin(started)
        return started

    def stop(self, run: RunRecord) -> None:
        """Stop trials; those that are finished are kept."""
        found = self._running.get(run.id)
        if found is None:
            if self._store.runs.find(run.id).status == "running":
                raise Conflict(f"Another process plays '{run.name}': stop it there, by Ctrl-C.")
            return
        scope, ended = found
        assert self._portal is not None
        self._portal.call(scope.cancel)
        ended.wait(_SECONDS_TO_STOP)

    def problem(self, run_id: str) -> str | None:
        """Why trials stopped before their end, if they did so here."""
        return self._problems.get(run_id)

    def _begin(self, started: StartedRewind) -> None:
        if self._portal is None:
            self._context = start_blocking_portal("asyncio")
            self._portal = self._context.__enter__()
        ready = Event()
        self._problems.pop(started.run.id, None)
        self._portal.start_task_soon(partial(self._play, started, ready))
        ready.wait(_SECONDS_TO_STOP)
        if started.run.id not in self._running and started.run.id in self._problems:
            raise InputError(self._problems[started.run.id])

    async def _play(self, started: StartedRewind, ready: Event) -> None:
        run = started.run
        ended = Event()

        def begun(_: Any) -> None:
            ready.set()

        with CancelScope() as scope:
            self._running[run.id] = scope, ended
            try:
                with remove_if_refused(self._store.runs, run):
                    await play_run(self._store, run, started.context, on_plan=begun)
            except GreenroomError as error:
                self._problems[run.id] = redacted(str(error))
            except Exception as error:
                self._problems[run.id] = redacted(f"{type(error).__name__}: {error}")
            finally:
                del self._running[run.id]
                ready.set()
                ended.set()

    def _close(self) -> None:
        if self._portal is None:
            return
        for scope, _ in list(self._running.values()):
            self._portal.call(scope.cancel)
        for _, ended in list(self._running.values()):
            ended.wait(_SECONDS_TO_STOP)
        self._portal = None
        self._context.__exit__(None, None, None)
