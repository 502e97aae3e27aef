"""A program that runs a command of an agent, and ends all that the command leaves behind.

On Linux, orphans of the command become children of this process, whatever they did to their group,
their session and their environment. It is started for each process of a command, as a file of its
own and with the standard library alone, so it takes a few milliseconds.

    python keeper.py FILE-DESCRIPTOR PROGRAM ARGUMENT ...

The file descriptor is closed as soon as the command runs; what is written there before is why it
cannot. SIGTERM is passed on to the command, END ends all at once, and so does the end of the run.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

END = signal.SIGUSR1
"""The signal that ends the command and all that it started."""
_HEARD = (END, signal.SIGTERM, signal.SIGCHLD)
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""
_SECONDS_TO_LOOK = 1.0
_SECONDS_TO_END = 1.0
_SECONDS_TO_KILL = 4.0
_SECONDS_LEFT = 0.5
_PAUSE = 0.01


def _main(told: int, *words: str) -> None:
    run = os.getppid()
    # Nothing is heard before the command runs, and nothing is lost.
    ours = {*_HEARD, signal.SIGINT, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ours)
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    command = os.fork()
    if not command:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _become(told, words)
    os.close(told)
    _leave_pipes()
    status = _watched(command, run)
    # What it has left may still be writing, such as a `tee` that its shell does not wait for.
    _end_all(0 if status is None else _SECONDS_LEFT)
    _end_as(status or 0)


def _become(told: int, words: tuple[str, ...]) -> None:
    os.set_inheritable(told, False)
    try:
        os.setsid()
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and for its children
            signal.signal(ignored, signal.SIG_DFL)
        # As it was given: Python adds to its own environment where the locale is C.
        given = Path("/proc/self/environ").read_bytes().split(b"\0")
        environment = dict(pair.split(b"=", 1) for pair in given if b"=" in pair)
        given_words = list(map(os.fsencode, words))
        os.execvpe(given_words[0], given_words, environment)  # noqa: S606
    except OSError as error:
        os.write(told, f"{words[0]}: {error.strerror}".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _leave_pipes() -> None:
    """Leave the streams to the command: they end when it closes them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _watched(command: int, run: int) -> int | None:
    """The status of the command, once it has ended; None if all has to end before."""
    while True:
        heard = signal.sigtimedwait(_HEARD, _SECONDS_TO_LOOK)
        if (status := _reaped(command)) is not None:
            return status
        number = None if heard is None else heard.si_signo
        if number == signal.SIGTERM:
            _tell(command)
        if number == END:
            return None
        if os.getppid() != run:  # it was killed: nobody else ends what it has left
            _tell(command)
            _wait(command, _SECONDS_TO_END)
            return None


def _tell(command: int) -> None:
    with suppress(OSError):
        os.killpg(command, signal.SIGTERM)


def _wait(command: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and _reaped(command) is None:
        time.sleep(_PAUSE)


def _reaped(command: int) -> int | None:
    """Collect children that have ended; the status of the command, if it is one of them."""
    status: int | None = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == command:
                status = ended[1]
    return status


def _end_all(patience: float) -> None:
    """Kill what is left in the end: the children of a process that is killed become our own."""
    began = time.monotonic()
    while (since := time.monotonic() - began) < _SECONDS_TO_KILL:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if since >= patience:
            for child in _children():
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)
        time.sleep(_PAUSE)


def _children() -> Iterator[int]:
    own = str(os.getpid())
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                # The name of a program, in brackets, may hold anything.
                parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
                if parent == own:
                    yield int(entry.name)


def _end_as(status: int) -> None:
    """End with the status of the command."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # some cannot be set
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


if __name__ == "__main__":
    _main(int(sys.argv[1]), *sys.argv[2:])
