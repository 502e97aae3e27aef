"""A program that ends what a killed run has left: its processes, and their folder.

It is started with a run, as a file of its own and with the standard library alone, so it takes a
few milliseconds. Its standard input ends with the run, however that ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_ROUNDS = 5
_SECONDS_TO_END = 1.0
_PROC = Path("/proc")


def kill_marked(mark: str) -> None:
    """Kill all processes whose environment holds a text; they may fork meanwhile."""
    for _ in range(_ROUNDS):
        if not _signal_marked(mark, signal.SIGKILL):
            return


def _signal_marked(mark: str, number: signal.Signals) -> bool:
    """Whether there was any such process."""
    found = list(_marked(mark.encode()))
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(found)


def _marked(mark: bytes) -> Iterator[int]:
    if not _PROC.is_dir():
        return
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    yield int(entry.name)


def remove_folder(folder: Path) -> None:
    """Remove a folder of agents, whatever was done to it."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    folder.chmod(stat.S_IRWXU)
    for root, names, _ in os.walk(folder):
        for name in names:
            inner = Path(root, name)
            if not inner.is_symlink():
                inner.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _main(mark: str, folder: str) -> None:
    sys.stdin.buffer.read()
    if _signal_marked(mark, signal.SIGTERM):
        time.sleep(_SECONDS_TO_END)
    kill_marked(mark)
    remove_folder(Path(folder))


if __name__ == "__main__":
    _main(*sys.argv[1:])
