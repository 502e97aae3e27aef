"""`greenroom compare`: is one run or evaluation better than another, or is it chance?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, RepeatedListsCommand
from greenroom.cli.output import echo
from greenroom.cli.reporting import FAILED, Format, ReportOptions, show, write
from greenroom.cli.result_files import Env, opened_jobs
from greenroom.errors import InputError
from greenroom.options import checked


class Errors(StrEnum):
    """What becomes of episodes without a result."""

    excluded = "excluded"
    as_failures = "as-failures"


app = typer.Typer()


@app.command(cls=RepeatedListsCommand)
@takes(ReportOptions, only=("output", "all", "exclude_tasks"))
def compare(
    fields: dict[str, Any],
    names: Annotated[
        list[str],
        typer.Argument(
            help="The baseline, then what is compared with it: runs or Tau Bench result files, or "
            "evaluations.",
            metavar="NAME...",
        ),
    ],
    env: Env = "retail",
    errors: Annotated[
        Errors, typer.Option("--errors", help="Leave broken episodes out, or count them as failed.")
    ] = Errors.excluded,
    detect: Annotated[
        float,
        typer.Option(
            "--detect",
            help="The difference in pass^1 worth finding: it says how likely that was, and what "
            "it takes.",
            min=0.001,
            max=1.0,
        ),
    ] = 0.05,
    margin: Annotated[
        float,
        typer.Option(
            "--equal-within",
            help="The difference in pass^1, or in mean scores, up to which two count as equal.",
            min=0.001,
            max=1.0,
        ),
    ] = 0.05,
    equal_tasks: Annotated[
        bool,
        typer.Option(
            "--equal-tasks",
            help="Runs of different task sets: compare the tasks that are equal in all of them.",
        ),
    ] = False,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression", help="Exit with status 1 if any is significantly worse."
        ),
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare runs or evaluations with the first, task by task or row by row.

    It says what that proves, which broke and which healed.
    """
    from greenroom.reports.build_comparison import compare_stored

    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InputError("Name at least two different ones: greenroom compare BASELINE OTHER ...")
    outcome = checked(ReportOptions, fields)
    with opened_jobs(names, env) as (store, jobs):
        report = compare_stored(
            store,
            jobs,
            convention="errors_excluded" if errors is Errors.excluded else "errors_as_failures",
            detect=detect,
            margin=margin,
            equal_tasks=equal_tasks,
            without=outcome.exclude_tasks or (),
        )
    if markdown and outcome.output is None:
        write(report, None, Format.markdown)
    else:
        show(report, outcome, json=json)
    if fail_on_regression and report.regressed:
        echo(f"Worse than {jobs[0].name}: {', '.join(report.regressed)}", err=True)
        raise typer.Exit(FAILED)
