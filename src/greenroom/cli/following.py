"""How a job stands that other processes work on: progress, rate, workers, and what takes long."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.cli.long_cells import LongCells
    from greenroom.store import JobRecord, Jobs
    from greenroom.store.workers import WorkerStanding

_RATE_SECONDS = 60.0


@dataclass(frozen=True)
class Standing:
    """How a job stands."""

    finished: int
    mean: float | None
    cost: float | None
    """Attempts without a result included."""
    workers: tuple[WorkerStanding, ...]
    paused: bool
    long: LongCells
    rate: float | None = None
    """Results a second within the last minute."""
    max_cost: float | None = None
    waiting: bool = False
    """Cells wait for workers, or have been claimed by some."""

    def note(self, figure: str) -> str:
        """It as a few words."""
        parts: list[str] = []
        if self.mean is not None and figure:
            parts.append(f"{figure} {self.mean:.2f}")
        if self.cost or self.max_cost is not None:
            most = "" if self.max_cost is None else f" of ${self.max_cost:.2f}"
            parts.append(f"${self.cost or 0.0:.2f}{most}")
        if self.rate:
            parts.append(f"{self.rate:.1f}/s")
        parts.append(f"{len(self.workers)} worker{'' if len(self.workers) == 1 else 's'}")
        if self.paused:
            parts.append("paused")
        if self.long.cells:
            parts.append(f"{len(self.long.cells)} taking long")
        return ", ".join(parts)


@dataclass
class Follower:
    """Looks at a job again and again."""

    jobs: Jobs[Any, Any, Any]
    job: JobRecord
    _seen: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])
    _attempts: tuple[float, int] = (0.0, 0)

    def look(self) -> Standing:
        """How the job stands just now, counted by the database."""
        from greenroom.cli.long_cells import long_cells

        jobs, job_id = self.jobs, self.job.id
        # Asked before counting: what was finished in between is then counted too.
        workers = tuple(jobs.workers.standings(job_id))
        standing = jobs.pages.standing(job_id)
        finished, mean = (0, None) if standing is None else (standing.finished, standing.mean)
        control = jobs.controls.of(job_id)
        return Standing(
            finished,
            mean,
            self._cost(),
            workers,
            control.paused,
            long_cells(jobs, job_id, workers),
            self._rate(finished),
            (self.job.config | control.config).get("max_cost"),
            jobs.workers.last_place(job_id) >= 0,
        )

    def _cost(self) -> float | None:
        more, last = self.jobs.attempts_cost(self.job.id, self._attempts[1])
        self._attempts = self._attempts[0] + more, last
        cost = self.jobs.pages.cost(self.job.id)
        return cost if not self._attempts[0] else (cost or 0.0) + self._attempts[0]

    def _rate(self, finished: int) -> float | None:
        now = time.monotonic()
        self._seen.append((now, finished))
        while now - self._seen[0][0] > _RATE_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        return (finished - before) / (now - since) if now > since else None
