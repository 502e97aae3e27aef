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
_SECONDS_TO_END = 4.0
"""More than the keepers take, who end their commands and what these have left."""
_PAUSE = 0.1
_PROC = Path("/proc")
VARIABLE = "GREENROOM_EPISODE"
"""The variable in which processes of a run carry its mark, or one that begins with it."""
_SHORTEST_MARK = 32


def kill_marked(mark: str) -> None:
    """Kill all processes that carry a mark; they may fork meanwhile."""
    for _ in range(_ROUNDS):
        found = list(_marked(mark))
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    if len(mark) < _SHORTEST_MARK:  # it might be anybody's
        raise ValueError(f"A mark has at least {_SHORTEST_MARK} characters.")
    if not _PROC.is_dir():
        return
    carried = f"{VARIABLE}={mark}".encode()
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if carried in (entry / "environ").read_bytes():
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
    until = time.monotonic() + _SECONDS_TO_END
    while any(_marked(mark)) and time.monotonic() < until:
        time.sleep(_PAUSE)
    kill_marked(mark)
    remove_folder(Path(folder))


if __name__ == "__main__":
    _main(*sys.argv[1:])
