"""Run the scripted model server: in an event loop, in a thread, or as a program."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from anyio.from_thread import start_blocking_portal

from greenroom.domains.domain import Domain
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.errors import InputError
from greenroom.model_server.server import ScriptedModels, ServerSettings, Stats
from greenroom.util.hosts import address_of, check_host

_LARGEST_REQUEST = 64 << 20
_SHUTDOWN_SECONDS = 0.2


@dataclass(frozen=True)
class RunningServer:
    """A running server's address and counters."""

    host: str
    port: int
    stats: Stats

    @property
    def address(self) -> str:
        """Its URL, as seen from this machine."""
        return address_of(self.host, self.port)

    @property
    def api_base(self) -> str:
        """The URL that clients use as their API base."""
        return f"{self.address}/v1"


@asynccontextmanager
async def scripted_server(
    domain: Domain, split: str = DEFAULT_SPLIT, *, settings: ServerSettings | None = None
) -> AsyncGenerator[RunningServer]:
    """Serve a domain's tasks while the block runs."""
    settings = settings or ServerSettings()
    host, port = settings.host, settings.port
    check_host(host, settings.token)
    models = ScriptedModels(domain, split, settings)
    loop = asyncio.get_running_loop()

    def read(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_REQUEST
        )

    server = web.Server(
        models.handle, request_factory=read, handler_cancellation=True, access_log=None
    )
    runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=1024).start()
        except OSError as error:
            raise InputError(
                f"Port {port} of {host} cannot be used ({error.strerror or error}): pass another "
                "--port, or 0 for any free port."
            ) from error
        yield RunningServer(host, int(runner.addresses[0][1]), models.stats)
    finally:
        await runner.cleanup()


@contextmanager
def running_server(
    domain: Domain, split: str = DEFAULT_SPLIT, *, settings: ServerSettings | None = None
) -> Generator[RunningServer]:
    """Like `scripted_server`, for synchronous code: the server runs in its own thread."""
    serving = scripted_server(domain, split, settings=settings)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving) as server:
        yield server


def serve_until_stopped(
    domain: Domain,
    split: str,
    settings: ServerSettings,
    announce: Callable[[RunningServer], object],
) -> Stats:
    """Serve until Ctrl-C or SIGTERM; return the counters."""

    async def serve() -> Stats:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # not on Windows, where Ctrl-C raises instead
                loop.add_signal_handler(number, end.set)
        async with scripted_server(domain, split, settings=settings) as server:
            announce(server)
            await end.wait()
            return server.stats

    return asyncio.run(serve())
