"""Run the scripted model server: in an event loop, in a thread, or as a program."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from greenroom.domains.domain import Domain
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.model_server.server import ScriptedModels, ServerSettings, Stats
from greenroom.util.hosts import address_of, check_host
from greenroom.workflows import serve


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
    models = _models(domain, split, settings or ServerSettings())
    host, port = models.settings.host, models.settings.port
    async with serve.served(models.app, host=host, port=port, seconds_to_end=1) as address:
        yield _running(models, address)


@contextmanager
def running_server(
    domain: Domain, split: str = DEFAULT_SPLIT, *, settings: ServerSettings | None = None
) -> Generator[RunningServer]:
    """Like `scripted_server`, for synchronous code: the server runs in its own thread."""
    models = _models(domain, split, settings or ServerSettings())
    host, port = models.settings.host, models.settings.port
    with serve.running_app(models.app, host=host, port=port, seconds_to_end=1) as address:
        yield _running(models, address)


def serve_until_stopped(
    domain: Domain,
    split: str,
    settings: ServerSettings,
    announce: Callable[[RunningServer], object],
) -> Stats:
    """Serve until Ctrl-C or SIGTERM; return the counters."""
    models = _models(domain, split, settings)
    serve.serve_until_stopped(
        models.app,
        host=settings.host,
        port=settings.port,
        announce=lambda address: announce(_running(models, address)),
    )
    return models.stats


def _models(domain: Domain, split: str, settings: ServerSettings) -> ScriptedModels:
    check_host(settings.host, settings.token)
    return ScriptedModels(domain, split, settings)


def _running(models: ScriptedModels, address: str) -> RunningServer:
    port = int(address.rpartition(":")[2])
    return RunningServer(models.settings.host, port, models.stats)
