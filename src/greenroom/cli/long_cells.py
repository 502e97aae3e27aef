"""Cells that take much longer than others do: found, and told once each with what can be done."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from greenroom.cli.output import echo

if TYPE_CHECKING:
    from greenroom.cli.operating import Operated
    from greenroom.store import CellKey, JobRecord, Jobs
    from greenroom.store.workers import ClaimedCell

_LONG_AGO = 4.0
"""A cell takes long that a worker has had for so many times the mean, and a minute at least."""
_AT_LEAST = 60.0
_WITHOUT_RESULTS = 300.0
"""Seconds: the same as long as no cell has a result."""
_LOOK_SECONDS = 10.0


@dataclass(frozen=True)
class LongCells:
    """Cells that take much longer than others do."""

    usual: float | None = None
    """How many seconds a cell takes on average; None as long as none has a result."""
    cells: tuple[ClaimedCell, ...] = ()


def long_cells(jobs: Jobs[Any, Any, Any], job_id: str, workers: Sequence[object]) -> LongCells:
    """The cells of a job that take long with its workers."""
    if not workers:
        return LongCells()
    usual = jobs.pages.mean_seconds(job_id)
    seconds = _WITHOUT_RESULTS if usual is None else max(_LONG_AGO * usual, _AT_LEAST)
    return LongCells(usual, tuple(jobs.workers.claimed_for(job_id, seconds)))


@dataclass
class LongCellsTeller:
    """Tells of each cell once that it takes long, and once what can be done."""

    kind: Operated
    what_to_do: str
    _told: set[tuple[CellKey, str]] = field(default_factory=set[tuple["CellKey", str]])

    def tell(self, found: LongCells) -> None:
        """Tell what is new."""
        for one in found.cells:
            if (one.key, one.worker) in self._told:
                continue
            place = self.kind.place(one.key)
            others = "no other has a result yet"
            if found.usual is not None:
                others = f"others took {_span(found.usual)} on average"
            echo(
                f"{place[0].upper()}{place[1:]} has been with {one.worker} for "
                f"{_span(one.seconds)}; {others}.",
                err=True,
            )
            if not self._told:
                echo(f"{self.what_to_do}{self.kind.limit_hint}", err=True)
            self._told.add((one.key, one.worker))


OTHERS_PLAY = "If it hangs, end that process: what it has under way is begun again by another one."


@contextmanager
def telling_of_long_cells(
    jobs: Jobs[Any, Any, Any], job: JobRecord, kind: Operated, *, shown: bool
) -> Generator[None]:
    """Tell of cells that take long while this process works on the job in the block."""
    if not shown:
        yield
        return
    from greenroom.store import StoreError

    go_on = f"{jobs.kind.resume} {job.name}"
    teller = LongCellsTeller(kind, f"If it hangs, press Ctrl-C: '{go_on}' begins it again.")
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            with suppress(StoreError):
                teller.tell(long_cells(jobs, job.id, jobs.workers.standings(job.id)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
