"""`greenroom compare`: is one run or evaluation better than another, or is it chance?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.reporting import FAILED, All, Format, Outcome, Output, find_jobs, show, write
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.store import EvaluationRecord, RunRecord, Store


class Errors(StrEnum):
    """What becomes of episodes without a result."""

    excluded = "excluded"
    as_failures = "as-failures"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    names: Annotated[
        list[str],
        typer.Argument(
            help="The baseline, then what is held against it: runs, or evaluations.",
            metavar="NAME...",
        ),
    ],
    errors: Annotated[
        Errors, typer.Option("--errors", help="Leave broken episodes out, or count them as failed.")
    ] = Errors.excluded,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression", help="Exit with status 1 if any is significantly worse."
        ),
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
    output: Output = None,
    all_: All = False,
    json: Json = False,
) -> None:
    """Compare runs or evaluations with the first, task by task or row by row.

    It says what that proves, which broke and which healed.
    """
    from greenroom.reports.build_comparison import compare_stored
    from greenroom.store import open_store

    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InputError("Name at least two different runs: greenroom compare BASELINE RUN ...")
    store = open_store()
    jobs = find_jobs(store, names)
    _check_same_set(store, jobs)
    report = compare_stored(
        store,
        jobs,
        convention="errors_excluded" if errors is Errors.excluded else "errors_as_failures",
    )
    if markdown and output is None:
        write(report, None, Format.markdown)
    else:
        show(report, Outcome(output=output, json=json, everything=all_))
    if fail_on_regression and report.regressed:
        typer.echo(f"Worse than {jobs[0].name}: {', '.join(report.regressed)}", err=True)
        raise typer.Exit(FAILED)


def _check_same_set(store: Store, jobs: Sequence[RunRecord | EvaluationRecord]) -> None:
    """Refuse what was not played or evaluated on the same tasks or rows."""
    marks = [_set_of(store, job) for job in jobs]
    for job, (mark, words) in zip(jobs[1:], marks[1:], strict=True):
        if mark != marks[0][0]:
            raise InputError(
                f"'{jobs[0].name}' was {marks[0][1]}, '{job.name}' {words}: their "
                f"{'tasks' if 'played' in words else 'rows'} cannot be paired."
            )


def _set_of(store: Store, job: RunRecord | EvaluationRecord) -> tuple[str, str]:
    """What tells a set of tasks or rows from others, and the same in words."""
    from greenroom.store import RunRecord

    if isinstance(job, RunRecord):
        place = f"{job.env} {job.task_split} of {job.pack['name']} {job.pack['version']}"
        return place, f"played on {place}"
    version = store.test_sets.find(job.test_set_id, job.test_set_version)
    return version.content_hash, f"evaluated on {version}"
