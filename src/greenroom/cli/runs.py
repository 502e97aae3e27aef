"""`greenroom runs`: what was played, and reports of it in every form."""

from __future__ import annotations

from pathlib import Path

import typer

from greenroom.cli.options import Json, Run
from greenroom.cli.output import console, print_json
from greenroom.cli.reporting import (
    All,
    By,
    Failures,
    Form,
    Gates,
    JUnit,
    Outcome,
    Output,
    Strict,
    Yes,
    delete_job,
    deliver,
    finish,
    print_jobs,
    reported,
    write,
)
from greenroom.cli.watch import watch

app = typer.Typer(help="List, show, export and delete runs.", no_args_is_help=True)


app.command()(watch)


@app.command("list")
def list_runs(json: Json = False) -> None:
    """List all runs, the newest first."""
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
    print_jobs(
        f"Runs in {store.location}",
        ("Name", "Agent", "Env", "Split", "Episodes", "Status", "Created"),
        [
            (
                run.name,
                run.agent_strategy,
                run.env,
                run.task_split,
                f"{finished}/{run.planned}",
                run.status,
                f"{run.created_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for run, finished in rows
        ],
        right="Episodes",
    )


@app.command()
def show(
    run: Run,
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    failures: Failures = 5,
    all_: All = False,
    junit: JUnit = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show a run: its figures, tasks and failures; hold gates against it."""
    from greenroom.store import open_store

    store = open_store()
    outcome = Outcome(gate, strict or None, by or (), junit, output, json, all_, failures)
    deliver(store, store.runs.find(run), outcome)


@app.command()
def report(
    run: Run,
    output: Output = Path("report.html"),
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
) -> None:
    """Write a run's report: by default a page that needs nothing but a browser."""
    from greenroom.store import open_store

    store = open_store()
    deliver(
        store, store.runs.find(run), Outcome(gate, strict or None, by or (), junit, output=output)
    )


@app.command()
def export(
    run: Run,
    format: Form = None,  # noqa: A002
    output: Output = None,
    by: By = None,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
) -> None:
    """Export a run: everything as JSON, records as a table, Markdown, Tau Bench's result file."""
    from greenroom.store import open_store

    store = open_store()
    outcome = Outcome(gate, strict or None, by or (), junit)
    found = reported(store, store.runs.find(run), outcome)
    write(found, output, format)
    finish(found)


@app.command()
def delete(run: Run, yes: Yes = False) -> None:
    """Delete a run with all of its episodes."""
    from greenroom.store import open_store

    store = open_store()
    delete_job(store.runs, store.runs.find(run), "episodes", yes=yes)
