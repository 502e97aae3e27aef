"""Workers that are processes of this machine."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Ray's actors import this module on every node: it stays light.
if TYPE_CHECKING:
    from greenroom.cli.following import Standing
    from greenroom.store import JobRecord, Jobs

REFUSED = 2
"""The exit status of a worker that cannot do what it is asked for."""
LONGEST_FAREWELL = 30.0
_LINES = 20


@dataclass(frozen=True)
class Ending:
    """How a worker ended."""

    status: int | None
    """Its exit status, or the negative number of the signal; None if nobody knows."""
    said: tuple[str, ...]
    """The last lines that it printed."""
    how: str
    """The same in words: "signal 9"."""
    with_its_machine: bool = False
    """The machine is gone: that is no sign of trouble with the worker."""


@dataclass
class WorkerProcess:
    """A worker process, and what it printed last."""

    number: int
    popen: subprocess.Popen[bytes]
    placed: bool = True
    said: list[str] = field(default_factory=list[str])
    _listener: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ending(self) -> Ending | None:
        """How it ended, once it has."""
        status = self.popen.poll()
        if status is None:
            return None
        self._close()
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return Ending(status, tuple(self.said), how)

    def stop(self) -> None:
        """Ask it to stop."""
        self.popen.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until it has ended; kill it if it does not."""
        try:
            self.popen.wait(LONGEST_FAREWELL)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self._close()

    def _close(self) -> None:
        """Wait for its last words, and close the pipes."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        self._listener.join(LONGEST_FAREWELL)

    def _listen(self) -> None:
        assert self.popen.stderr is not None
        with self.popen.stderr as lines:
            for line in lines:
                self.said.append(line.decode(errors="replace").rstrip())
                del self.said[:-_LINES]


def worker_arguments(jobs: Jobs[Any, Any, Any], job: JobRecord) -> tuple[str, ...]:
    """The arguments of Python for a worker on this job."""
    # Python must not find modules in the folder that it is started in.
    return ("-P", "-m", "greenroom", "worker", f"--{jobs.kind.name}", job.id, "--attached")


def start_worker(
    number: int,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> WorkerProcess:
    """Start a worker. It ends with this process, however this ends."""
    popen = subprocess.Popen(  # noqa: S603
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=True,  # Ctrl-C in a terminal is told to this process alone
    )
    return WorkerProcess(number, popen)


@dataclass(frozen=True)
class Processes:
    """Starts so many worker processes."""

    arguments: Sequence[str]
    """Those of Python."""
    count: int

    def wanted(self, standing: Standing) -> int:
        """How many there should be."""
        return self.count

    def start(self, number: int) -> WorkerProcess:
        """Start a process."""
        return start_worker(number, self.arguments)
