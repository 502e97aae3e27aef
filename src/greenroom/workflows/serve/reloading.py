"""Serving files as they are now: a change loads them anew, a mistake leaves them as they were."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.errors import redacted
from greenroom.util.imports import (
    forget_modules,
    modules_within,
    restore_modules,
    source_of,
    split_target,
)

SECONDS_BETWEEN_LOOKS = 0.5

Stamps = dict[Path, tuple[int, int]]


class ReloadingApp:
    """The newest application that could be loaded; calls that run stay with theirs.

    `load` gives an application with the workflows of the targets. `tell` gets a line for every
    change.
    """

    def __init__(
        self,
        targets: Sequence[str],
        load: Callable[[], ASGIApp],
        tell: Callable[[str], object],
        seconds: float = SECONDS_BETWEEN_LOOKS,
    ) -> None:
        # Bytecode is known by whole seconds and sizes: a second change may look like none.
        sys.dont_write_bytecode = True
        self._targets = targets
        self._load = load
        self._tell = tell
        self._seconds = seconds
        self.newest = load()
        """The application that answers new requests."""
        self._folders: set[Path] = set()
        self._files: set[Path] = set()
        self._seen: Stamps = self._looked_anew()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the newest application."""
        await self.newest(scope, receive, send)

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Look for changes while the block runs."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await to_thread.run_sync(self.look)

    def look(self) -> None:
        """Load everything anew if a file has changed."""
        stamps = self._stamps()
        changed = sorted(
            path.name for path in stamps | self._seen if stamps.get(path) != self._seen.get(path)
        )
        self._seen = stamps
        if not changed:
            return
        known = modules_within(self._folders)
        forget_modules(known)
        names = ", ".join(changed)
        try:
            self.newest = self._load()
        except Exception as error:
            restore_modules(known)
            why = redacted(str(error))
            self._tell(f"{names} changed, and the workflows stay as they were: {why}")
        else:
            # A file that changes while it is loaded has another stamp at the next look.
            self._seen = self._looked_anew() | stamps
            self._tell(f"{names} changed: the workflows are loaded anew.")

    def _looked_anew(self) -> Stamps:
        """The files of what is loaded now, which takes too long for every look."""
        sources = (source_of(split_target(one)[0]) for one in self._targets)
        self._folders = {source.parent for source in sources if source is not None}
        self._files = {file for file, _ in modules_within(self._folders).values()}
        return self._stamps()

    def _stamps(self) -> Stamps:
        """When each file was changed: modules that are loaded, and others beside the targets."""
        files = self._files.union(*(folder.glob("*.py") for folder in self._folders))
        stamps: Stamps = {}
        for file in files:
            try:
                about = file.stat()
            except OSError:  # an editor is replacing it
                continue
            stamps[file] = about.st_mtime_ns, about.st_size
        return stamps
