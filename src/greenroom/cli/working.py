"""Working through a job at the command line: progress, Ctrl-C, budgets, and how to go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.store import CellRecord, JobRecord, Jobs
    from greenroom.trials import Plan, Progress

RecordT = TypeVar("RecordT", bound="CellRecord")

OUT_OF_BUDGET = 3
INTERRUPTED = 130


@dataclass(frozen=True)
class Watcher:
    """What a job calls while it is under way."""

    on_plan: Callable[[Plan[Any, Any]], None]
    on_result: Callable[[Any], None]


def work(
    jobs: Jobs[Any, RecordT, Any],
    job: JobRecord,
    run: Callable[[Watcher], Awaitable[None]],
    standing: Progress,
    value: Callable[[RecordT], float | None],
    *,
    noun: str,
    shown: bool,
    resume: str | None = None,
) -> None:
    """Work through what is left of a job, or say how to go on with it and exit.

    `value` is what a result adds to the figure that `standing` shows; `noun` names the cells.
    `resume` is the command that goes on, where it is not that of the job's kind.
    """
    import anyio

    from greenroom.models import BudgetExhausted

    resume = resume or f"{jobs.kind.resume} {job.name}"
    left = job.planned - len(jobs.finished(job.id))
    try:
        with progress_bar(job.name, left, shown=shown) as advance:

            def note(record: RecordT) -> None:
                standing.add(record, value(record))
                advance(str(standing))

            anyio.run(run, Watcher(on_plan=standing.watch, on_result=note))
    except KeyboardInterrupt:
        _say_how_to_go_on(jobs, job, "Stopped", noun, resume)
        raise typer.Exit(INTERRUPTED) from None
    except BudgetExhausted as spent:
        resume += " --max-cost ... (or --max-tokens-total ...)"
        _say_how_to_go_on(jobs, job, str(spent).rstrip("."), noun, resume)
        raise typer.Exit(OUT_OF_BUDGET) from None


def _say_how_to_go_on(
    jobs: Jobs[Any, Any, Any], job: JobRecord, why: str, noun: str, resume: str
) -> None:
    kept = len(jobs.finished(job.id))
    typer.echo(
        f"\n{why}: {kept} of {job.planned} {noun} are finished and stored. Go on with: {resume}",
        err=True,
    )
