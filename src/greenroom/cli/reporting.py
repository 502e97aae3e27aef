"""What the commands for runs, evaluations and comparisons have in common: options and reports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import Field

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, RepeatedListsCommand
from greenroom.cli.output import confirm, console, echo, print_json, print_table, printable
from greenroom.errors import InputError, UnknownName
from greenroom.options import Config, ExcludedTasks, Flag, checked
from greenroom.util.characters import writable
from greenroom.util.files import check_directory, write_whole

if TYPE_CHECKING:
    from greenroom.reports.sections import Report
    from greenroom.store import EvaluationRecord, JobRecord, Jobs, RunRecord, Store

JobT = TypeVar("JobT", bound="JobRecord")
Find = Callable[[str], "tuple[Store, Jobs[Any, Any, Any], Any]"]
"""Finds a run or an evaluation in the store by its name."""

Name = Annotated[str, typer.Argument(help="The name or id of it.", metavar="NAME")]
FAILED = 1
"""The exit status where a gate fails, or a run or an evaluation is worse than it was."""


class ReportOptions(Config):
    """What is wanted of a report."""

    by: Annotated[list[str], Flag(metavar="WHAT")] = Field(
        default_factory=list[str],
        description="Show the figures by tag, kind or tool (runs), or by a column (evaluations). "
        "May be given several times.",
    )
    audit: bool = Field(
        default=False,
        description="Audit the simulated users, too: every conversation is read.",
    )
    gates: Annotated[list[str] | None, Flag(metavar="GATE")] = Field(
        default=None,
        description="What has to hold, such as 'pass^1>=0.8'; else the exit status is 1. May be "
        "given several times. By default those that it was begun with.",
    )
    strict: bool | None = Field(
        default=None, description="Gates look at the plain figures, and not at intervals."
    )
    junit: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="Write the results as JUnit XML."
    )
    output: Annotated[Path | None, Flag(also=("-o",), metavar="FILE")] = Field(
        default=None,
        description="Write a file instead; its ending says the form: .html, .md, .json, .xml, "
        ".csv, .parquet or .jsonl.",
    )
    exclude_tasks: Annotated[ExcludedTasks | None, Flag(metavar="FILE | N,N,...", typed=str)] = (
        Field(
            default=None,
            description="Look at a run without these tasks: the findings of an audit, a file that "
            "lists places, or places.",
        )
    )
    failures: Annotated[int, Field(ge=0)] = Field(
        default=5, description="How many failures to explain."
    )
    all: bool = Field(default=False, description="Show every section and every row.")


def report_options(
    junit: Path | None, output: Path | None, by: Sequence[str] | None = None
) -> ReportOptions:
    """What a command that first does the work is asked for; a wrong file name is refused now."""
    if output is not None:
        from greenroom.reports.forms import form_of

        form_of(output.suffix)
    for path in (junit, output):
        if path is not None:
            check_directory(path)
    return ReportOptions(junit=junit, output=output, by=list(by or ()))


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
    tau2 = "tau2"
    inspect = "inspect"
    atif = "atif"


RECORDS = (Format.csv, Format.parquet, Format.jsonl, Format.tau_bench, Format.atif)
"""These hold the records, and nothing that has to be measured."""


def report_commands(app: typer.Typer, find: Find, noun: str, cells: str) -> None:
    """Add `report`, `check`, `export` and `delete`: the same for runs and for evaluations."""

    # An evaluation has rows, and no tasks.
    others = () if cells == "episodes" else ("exclude_tasks",)

    @takes(ReportOptions, without=("all", "failures", *others), defaults={"output": "report.html"})
    def report(fields: dict[str, Any], name: Name) -> None:
        _deliver(find, name, fields)

    @takes(ReportOptions, without=("by", "output", "failures", "all", *others))
    def check(fields: dict[str, Any], name: Name, json: Json = False) -> None:
        _deliver(find, name, fields, json=json)

    @takes(ReportOptions, without=("all", "failures", *others))
    def export(
        fields: dict[str, Any],
        name: Name,
        format: Annotated[  # noqa: A002
            Format | None,
            typer.Option(
                "--format", help="The form to write; by default that of the file, or JSON."
            ),
        ] = None,
    ) -> None:
        from greenroom.reports.forms import form_of

        outcome = checked(ReportOptions, fields)
        if format is None and outcome.output is not None:
            format = Format(form_of(outcome.output.suffix))  # noqa: A001
        store, _, job = find(name)
        _tell_pruned(store, job)
        if format == Format.tau2:
            from greenroom.cli.simulations import export_simulations

            export_simulations(store, job, outcome.output)
            return
        found = reported(store, job, outcome, format)
        write(found, outcome.output, format)
        finish(found)

    def delete(
        name: Name, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
    ) -> None:
        _, jobs, job = find(name)
        if not yes:
            done = len(jobs.finished(job.id))
            confirm(f"Delete '{job.name}' with {done} {cells}?")
        jobs.delete(job)
        echo(f"Deleted {job.name}")

    commands: tuple[tuple[Callable[..., None], str], ...] = (
        (report, f"Write the report of {noun}: by default a page that needs only a browser."),
        (check, f"Hold gates against {noun}; the exit status is 1 if one fails."),
        (export, f"Export {noun}: everything as JSON, records as a table, or a report."),
        (delete, f"Delete {noun} with all its {cells}."),
    )
    for command, summary in commands:
        command.__doc__ = summary
        app.command(cls=RepeatedListsCommand)(command)


def _tell_pruned(store: Store, job: RunRecord | EvaluationRecord) -> None:
    from greenroom.reports.texts import plural
    from greenroom.store import RunRecord
    from greenroom.store.aggregates import pruned_digests

    if isinstance(job, RunRecord) and (pruned := len(pruned_digests(store.engine, job.id))):
        are = "is" if pruned == 1 else "are"
        told = f"{plural(pruned, 'conversation')} of {job.name} {are} pruned, and empty here"
        echo(told, err=True)


def _deliver(find: Find, name: str, fields: dict[str, Any], *, json: bool = False) -> None:
    store, _, job = find(name)
    deliver(store, job, checked(ReportOptions, fields), json=json)


def deliver(
    store: Store, job: RunRecord | EvaluationRecord, outcome: ReportOptions, *, json: bool = False
) -> None:
    """Print the report of a run or an evaluation, or write it; exit by its gates."""
    report = reported(store, job, outcome)
    show(report, outcome, json=json)
    finish(report)


def reported(
    store: Store,
    job: RunRecord | EvaluationRecord,
    outcome: ReportOptions,
    form: Format | None = None,
) -> Report:
    """The report, with JUnit XML written beside it if that is wanted."""
    from greenroom.reports.build import build_report, records_report
    from greenroom.reports.forms import pieces

    gates = job.config.get("gates") if outcome.gates is None else outcome.gates
    wanted = gates or outcome.by or outcome.junit
    if form in RECORDS and not wanted:
        return records_report(store, job, outcome.exclude_tasks or ())
    report = build_report(
        store,
        job,
        gates=outcome.gates,
        strict=outcome.strict,
        by=outcome.by,
        without=outcome.exclude_tasks or (),
        audit=outcome.audit,
    )
    if outcome.junit is not None:
        write_whole(outcome.junit, pieces(report, "junit"))
    return report


def show(report: Report, outcome: ReportOptions, *, json: bool = False) -> None:
    """Print a report, or write the file that is wanted."""
    if outcome.output is not None:
        write(report, outcome.output)
    elif json:
        write(report, None, Format.json)
    else:
        from greenroom.reports.console import print_report

        print_report(report, console(), everything=outcome.all, max_failures=outcome.failures)


def write(
    report: Report, output: Path | None, form: Format | None = None, *, told_on_stderr: bool = False
) -> None:
    """Write a report to a file, or print it."""
    from greenroom.reports.forms import form_of, pieces

    by_ending = Format.json if output is None or form else form_of(output.suffix)
    name = str(form or by_ending)
    if output is not None:
        write_whole(output, pieces(report, name))
        echo(f"Wrote {output}", err=told_on_stderr)
        return
    if name == Format.parquet:
        raise InputError(f"A {name} file cannot be printed: name one with -o FILE.")
    last = ""
    for piece in pieces(report, name):
        _print_piece(last)
        last = writable(str(piece))
    _print_piece(last.rstrip("\n") + "\n")


def _print_piece(text: str) -> None:
    # A file gets what there is; a terminal would obey it.
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def finish(report: Report) -> None:
    """Exit with the status that the gates ask for."""
    if not report.holds:
        raise typer.Exit(FAILED)


def list_jobs(
    jobs: Jobs[JobT, Any, Any],
    columns: Mapping[str, Callable[[JobT], str]],
    facts: Callable[[JobT], dict[str, Any]],
    *,
    title: str,
    cells: str,
    figure: str,
    first: str,
    json: bool,
    parent: str | None = None,
) -> None:
    """List jobs of one kind; texts are never read as markup. `first` says how to get one.

    `figure` is the name of the mean that each is listed with, if there is one. With a parent, only
    those that belong to it are listed.
    """
    rows = jobs.standings(parent=parent)
    if json:
        counted = (
            {"finished": one.finished, "planned": one.job.planned}
            | ({figure: one.mean} if figure else {})
            for one in rows
        )
        print_json([facts(one.job) | more for one, more in zip(rows, counted, strict=True)])
        return
    if not rows:
        console().print(first)
        return
    from greenroom.reports.texts import one_line

    texts = [
        [
            one.job.name,
            *(column(one.job) for column in columns.values()),
            f"{one.finished}/{one.job.planned}",
            *(["" if one.mean is None else f"{one.mean:.3f}"] if figure else []),
            one.job.status,
            f"{one.job.created_at.astimezone():%Y-%m-%d %H:%M}",
        ]
        for one in rows
    ]
    figures = (figure,) if figure else ()
    headings = ("Name", *columns, cells, *figures, "Status", "Created")
    lines = [[one_line(text) for text in row] for row in texts]
    print_table(one_line(title), headings, lines, right=(cells, *figures))


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
