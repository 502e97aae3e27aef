"""Running a server: beside a program, or until it is stopped."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from importlib.util import find_spec

import anyio
import uvicorn
from anyio.from_thread import start_blocking_portal
from starlette.types import ASGIApp

from greenroom.errors import InputError
from greenroom.tracing import spans
from greenroom.util.hosts import LOOPBACK, address_of
from greenroom.workflows.serve.connections import Connections, GuardedProtocol

_BACKLOG = 2048
_SEND_BUFFER = 64 << 10  # by default, the kernel takes megabytes for a client that reads nothing
SECONDS_TO_END = 3
_TICKS_TO_SWEEP = 10  # a second
_LOOP = {"use_uvloop": find_spec("uvloop") is not None}  # there is none for Windows


class _Server(uvicorn.Server):
    """uvicorn's server with limits for connections, and without its signal handlers."""

    server_state: Connections

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = Connections()
        self.ready = asyncio.Event()

    async def on_tick(self, counter: int) -> bool:
        if self.should_exit or counter % _TICKS_TO_SWEEP == 0:
            self.server_state.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.server_state.close_idle()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def served(
    app: ASGIApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    seconds_to_end: int = SECONDS_TO_END,
    keep_alive: int = 5,
    on_end: Callable[[], object] | None = None,
) -> AsyncGenerator[str]:
    """Serve while the block runs; gives the address. Port 0 takes any free port.

    A connection without a request is closed after `keep_alive` seconds.

    At the end of the block, `on_end` may end streams that would go on for ever. Calls that still
    run are cancelled after some seconds.
    """
    spans.begin()
    listening = _listening(host, port)
    address = address_of(host, int(listening.getsockname()[1]))
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="error",  # Connections tells what clients do wrong, a line a second at most
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=GuardedProtocol,
        ws="none",
        backlog=_BACKLOG,
        timeout_keep_alive=keep_alive,
        timeout_graceful_shutdown=seconds_to_end,
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
        if on_end is not None:
            on_end()
        server.should_exit = True
        await asyncio.gather(running, return_exceptions=True)
        listening.close()
        await spans.flush()


@contextmanager
def running_app(
    app: ASGIApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    seconds_to_end: int = SECONDS_TO_END,
    on_end: Callable[[], object] | None = None,
) -> Generator[str]:
    """The same from plain code: the server runs in a thread of its own."""
    with (
        start_blocking_portal(backend_options=_LOOP) as portal,
        portal.wrap_async_context_manager(
            served(app, host=host, port=port, seconds_to_end=seconds_to_end, on_end=on_end)
        ) as address,
    ):
        yield address


def serve_until_stopped(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    announce: Callable[[str], object],
    within: AbstractAsyncContextManager[object] | None = None,
    on_end: Callable[[], object] | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM, within a context; `announce` gets the address."""

    async def serve() -> None:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows has no signal handlers: Ctrl-C raises
                loop.add_signal_handler(number, end.set)
        serving = served(app, host=host, port=port, on_end=on_end)
        async with within or nullcontext(), serving as address:
            announce(address)
            await end.wait()

    anyio.run(serve, backend_options=_LOOP)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small pieces at once: they waited 40 ms otherwise.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}): pass another "
            "--port, or 0 for any free one."
        ) from error
    listening.setblocking(False)
    return listening
