"""A job under way: calls of the store that wait for it, and what could not be stored."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from greenroom.store import CellRecord, JobRecord, Jobs, Patience, StoreError, Usage

_STORE_THREADS = 4

P = ParamSpec("P")
R = TypeVar("R")
RecordT = TypeVar("RecordT", bound=CellRecord)
JobT = TypeVar("JobT", bound=JobRecord)


@dataclass(frozen=True)
class JobWork(Generic[JobT, RecordT]):
    """A job under way."""

    jobs: Jobs[JobT, RecordT, Any]
    job: JobT
    on_result: Callable[[RecordT], None]
    threads: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(_STORE_THREADS)
    )
    """The store's own threads: functions that block all others do not block commits."""
    unstored: list[Usage] = field(default_factory=list[Usage])
    """What was used and could not be stored."""

    @cached_property
    def patience(self) -> Patience:
        """How long the store's calls wait while the database is away."""
        return Patience(f"{self.jobs.kind.resume} {self.job.name}")

    async def in_store(self, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        """Call the store in a thread; wait if it is away."""
        call = partial(function, *arguments, **named)
        return await anyio.to_thread.run_sync(self.patience.call, call, limiter=self.threads)

    @contextmanager
    def telling(self, usage: dict[str, Usage]) -> Generator[None]:
        """Remember what was used if the block fails to store it."""
        try:
            yield
        except BaseException:
            self.unstored.extend(usage.values())
            raise

    def account(self, error: StoreError) -> StoreError:
        """The error that ends the job, with what was used and is not stored."""
        used = Usage.total(self.unstored)
        calls = f"{used.calls} calls with {used.tokens:,} tokens"
        told = f"{error}\nNot stored, although they may be billed: {calls}."
        return type(error)(told) if used.calls else error
