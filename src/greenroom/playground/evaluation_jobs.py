"""Evaluations that the server works on: started, stopped and resumed from pages.

They run in an event loop of their own, so that a workflow that blocks does not stop the pages. The
store has all of their progress: a terminal sees it, and goes on with what a dead server left.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

from anyio import CancelScope
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from greenroom.errors import Conflict, GreenroomError, InputError, redacted
from greenroom.evaluation import (
    EvaluationConfig,
    EvaluationContext,
    reopen_evaluation,
    run_evaluation,
    start_evaluation,
)
from greenroom.store import EvaluationRecord, Store
from greenroom.trials import remove_if_refused
from greenroom.workflows.calls import CallError, Target

MOST_AT_ONCE = 8
"""Evaluations that one server works on at the same time."""

OpenTarget = Callable[[], Awaitable[Target]]
_Prepare = Callable[[], Awaitable[tuple[EvaluationRecord, EvaluationContext]]]

_SECONDS_TO_STOP = 30.0
_logger = logging.getLogger("greenroom.playground")


@dataclass(frozen=True)
class _Running:
    scope: CancelScope
    ended: Event = field(default_factory=Event)


class EvaluationJobs:
    """The evaluations that this server works on. Its methods are called from threads."""

    def __init__(self, store: Store, portal: BlockingPortal) -> None:
        self._store, self._portal = store, portal
        self._running: dict[str, _Running] = {}
        self._problems: dict[str, str] = {}

    def start(
        self, config: EvaluationConfig, name: str | None, open_target: OpenTarget
    ) -> EvaluationRecord:
        """Start a new evaluation. It is under way when this returns; nothing is kept if not."""

        async def prepare() -> tuple[EvaluationRecord, EvaluationContext]:
            target = await open_target()
            return await start_evaluation(self._store, config, name=name, target=target)

        return self._begin(prepare, new=True)

    def resume(self, evaluation: EvaluationRecord, open_target: OpenTarget) -> None:
        """Go on with an evaluation: only calls without a result are made."""
        self.check_free(evaluation)

        async def prepare() -> tuple[EvaluationRecord, EvaluationContext]:
            target = await open_target()
            return await reopen_evaluation(self._store, evaluation.id, target=target)

        self._begin(prepare, new=False)

    def check_free(self, evaluation: EvaluationRecord) -> None:
        """Raise an error if somebody works on the evaluation already, or it is complete."""
        if evaluation.status == "complete":
            raise Conflict(f"'{evaluation.name}' is complete: there is nothing left to call.")
        if self.is_running(evaluation.id) or evaluation.status == "running":
            raise Conflict(f"'{evaluation.name}' is under way already.")

    def stop(self, evaluation: EvaluationRecord) -> None:
        """Stop an evaluation; what is finished is kept."""
        running = self._running.get(evaluation.id)
        if running is None:
            if evaluation.status == "running":
                raise Conflict(
                    f"Another process works on '{evaluation.name}': stop it there, by Ctrl-C."
                )
            return
        self._cancel(running)
        running.ended.wait(_SECONDS_TO_STOP)

    def is_running(self, evaluation_id: str) -> bool:
        """Whether this server works on it now."""
        return evaluation_id in self._running

    def problem(self, evaluation_id: str) -> str | None:
        """Why an evaluation stopped before its end, if it did so here."""
        return self._problems.get(evaluation_id)

    def close(self) -> None:
        """Stop all evaluations."""
        pending = list(self._running.values())
        for one in pending:
            self._cancel(one)
        for one in pending:
            one.ended.wait(_SECONDS_TO_STOP)

    def _cancel(self, running: _Running) -> None:
        self._portal.call(running.scope.cancel)

    def _begin(self, prepare: _Prepare, *, new: bool) -> EvaluationRecord:
        if len(self._running) >= MOST_AT_ONCE:
            raise Conflict(
                f"{MOST_AT_ONCE} evaluations are under way here: wait for one, or stop one."
            )
        try:
            _, evaluation = self._portal.start_task(partial(self._work, prepare, new))
        except CallError as error:
            raise InputError(str(error)) from error  # the workflow cannot be reached
        return evaluation

    async def _work(
        self, prepare: _Prepare, new: bool, *, task_status: TaskStatus[EvaluationRecord]
    ) -> None:
        evaluation, context = await prepare()
        if context.interactive:
            await context.target.close()
            raise InputError("A person plays its user: go on with it in a terminal.")
        with CancelScope() as scope:
            running, begun = _Running(scope), False

            def begin(_: Any) -> None:
                nonlocal begun
                begun = True
                self._problems.pop(evaluation.id, None)
                self._running[evaluation.id] = running
                task_status.started(evaluation)

            refused = remove_if_refused(self._store.evaluations, evaluation)
            with refused if new else nullcontext():
                try:
                    await run_evaluation(self._store, evaluation, context, on_plan=begin)
                except Exception as error:
                    if not begun:
                        raise
                    self._problems[evaluation.id] = _told(error)
                finally:
                    if begun:
                        del self._running[evaluation.id]
                        running.ended.set()


@contextmanager
def evaluation_jobs(store: Store) -> Generator[EvaluationJobs]:
    """Evaluations for as long as the block runs; what is under way then is stopped."""
    with start_blocking_portal("asyncio") as portal:
        jobs = EvaluationJobs(store, portal)
        try:
            yield jobs
        finally:
            jobs.close()
            portal.call(portal.stop, True)


def _told(error: Exception) -> str:
    if isinstance(error, GreenroomError):
        return redacted(str(error))
    text = redacted(f"{type(error).__name__}: {error}")
    _logger.error("An evaluation broke: %s", text)
    return f"The playground has a defect here: {text}"
