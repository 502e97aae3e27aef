"""What the commands for runs, evaluations and comparisons have in common: options and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.output import console
from greenroom.errors import InputError, UnknownName
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from greenroom.reports.sections import Report
    from greenroom.store import EvaluationRecord, JobRecord, Jobs, RunRecord, Store

FAILED = 1
"""The exit status where a gate fails, or a run or an evaluation is worse than it was."""

Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        help="What has to hold, such as 'pass^1>=0.8'; else the exit status is 1. May be given "
        "several times.",
        metavar="GATE",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Gates look at the plain figures, and not at intervals."),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Write the results as JUnit XML.", metavar="FILE")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Show the figures by tag, kind or tool (runs), or by a column (evaluations). May be "
        "given several times.",
        metavar="WHAT",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write a file instead; its ending says the form: .html, .md, .json, .xml, .csv, "
        ".parquet or .jsonl.",
        metavar="FILE",
    ),
]
All = Annotated[bool, typer.Option("--all", help="Show every section and every row.")]
Failures = Annotated[int, typer.Option("--failures", help="How many failures to explain.", min=0)]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


class Format(StrEnum):
    """The forms that a run or an evaluation can be exported in."""

    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    markdown = "markdown"
    html = "html"
    junit = "junit"
    tau_bench = "tau-bench"


Form = Annotated[
    Format | None,
    typer.Option("--format", help="The form to write; by default that of the file, or JSON."),
]


@dataclass(frozen=True)
class Outcome:
    """What is wanted of a report."""

    gates: Sequence[str] | None = None
    """None: those that it was begun with."""
    strict: bool | None = None
    by: Sequence[str] = ()
    junit: Path | None = None
    output: Path | None = None
    json: bool = False
    everything: bool = False
    failures: int | None = None
    """How many failures are explained; None for a few."""


def deliver(store: Store, job: RunRecord | EvaluationRecord, outcome: Outcome) -> None:
    """Print the report of a run or an evaluation, or write it; exit by its gates."""
    report = reported(store, job, outcome)
    show(report, outcome)
    finish(report)


def reported(store: Store, job: RunRecord | EvaluationRecord, outcome: Outcome) -> Report:
    """The report, with JUnit XML written beside it if that is wanted."""
    from greenroom.reports.build import build_report
    from greenroom.reports.forms import render

    report = build_report(store, job, gates=outcome.gates, strict=outcome.strict, by=outcome.by)
    if outcome.junit is not None:
        write_whole(outcome.junit, render(report, "junit"))
    return report


def show(report: Report, outcome: Outcome) -> None:
    """Print a report, or write the file that is wanted."""
    if outcome.output is not None:
        write(report, outcome.output)
    elif outcome.json:
        write(report, None, Format.json)
    else:
        from greenroom.reports.console import print_report

        print_report(
            report, console(), everything=outcome.everything, max_failures=outcome.failures
        )


def write(report: Report, output: Path | None, form: Format | None = None) -> None:
    """Write a report to a file, or print it."""
    from greenroom.reports.forms import form_of, render

    by_ending = Format.json if output is None or form else form_of(output.suffix)
    name = str(form or by_ending)
    content = render(report, name)
    if output is not None:
        write_whole(output, content)
        typer.echo(f"Wrote {output}")
    elif isinstance(content, bytes):
        raise InputError(f"A {name} file cannot be printed: name one with -o FILE.")
    else:
        # Half a surrogate pair is no character: no stream takes it.
        typer.echo(content.encode("utf-8", "replace").decode().rstrip("\n"))


def finish(report: Report) -> None:
    """Exit with the status that the gates ask for."""
    if not report.holds:
        raise typer.Exit(FAILED)


def print_jobs(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], right: str
) -> None:
    """A table of runs or evaluations; texts are never read as markup."""
    from rich.table import Table
    from rich.text import Text

    from greenroom.reports.texts import one_line

    table = Table(title=Text(one_line(title)), title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="right" if heading == right else "left")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console().print(table)


def delete_job(jobs: Jobs[Any, Any, Any], job: JobRecord, noun: str, *, yes: bool) -> None:
    """Delete a run or an evaluation, after asking."""
    if not yes:
        done = len(jobs.finished(job.id))
        typer.confirm(f"Delete '{job.name}' with {done} {noun}?", abort=True)
    jobs.delete(job)
    typer.echo(f"Deleted {job.name}")


def find_jobs(
    store: Store, names: Sequence[str]
) -> Sequence[RunRecord] | Sequence[EvaluationRecord]:
    """The runs, or the evaluations, of these names; both together are refused."""
    runs = [run for name in names if (run := _found(store.runs, name)) is not None]
    if len(runs) == len(names):
        return runs
    found = [one for name in names if (one := _found(store.evaluations, name)) is not None]
    if len(found) == len(names):
        return found
    if runs and found and not {one.name for one in runs} & {one.name for one in found}:
        raise InputError(
            f"'{runs[0].name}' is a run and '{found[0].name}' an evaluation: they have nothing in "
            "common that could be compared."
        )
    jobs = store.evaluations if found else store.runs
    for name in names:
        jobs.find(name)
    raise AssertionError("one of the names is unknown")


def _found(jobs: Jobs[Any, Any, Any], name: str) -> Any:
    try:
        return jobs.find(name)
    except UnknownName:
        return None
