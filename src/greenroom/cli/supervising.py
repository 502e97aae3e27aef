"""Workers on one job: started, watched, replaced when lost, and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread

from greenroom.cli.following import Follower, Standing
from greenroom.cli.output import echo
from greenroom.cli.processes import REFUSED
from greenroom.errors import InputError
from greenroom.store import Patience

if TYPE_CHECKING:
    from greenroom.cli.processes import Ending
    from greenroom.store import JobRecord, Jobs

OUT_OF_BUDGET = 3
_LOOK_SECONDS = 0.5
_MOST_LOST = 3
"""So many times in a row may workers be lost without a single result in between."""
_PAUSE_SECONDS = 5.0
"""After the second loss in a row and each further one, nobody is started for so many times this."""


class WorkerFailed(InputError):
    """A worker ended with an error, which it has told; the others were stopped."""


class BudgetSpent(InputError):
    """The budget of the job is spent; a worker has told so."""


class Worker(Protocol):
    """A process that works on the job, somewhere."""

    @property
    def number(self) -> int:
        """Which one it is, from 1."""
        ...

    @property
    def placed(self) -> bool:
        """Whether it has a machine to work on."""
        ...

    def ending(self) -> Ending | None:
        """How it ended, once it has."""
        ...

    def stop(self) -> None:
        """Ask it to stop."""
        ...

    def wait(self) -> None:
        """Wait until it has ended; end it if it does not."""
        ...


class Executor(Protocol):
    """Starts workers somewhere."""

    def wanted(self, standing: Standing) -> int:
        """How many workers there should be just now."""
        ...

    def start(self, number: int) -> Worker:
        """Start a worker, or ask for a place for one."""
        ...


class Supervisor:
    """Looks after the workers on one job of this store."""

    def __init__(self, jobs: Jobs[Any, Any, Any], job: JobRecord, executor: Executor) -> None:
        self._jobs, self._job, self._executor = jobs, job, executor
        self._follower = Follower(jobs, job)
        self._patience = Patience(f"{jobs.kind.resume} {job.name}")
        self._running: list[Worker] = []
        self._started = 0
        self._finished = -1
        self._lost_in_a_row = 0
        self._paused_until = 0.0
        self._done = False
        self._spent: str | None = None
        """What the first worker said that got no further part of the budget."""

    async def work(self, on_look: Callable[[Standing], None]) -> None:
        """Work until all cells have a result; replace workers that are lost."""
        try:
            on_look(await anyio.to_thread.run_sync(self._look))
            while self._running or not self._ends:
                await anyio.sleep(_LOOK_SECONDS)
                on_look(await anyio.to_thread.run_sync(self._look))
            if self._spent is not None and not self._done:
                raise BudgetSpent(self._spent)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._stop)

    @property
    def _ends(self) -> bool:
        """Whether nobody is started any more. Others still spend the parts that they were given."""
        return self._done or self._spent is not None

    def _look(self) -> Standing:
        standing = self._patience.call(self._follower.look)
        if standing.finished > self._finished:
            self._finished, self._lost_in_a_row = standing.finished, 0
        self._look_after()
        if self._ends:
            # Nothing is left to do for those that have no place yet.
            waiting = [worker for worker in self._running if not worker.placed]
            self._end(waiting)
            self._running = [worker for worker in self._running if worker not in waiting]
        elif time.monotonic() >= self._paused_until:
            while len(self._running) < self._executor.wanted(standing):
                self._started += 1
                self._running.append(self._executor.start(self._started))
        return standing

    def _look_after(self) -> None:
        lost = False
        for worker in list(self._running):
            ending = worker.ending()
            if ending is None:
                continue
            self._running.remove(worker)
            if ending.status == 0 and not self._patience.call(self._any_left):
                self._done = True
                continue
            said = "\n".join(ending.said[-5:])
            if ending.status == OUT_OF_BUDGET:
                self._spent = self._spent or next(iter(ending.said[-1:]), "The budget is spent.")
                continue
            if ending.status in (1, REFUSED):
                raise WorkerFailed(said.removeprefix("error: "))
            self._lost_in_a_row += not lost and not ending.with_its_machine
            lost = lost or not ending.with_its_machine
            if self._lost_in_a_row > _MOST_LOST:
                raise WorkerFailed(
                    f"Workers were lost {self._lost_in_a_row} times in a row, the last one "
                    f"({ending.how}). {said}".rstrip()
                )
            then = "." if self._ends else ": another one takes over."
            echo(f"Worker {worker.number} was lost ({ending.how}){then}", err=True)

    def _any_left(self) -> bool:
        # An agent may end its process as if all were done.
        return self._jobs.workers.any_left(self._job.id)

    def _stop(self) -> None:
        self._end(self._running)

    def _end(self, workers: list[Worker]) -> None:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.wait()
