"""Where the processes of a run work: folders below one, and a mark that tells whose they are.

A watcher outlives the run if that is killed, and ends what it has left.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from greenroom.agents.command import watcher
from greenroom.agents.command.watcher import remove_folder

_MARK_BYTES = 16


@dataclass(frozen=True)
class RunPlaces:
    """The folder of a run, and the mark of its processes."""

    folder: Path
    mark: str

    @asynccontextmanager
    async def episode(self) -> AsyncGenerator[tuple[Path, str]]:
        """A folder and a mark for one episode; the folder is removed after the block."""
        folder = await anyio.to_thread.run_sync(_new_folder, self.folder)
        try:
            yield folder, f"{self.mark}-{secrets.token_hex(_MARK_BYTES)}"
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(remove_folder, folder)


@asynccontextmanager
async def open_places() -> AsyncGenerator[RunPlaces]:
    """Places for the episodes of a run while the block runs."""
    places = RunPlaces(await anyio.to_thread.run_sync(_new_folder), secrets.token_hex(_MARK_BYTES))
    watching = await anyio.to_thread.run_sync(_watch, places)
    try:
        yield places
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(watching.communicate)
            await anyio.to_thread.run_sync(remove_folder, places.folder)


def _new_folder(above: Path | None = None) -> Path:
    return Path(tempfile.mkdtemp(prefix="greenroom-agent-", dir=above))


def _watch(places: RunPlaces) -> subprocess.Popen[bytes]:
    # In a session of its own: whoever ends the group of the run leaves the watcher alone.
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-S", watcher.__file__, places.mark, str(places.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
