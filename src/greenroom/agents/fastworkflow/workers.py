"""FastWorkflow's workers, seen from episodes: one loading process, one worker per episode."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import orjson
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from greenroom.agents.fastworkflow import worker as worker
from greenroom.agents.fastworkflow.folders import place_copies, temporary_folder
from greenroom.agents.fastworkflow.processes import process_environment
from greenroom.agents.fastworkflow.session import LENGTH, packed
from greenroom.errors import InputError, OutsideFault, redacted
from greenroom.tracing import spans
from greenroom.util.owned_folders import OwnedFolder

_SECONDS_TO_LOAD = 180.0
_PAUSE = 0.05
_LONGEST = 1 << 30
_LAST_LINES = 3


class WorkerLost(OutsideFault):
    """A worker ended before its episode; the episode is played again."""


@dataclass
class Workers:
    """A loaded FastWorkflow that gives every episode a worker."""

    owned: OwnedFolder
    workflow: str
    """The name of the workflow that they run."""
    trained: bool = False
    """Whether it has intent models."""
    commands: list[str] = field(default_factory=list[str])
    floats: list[str] = field(default_factory=list[str])
    """The parameters that turn whole numbers into floats."""
    _loader: subprocess.Popen[bytes] | None = None
    _loading: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def folder(self) -> Path:
        """The folder that they work in."""
        return self.owned.path

    async def load(self) -> None:
        """Start the process that forks workers, unless it runs."""
        async with self._loading:
            if self._loader is not None and self._loader.poll() is None:
                return
            self._end_loader()
            (self.folder / worker.READY).unlink(missing_ok=True)
            (self.folder / worker.SOCKET).unlink(missing_ok=True)
            with (self.folder / "log.txt").open("ab") as log:
                self._loader = subprocess.Popen(  # noqa: ASYNC220, S603
                    [
                        *(sys.executable, "-m", worker.__name__, str(self.folder), self.workflow),
                        *(["trained"] if self.trained else []),
                    ],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=process_environment(self.folder) | spans.environment(),
                )
            facts = await self._facts(self._loader)
            self.commands, self.floats = facts["commands"], facts["floats"]

    async def _facts(self, loader: subprocess.Popen[bytes]) -> dict[str, Any]:
        ready = anyio.Path(self.folder / worker.READY)
        with anyio.move_on_after(_SECONDS_TO_LOAD):
            while loader.poll() is None:
                if await ready.exists():
                    return orjson.loads(await ready.read_bytes())
                await anyio.sleep(_PAUSE)
            raise InputError(f"FastWorkflow could not be loaded: {self.last_words()}")
        raise InputError(f"FastWorkflow was not loaded within {_SECONDS_TO_LOAD:.0f} seconds.")

    @asynccontextmanager
    async def worker(self) -> AsyncGenerator[Worker]:
        """A worker that ends with the block."""
        await self.load()
        try:
            stream = await anyio.connect_unix(self.folder / worker.SOCKET)
        except OSError as error:
            raise WorkerLost(f"No FastWorkflow worker could be started: {error}") from error
        started = Worker(self, stream)
        try:
            started.pid = (await started.receive())["pid"]
            yield started
        finally:
            # The worker ends with its connection.
            with anyio.CancelScope(shield=True), suppress(OSError):
                await stream.aclose()

    def close(self) -> None:
        """End the process that forks workers, and delete its files."""
        self._end_loader()
        self.owned.close()

    def _end_loader(self) -> None:
        loader, self._loader = self._loader, None
        if loader is None:
            return
        assert loader.stdin is not None
        with suppress(OSError):
            loader.stdin.close()
        try:
            loader.wait(timeout=2)
        except subprocess.TimeoutExpired:
            loader.kill()
            loader.wait()

    def last_words(self) -> str:
        """The process's last output, for error texts."""
        log = self.folder / "log.txt"
        lines = log.read_text(errors="replace").split("\n") if log.exists() else []
        said = [line.strip() for line in lines if line.strip()][-_LAST_LINES:]
        return redacted(" ".join(said)) or "it said nothing."


class Worker:
    """A FastWorkflow session in a process of its own; what is lost with it raises WorkerLost."""

    def __init__(self, workers: Workers, stream: ByteStream) -> None:
        self.pid = 0
        self._workers = workers
        self._stream = stream
        self._incoming = BufferedByteReceiveStream(stream)

    async def send(self, **message: Any) -> None:
        """Send a message."""
        with self._telling_of_loss():
            await self._stream.send(packed(message))

    async def receive(self) -> dict[str, Any]:
        """Wait for the worker's next message."""
        with self._telling_of_loss():
            length = int.from_bytes(await self._incoming.receive_exactly(LENGTH))
            return orjson.loads(await self._incoming.receive_exactly(min(length, _LONGEST)))

    @contextmanager
    def _telling_of_loss(self) -> Generator[None]:
        try:
            yield
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            said = self._workers.last_words()
            raise WorkerLost(f"The FastWorkflow worker ended: {said}") from error


def prepare_workers(workflow: Path, artifacts: Path | None) -> Workers:
    """Copies of the folders that FastWorkflow writes to, in a temporary place."""
    if not hasattr(os, "fork"):
        raise InputError("The fastworkflow agent needs a system that can fork: Linux or macOS.")
    owned = temporary_folder()
    try:
        place_copies(workflow, owned.path, artifacts)
    except BaseException:
        owned.close()
        raise
    return Workers(owned, workflow.name, trained=artifacts is not None)
