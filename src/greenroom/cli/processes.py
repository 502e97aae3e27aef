"""Several worker processes on one job: started, watched, replaced when lost, and stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from greenroom.cli.following import Follower, Standing
from greenroom.cli.output import echo
from greenroom.errors import InputError
from greenroom.store import Patience

if TYPE_CHECKING:
    from greenroom.store import JobRecord, Jobs

OUT_OF_BUDGET, REFUSED = 3, 2
_LOOK_SECONDS = 0.5
_LONGEST_FAREWELL = 30.0
_LINES = 20
_MOST_LOST = 3
"""So many workers may be lost one after the other without a single result in between."""


class WorkerFailed(InputError):
    """A worker ended with an error, which it has told; the others were stopped."""


class BudgetSpent(InputError):
    """The budget of the job is spent; a worker has told so."""


@dataclass
class _Process:
    number: int
    popen: subprocess.Popen[bytes]
    listener: threading.Thread = field(init=False)
    said: list[str] = field(default_factory=list[str])
    """The last lines that it printed."""

    def __post_init__(self) -> None:
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def close(self) -> None:
        """Wait for its last words, and close the pipes."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        self.listener.join(_LONGEST_FAREWELL)

    def wait(self) -> None:
        """Wait until it has ended; kill it if it does not."""
        try:
            self.popen.wait(_LONGEST_FAREWELL)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self.close()

    def _listen(self) -> None:
        assert self.popen.stderr is not None
        with self.popen.stderr as lines:
            for line in lines:
                self.said.append(line.decode(errors="replace").rstrip())
                del self.said[:-_LINES]


class Processes:
    """Worker processes on one job of this store."""

    def __init__(self, jobs: Jobs[Any, Any, Any], job: JobRecord, count: int) -> None:
        self._jobs = jobs
        self._job = job
        self._count = count
        self._running: list[_Process] = []
        self._started = 0
        self._patience = Patience(f"{jobs.kind.resume} {job.name}")
        self._lost_in_a_row = 0

    async def work(self, on_look: Callable[[Standing], None]) -> None:
        """Work until all cells have a result; replace workers that are lost."""
        try:
            for _ in range(self._count):
                self._start()
            finished, follower = -1, Follower(self._jobs, self._job)
            while self._running:
                await anyio.sleep(_LOOK_SECONDS)
                standing = await anyio.to_thread.run_sync(self._patience.call, follower.look)
                if standing.finished > finished:
                    finished, self._lost_in_a_row = standing.finished, 0
                on_look(standing)
                self._look_after()
        finally:
            with anyio.CancelScope(shield=True):
                await self._stop()

    def _start(self) -> None:
        self._started += 1
        noun = self._jobs.kind.name
        command = [sys.executable, "-P", "-m", "greenroom", "worker", f"--{noun}", self._job.id]
        popen = subprocess.Popen(  # noqa: S603
            [*command, "--attached"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is told to this process alone
        )
        self._running.append(_Process(self._started, popen))

    def _look_after(self) -> None:
        for process in list(self._running):
            status = process.popen.poll()
            if status is None:
                continue
            self._running.remove(process)
            process.close()
            if status == 0:
                continue
            said = "\n".join(process.said[-5:])
            if status == OUT_OF_BUDGET:
                raise BudgetSpent(said)
            if status in (1, REFUSED):
                raise WorkerFailed(said.removeprefix("error: "))
            self._lost_in_a_row += 1
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            if self._lost_in_a_row > _MOST_LOST:
                raise WorkerFailed(
                    f"{self._lost_in_a_row} workers were lost one after the other, the last one by "
                    f"{how}. {said}"
                )
            echo(f"Worker {process.number} was lost ({how}): another one takes over.", err=True)
            self._start()

    async def _stop(self) -> None:
        for process in self._running:
            process.popen.send_signal(signal.SIGTERM)
        for process in self._running:
            await anyio.to_thread.run_sync(process.wait)
