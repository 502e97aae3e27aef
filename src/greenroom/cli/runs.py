"""`greenroom runs`: what was played, and reports of it in every form."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json, Run
from greenroom.cli.output import console, print_json
from greenroom.cli.watch import watch
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from greenroom.reports.report import RunReport as Report

app = typer.Typer(help="List, show, export and delete runs.", no_args_is_help=True)


app.command()(watch)


class Format(StrEnum):
    """The forms that a run can be exported in."""

    json = "json"
    tau_bench = "tau-bench"
    markdown = "markdown"
    html = "html"


@app.command("list")
def list_runs(json: Json = False) -> None:
    """List all runs, the newest first."""
    from rich.table import Table

    from greenroom.store import open_store

    store = open_store()
    rows = [(run, len(store.runs.finished(run.id))) for run in store.runs.all()]
    if json:
        print_json(
            [
                run.model_dump(mode="json", exclude={"policy", "task_indices"})
                | {"finished": finished, "planned": run.planned}
                for run, finished in rows
            ]
        )
        return
    if not rows:
        console().print("No runs yet. Try: greenroom run --agent-strategy synthetic --num-trials 4")
        return
    table = Table(title=f"Runs in {store.location}", title_justify="left")
    for heading in ("Name", "Agent", "Env", "Split", "Episodes", "Status", "Created"):
        table.add_column(heading, justify="right" if heading == "Episodes" else "left")
    for run, finished in rows:
        table.add_row(
            run.name,
            run.agent_strategy,
            run.env,
            run.task_split,
            f"{finished}/{run.planned}",
            run.status,
            f"{run.created_at.astimezone():%Y-%m-%d %H:%M}",
        )
    console().print(table)


@app.command()
def show(run: Run, json: Json = False) -> None:
    """Show a run: its figures, tasks and failures."""
    report = _report(run)
    if json:
        _print_text(_rendered(report, Format.json))
        return
    from greenroom.reports.console import print_report

    print_report(report, console())


@app.command()
def report(
    run: Run,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a run's report as a page that needs nothing but a browser."""
    write_whole(output, _rendered(_report(run), Format.html))
    typer.echo(f"Wrote {output}")


@app.command()
def export(
    run: Run,
    format: Annotated[  # noqa: A002
        Format, typer.Option("--format", help="The form to write.")
    ] = Format.json,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; else it is printed.")
    ] = None,
) -> None:
    """Export a run: everything as JSON, Tau Bench's own result file, Markdown or a page."""
    text = _rendered(_report(run), format)
    if output is None:
        _print_text(text)
    else:
        write_whole(output, text)
        typer.echo(f"Wrote {output}")


@app.command()
def delete(
    run: Run,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run with all of its episodes."""
    from greenroom.store import open_store

    store = open_store()
    record = store.runs.find(run)
    if not yes:
        typer.confirm(
            f"Delete '{record.name}' with {len(store.runs.finished(record.id))} episodes?",
            abort=True,
        )
    store.runs.delete(record)
    typer.echo(f"Deleted {record.name}")


def _report(name: str) -> Report:
    from greenroom.reports.build import build_report
    from greenroom.store import open_store

    store = open_store()
    return build_report(store, store.runs.find(name))


def _rendered(report: Report, form: Format) -> str:
    from greenroom.reports.html import render_html
    from greenroom.reports.json_report import render_json
    from greenroom.reports.markdown import render_markdown
    from greenroom.reports.tau_bench import tau_bench_rows

    if form is Format.html:
        return render_html(report)
    if form is Format.markdown:
        return render_markdown(report)
    if form is Format.tau_bench:
        return dumps(tau_bench_rows(report.run, report.episodes), indent=2)
    return render_json(report)


def _print_text(text: str) -> None:
    typer.echo(text.rstrip("\n"))
