"""`greenroom runs`: what was played or is being played, and reports of it in every form."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, Run
from greenroom.cli.output import echo
from greenroom.cli.reporting import ReportOptions, deliver, list_jobs, report_commands
from greenroom.options import checked
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Runs, Store

app = typer.Typer(help="List, show, export and delete runs.", no_args_is_help=True)


def _find(name: str) -> tuple[Store, Runs, RunRecord]:
    from greenroom.store import open_store

    store = open_store()
    return store, store.runs, store.runs.find(name)


@app.command()
def watch(
    run: Run,
    interval: Annotated[
        float, typer.Option("--interval", help="Seconds between two looks.", min=0.05)
    ] = 1.0,
) -> None:
    """Watch a run from another terminal until it is over; the exit status is 1 if it stopped."""
    from greenroom.store import open_store

    store = open_store()
    record = store.runs.find(run)
    with progress_bar(record.name, record.planned) as advance:
        shown = 0
        for done, note in _looks(store, record, interval):
            for _ in range(done - shown):
                advance(note)
            shown = done
    status = store.runs.find(record.id).status
    echo(f"{record.name} is {status}: {shown} of {record.planned} episodes have a result")
    if status != "complete":
        raise typer.Exit(1)


report_commands(app, _find, "a run", "episodes")


@app.command("list")
def list_runs(json: Json = False) -> None:
    """List all runs, the newest first."""
    from greenroom.store import open_store

    store = open_store()
    list_jobs(
        store.runs,
        {
            "Agent": lambda run: run.agent_strategy,
            "Env": lambda run: run.env,
            "Split": lambda run: run.task_split,
        },
        lambda run: run.model_dump(mode="json", exclude={"policy", "task_indices"}),
        title=f"Runs in {store.location}",
        cells="Episodes",
        figure="pass^1",
        first="No runs yet. Try: greenroom run --agent-strategy synthetic --num-trials 4",
        json=json,
    )


@app.command()
@takes(ReportOptions)
def show(fields: dict[str, Any], run: Run, json: Json = False) -> None:
    """Show a run: its figures, tasks and failures; hold gates against it."""
    store, _, found = _find(run)
    deliver(store, found, checked(ReportOptions, fields), json=json)


def _looks(store: Store, run: RunRecord, interval: float) -> Iterator[tuple[int, str]]:
    from greenroom.store import total_cost

    while True:
        # Asked before counting: what was finished in between is then counted too.
        playing = store.runs.find(run.id).status == "running"
        results = [s for s in store.runs.summaries(run.id) if s.reward is not None]
        solved = sum(summary.solved for summary in results)
        cost = total_cost(used for one in results for used in one.usage.values())
        note = f"pass^1 {solved / len(results):.2f}" if results else ""
        if cost is not None:
            note += f", ${cost:.2f}"
        yield len(results), note
        if not playing:
            return
        time.sleep(interval)
