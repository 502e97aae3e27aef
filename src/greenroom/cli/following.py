"""How a job stands that other processes work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.store import JobRecord, Jobs


@dataclass(frozen=True)
class Standing:
    """How a job stands."""

    finished: int
    mean: float | None
    cost: float | None
    workers: int

    def note(self, figure: str) -> str:
        """It as a few words."""
        parts: list[str] = []
        if self.mean is not None and figure:
            parts.append(f"{figure} {self.mean:.2f}")
        if self.cost:
            parts.append(f"${self.cost:.2f}")
        parts.append(f"{self.workers} worker{'' if self.workers == 1 else 's'}")
        return ", ".join(parts)


def look(jobs: Jobs[Any, Any, Any], job: JobRecord) -> Standing:
    """How a job stands just now, counted by the database."""
    # Asked before counting: what was finished in between is then counted too.
    workers = len(jobs.workers.standings(job.id))
    standing = jobs.pages.standing(job.id)
    finished, mean = (0, None) if standing is None else (standing.finished, standing.mean)
    return Standing(finished, mean, jobs.pages.cost(job.id), workers)
