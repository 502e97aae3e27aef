"""Processes of agent commands: each a group of its own, with limits on what it prints.

Whatever a process leaves behind is killed with it: its group, and on Linux all that it started, by
a keeper between it and us (see `greenroom.agents.command.keeper`).
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import anyio
import anyio.to_thread

from greenroom.agents.command.watcher import kill_marked
from greenroom.errors import GreenroomError, InputError

MAX_LINE = 1 << 20
"""Bytes of one message of the agent."""
MAX_PRINTED = 64 << 20
"""Bytes that a process may print beside its messages."""
MAX_UNREAD = 16 << 20
"""Bytes that a process may leave unread of what it is told."""
KEPT = 16 << 10
"""Bytes that are kept of what it printed: the last ones."""
_PIECE = 64 << 10
_SECONDS_TO_END = 1.0
_SECONDS_TO_KILL = 5.0
_SECONDS_TO_LOOK = 0.5
_KEPT = sys.platform == "linux"
"""Whether commands have a keeper. Elsewhere it cannot even be imported."""
_KEEPER = str(Path(__file__).with_name("keeper.py"))
_UNSHOWN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Colours of a terminal, and characters that no page shows."""


class CommandCrashed(GreenroomError):
    """The agent's command failed: its text has the last lines that it printed."""

    outcome = "crashed"


class Printed:
    """The end of what a command printed, over all processes of an episode."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._dropped = 0

    def add(self, piece: bytes) -> None:
        """Keep a piece; what came long before it is dropped."""
        self._kept += piece
        if len(self._kept) > 2 * KEPT:
            self._dropped += len(self._kept) - KEPT
            del self._kept[:-KEPT]

    @property
    def text(self) -> str:
        """What is kept."""
        dropped = self._dropped + max(0, len(self._kept) - KEPT)
        kept = _UNSHOWN.sub("", bytes(self._kept[-KEPT:]).decode("utf-8", "replace")).strip()
        return f"[{dropped:,} bytes before]\n{kept}" if dropped else kept

    def last_lines(self, count: int) -> str:
        """The last lines that are not empty."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        return "\n".join(lines[-count:])


class AgentProcess:
    """One running process of a command."""

    def __init__(self, process: asyncio.subprocess.Process, printed: Printed, mark: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._printed = printed
        self._mark = mark
        self._buffer = bytearray()
        self._ended = False
        self._too_much = False
        self._beside = 0
        self._draining = asyncio.create_task(self._drain())

    @classmethod
    async def start(
        cls,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        printed: Printed,
        mark: str,
    ) -> Self:
        """Start the command in a folder; `mark` is in its environment."""
        pipes: dict[str, Any] = dict.fromkeys(
            ("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE
        )
        told, tells = os.pipe()
        keeping = [sys.executable, "-I", "-S", _KEEPER, str(tells)] if _KEPT else []
        with os.fdopen(told, "rb") as problems:
            try:
                process = await asyncio.create_subprocess_exec(
                    *keeping,
                    *words,
                    cwd=folder,
                    env=environment,
                    start_new_session=True,
                    pass_fds=(tells,) if _KEPT else (),
                    **pipes,
                )
            except (OSError, ValueError) as error:
                raise _not_started(str(error)) from error
            finally:
                os.close(tells)
            return await cls(process, printed, mark).checked(problems)

    async def checked(self, problems: IO[bytes]) -> Self:
        """It, once the command runs; raises InputError if the keeper cannot start that."""
        try:
            problem = await anyio.to_thread.run_sync(problems.read)
        except BaseException:
            await self.stop()
            raise
        if problem:
            await self.stop()
            raise _not_started(problem.decode("utf-8", "replace"))
        return self

    @property
    def returncode(self) -> int | None:
        """Its exit status, once it has ended; negative for a signal."""
        return self._process.returncode

    def write(self, content: bytes, *, last: bool = False) -> None:
        """Send bytes; a process that reads none of them is not waited for, within a limit."""
        if self._stdin.transport.get_write_buffer_size() > MAX_UNREAD:
            raise CommandCrashed(
                f"The agent left more than {MAX_UNREAD:,} bytes unread of what it was told."
            )
        self._stdin.write(content)
        if last:
            self._stdin.close()

    def count(self, size: int) -> None:
        """Count bytes of its output that are no message, such as empty lines; they have a limit."""
        self._beside += size
        if self._beside > MAX_PRINTED:
            raise _printed_too_much()

    async def line(self) -> bytes | None:
        """The next line that it prints and that is not empty; None at the end of its output."""
        while True:
            if self._buffer[:1].isspace():
                before = len(self._buffer)
                self._buffer = self._buffer.lstrip()
                self.count(before - len(self._buffer))
            if (end := self._buffer.find(b"\n")) >= 0 or self._ended:
                break
            await self._fill()
        if end < 0:
            rest, self._buffer = bytes(self._buffer), bytearray()
            return rest or None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    async def output(self) -> bytes:
        """All that it prints, until its end."""
        while not self._ended:
            await self._fill()
        return bytes(self._buffer)

    async def _fill(self) -> None:
        piece = await self._read()
        self._buffer += piece
        self._ended = not piece
        if len(self._buffer) > MAX_LINE:
            self._printed.add(bytes(self._buffer))
            raise CommandCrashed(f"The agent printed a message of more than {MAX_LINE:,} bytes.")

    async def _read(self) -> bytes:
        waits_after_end = 0
        while True:
            with anyio.move_on_after(_SECONDS_TO_LOOK):
                return await self._stdout.read(_PIECE)
            if self._too_much:
                raise _printed_too_much()
            if self.returncode is not None:
                # What it left behind still holds the pipe.
                waits_after_end += 1
                await self._kill_all()
                if waits_after_end > 1:
                    return b""

    async def _drain(self) -> None:
        size = 0
        while piece := await self._stderr.read(_PIECE):
            self._printed.add(piece)
            size += len(piece)
            if size > MAX_PRINTED:
                self._too_much = True
                self._kill()
                return

    async def status(self) -> int:
        """Its exit status; waits for its end."""
        status = await self._end()
        if self._too_much:
            raise _printed_too_much()
        with anyio.move_on_after(_SECONDS_TO_LOOK):  # the last lines may still be on their way
            await asyncio.shield(self._draining)
        return status

    async def _end(self) -> int:
        # asyncio also waits for pipes that others may hold open.
        while self.returncode is None:
            with anyio.move_on_after(_SECONDS_TO_LOOK):
                await self._process.wait()
        return self.returncode

    async def end_input(self, follow: Callable[[bytes], None]) -> None:
        """End its input, and follow what it still prints until it ends, within a second."""
        self._stdin.close()
        with anyio.move_on_after(_SECONDS_TO_END, shield=True), suppress(CommandCrashed):
            while (line := await self.line()) is not None:
                follow(line)
            await self._end()

    async def stop(self) -> None:
        """End it and all that it started."""
        with anyio.CancelScope(shield=True):
            if self.returncode is None:
                # A client of containers passes this on; if it is killed, its container goes on.
                self._signal(signal.SIGTERM)
                with anyio.move_on_after(_SECONDS_TO_END):
                    await self._end()
            await self._kill_all()
            await self._end()
            with anyio.move_on_after(_SECONDS_TO_LOOK):
                await asyncio.shield(self._draining)
            self._draining.cancel()
            await asyncio.gather(self._draining, return_exceptions=True)
            # Without this, pipes that others hold open would stay open here, too.
            transport: Any = getattr(self._process, "_transport", None)
            transport.close()

    async def _kill_all(self) -> None:
        if _KEPT and self.returncode is None:
            self._kill()
            with anyio.move_on_after(_SECONDS_TO_KILL):
                await self._end()
        if not _KEPT or self.returncode is None:
            self._signal(signal.SIGKILL)
        # What has killed its keeper, or stopped it.
        await anyio.to_thread.run_sync(kill_marked, self._mark)

    def _kill(self) -> None:
        self._signal(signal.SIGUSR1 if _KEPT else signal.SIGKILL)  # the keeper's END

    def _signal(self, number: signal.Signals) -> None:
        """Signal its group, or the keeper, which knows what a signal is for."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _not_started(why: str) -> InputError:
    return InputError(f"The agent's command cannot be started: {why}.")


def _printed_too_much() -> CommandCrashed:
    return CommandCrashed(f"The agent printed more than {MAX_PRINTED:,} bytes.")


def ending(status: int) -> CommandCrashed:
    """The error of a command that ended with a status other than 0."""
    if status > 0:
        return CommandCrashed(f"The agent's command ended with status {status}.")
    try:
        name = signal.Signals(-status).name
    except ValueError:  # a real-time signal
        name = f"signal {-status}"
    return CommandCrashed(f"The agent's command was ended by {name}.")
