"""What the requests of a playground share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeVar

import anyio
from anyio import to_thread
from fastapi import Depends, Request

from greenroom.playground.changes import Changes
from greenroom.playground.known_workflows import KnownWorkflows
from greenroom.playground.live_turns import LiveTurns
from greenroom.playground.open_targets import OpenTargets
from greenroom.playground.rewind_jobs import RewindJobs
from greenroom.playground.run_index import RunIndexes
from greenroom.playground.simulations import Simulations
from greenroom.store import Store

_STORE_THREADS = 16

T = TypeVar("T")


@dataclass(frozen=True)
class Playground:
    """An open playground."""

    store: Store
    sources: Sequence[str] = ()
    """Workflows that were named at the start: files, modules and addresses."""

    @cached_property
    def workflows(self) -> KnownWorkflows:
        """The workflows that people can talk to."""
        return KnownWorkflows(self)

    @cached_property
    def targets(self) -> OpenTargets:
        """The workflows that are open, by address."""
        return OpenTargets(self.workflows.open)

    @cached_property
    def changes(self) -> Changes:
        """Tells the pages what changes."""
        return Changes(self)

    @cached_property
    def live(self) -> LiveTurns:
        """The turns that run here."""
        return LiveTurns(self)

    @cached_property
    def simulations(self) -> Simulations:
        """The simulated users that talk to threads here."""
        return Simulations(self)

    @cached_property
    def rewinds(self) -> RewindJobs:
        """The trials from turns of stored episodes that are played here."""
        return RewindJobs(self.store)

    @cached_property
    def run_indexes(self) -> RunIndexes:
        """What is known of the runs that pages showed last."""
        return RunIndexes(self.store)

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(_STORE_THREADS)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run turns, keep targets open and tell changes while the block runs."""
        async with (
            self.changes.running(),
            self.targets.running(),
            self.live.running(),
            self.simulations.running(),
            self.rewinds.running(),
        ):
            yield

    def end(self) -> None:
        """End all streams, so that the server can stop at once."""
        self.changes.end()
        self.live.end()

    async def in_store(self, ask: Callable[..., T], *given: Any) -> T:
        """What a function of the store returns; it runs in a thread that only the store uses."""
        return await to_thread.run_sync(ask, *given, limiter=self._threads)


def playground_of(request: Request) -> Playground:
    """The playground that a request came to."""
    return request.app.state.playground


InPlayground = Annotated[Playground, Depends(playground_of)]
"""A route's parameter: the playground."""
