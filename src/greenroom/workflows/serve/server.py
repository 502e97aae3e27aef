"""Having a server run: beside a program, or on its own until it is stopped."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import uvicorn
from fastapi import FastAPI

from greenroom.errors import InputError
from greenroom.util.hosts import LOOPBACK, address_of

_BACKLOG = 2048
_SECONDS_TO_END = 3


class _Server(uvicorn.Server):
    """uvicorn's server without its signal handlers: who starts it also ends it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def served(app: FastAPI, *, host: str = LOOPBACK, port: int = 0) -> AsyncGenerator[str]:
    """Serve for as long as the block runs: gives the address; port 0 takes any that is free."""
    listening = _listening(host, port)
    address = address_of(host, int(listening.getsockname()[1]))
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if running.done():
            await running
        yield address
    finally:
        server.should_exit = True
        await asyncio.gather(running, return_exceptions=True)
        listening.close()


@contextmanager
def running_app(app: FastAPI, *, host: str = LOOPBACK, port: int = 0) -> Generator[str]:
    """The same from plain code: the server has a thread of its own."""
    started = threading.Event()
    outcome: list[str | BaseException] = []
    ending: list[Callable[[], object]] = []

    async def serve() -> None:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        async with served(app, host=host, port=port) as address:
            ending.append(lambda: loop.call_soon_threadsafe(end.set))
            outcome.append(address)
            started.set()
            await end.wait()

    def run() -> None:
        try:
            _run(serve)
        except BaseException as error:  # whatever it is, the caller is told
            outcome.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=run, name="workflow-server", daemon=True)
    thread.start()
    started.wait()
    address = outcome[0]
    if isinstance(address, BaseException):
        thread.join()
        raise address
    try:
        yield address
    finally:
        ending[0]()
        thread.join()


def serve_until_stopped(
    app: FastAPI,
    *,
    host: str,
    port: int,
    announce: Callable[[str], object],
    close: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` is told the address, `close` ends what is open."""

    async def serve() -> None:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # not on Windows, where Ctrl-C raises instead
                loop.add_signal_handler(number, end.set)
        try:
            async with served(app, host=host, port=port) as address:
                announce(address)
                await end.wait()
        finally:
            if close is not None:
                await close()

    _run(serve)


def _run(main: Callable[[], Awaitable[Any]]) -> None:
    async def run() -> None:
        await main()

    try:
        from uvloop import new_event_loop
    except ImportError:  # it does not exist for Windows
        new_event_loop = None
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(run())


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}): pass another "
            "--port, or 0 for any that is free."
        ) from error
    listening.setblocking(False)
    return listening
