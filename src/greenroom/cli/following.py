"""How a job stands that other processes work on: progress, rate, workers, and what takes long."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.store import JobRecord, Jobs
    from greenroom.store.workers import ClaimedCell, WorkerStanding

_RATE_SECONDS = 60.0
_LONG_AGO = 4.0
"""A cell takes long that a worker has had for so many times the mean, and a minute at least."""
_AT_LEAST = 60.0


@dataclass(frozen=True)
class Standing:
    """How a job stands."""

    finished: int
    mean: float | None
    cost: float | None
    workers: tuple[WorkerStanding, ...]
    paused: bool
    usual: float | None
    """How many seconds a cell takes on average."""
    long: tuple[ClaimedCell, ...]
    """Cells that take much longer than others do."""
    rate: float | None = None
    """Results a second within the last minute."""

    def note(self, figure: str) -> str:
        """It as a few words."""
        parts: list[str] = []
        if self.mean is not None and figure:
            parts.append(f"{figure} {self.mean:.2f}")
        if self.cost:
            parts.append(f"${self.cost:.2f}")
        if self.rate:
            parts.append(f"{self.rate:.1f}/s")
        parts.append(f"{len(self.workers)} worker{'' if len(self.workers) == 1 else 's'}")
        if self.paused:
            parts.append("paused")
        if self.long:
            parts.append(f"{len(self.long)} taking long")
        return ", ".join(parts)

    def said_of(self, one: ClaimedCell, place: str) -> str:
        """That a cell takes long, in a sentence."""
        return (
            f"{place[0].upper()}{place[1:]} has been with {one.worker} for {_span(one.seconds)}; "
            f"others took {_span(self.usual or 0.0)} on average."
        )


@dataclass
class Follower:
    """Looks at a job again and again."""

    jobs: Jobs[Any, Any, Any]
    job: JobRecord
    _seen: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])

    def look(self) -> Standing:
        """How the job stands just now, counted by the database."""
        jobs, job_id = self.jobs, self.job.id
        # Asked before counting: what was finished in between is then counted too.
        workers = tuple(jobs.workers.standings(job_id))
        standing = jobs.pages.standing(job_id)
        finished, mean = (0, None) if standing is None else (standing.finished, standing.mean)
        usual = jobs.pages.mean_seconds(job_id) if workers else None
        long: list[ClaimedCell] = []
        if usual is not None:
            long = jobs.workers.claimed_for(job_id, max(_LONG_AGO * usual, _AT_LEAST))
        return Standing(
            finished,
            mean,
            jobs.pages.cost(job_id),
            workers,
            jobs.controls.of(job_id).paused,
            usual,
            tuple(long),
            self._rate(finished),
        )

    def _rate(self, finished: int) -> float | None:
        now = time.monotonic()
        self._seen.append((now, finished))
        while now - self._seen[0][0] > _RATE_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        return (finished - before) / (now - since) if now > since else None


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
