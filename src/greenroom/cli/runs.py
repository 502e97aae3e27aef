"""`greenroom runs`: what was played, and reports of it in every form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, Run
from greenroom.cli.reporting import Outcome, deliver, list_jobs, report_commands
from greenroom.cli.watch import watch
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Runs, Store

app = typer.Typer(help="List, show, export and delete runs.", no_args_is_help=True)


def _find(name: str) -> tuple[Store, Runs, RunRecord]:
    from greenroom.store import open_store

    store = open_store()
    return store, store.runs, store.runs.find(name)


app.command()(watch)
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
        first="No runs yet. Try: greenroom run --agent-strategy synthetic --num-trials 4",
        json=json,
    )


@app.command()
@takes(Outcome)
def show(fields: dict[str, Any], run: Run, json: Json = False) -> None:
    """Show a run: its figures, tasks and failures; hold gates against it."""
    store, _, found = _find(run)
    deliver(store, found, checked(Outcome, fields), json=json)
