"""`greenroom runs`: what was played or is being played, and reports of it in every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.card import card
from greenroom.cli.config_options import takes
from greenroom.cli.operating import RUNS, operating_commands
from greenroom.cli.options import Json, RepeatedListsCommand, Run
from greenroom.cli.prune import prune
from greenroom.cli.reporting import ReportOptions, deliver, list_jobs, report_commands
from greenroom.cli.submission import submission
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Runs, Store

app = typer.Typer(help="List, show, export, prune and delete runs.", no_args_is_help=True)


def _find(name: str) -> tuple[Store, Runs, RunRecord]:
    from greenroom.store import open_store

    store = open_store()
    return store, store.runs, store.runs.find(name)


report_commands(app, _find, "a run", "episodes")
app.command(cls=RepeatedListsCommand)(card)
operating_commands(app, RUNS)
app.command()(submission)
app.command()(prune)


@app.command("list")
def list_runs(
    origin: Annotated[
        str | None,
        typer.Option(
            "--from", help="Trials that go on from episodes of this run instead.", metavar="RUN"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List all runs, the newest first; those that go on from another run are listed with it."""
    from greenroom.store import open_store

    store = open_store()
    parent = None if origin is None else store.runs.find(origin)
    columns: dict[str, Callable[[RunRecord], str]] = {
        "Agent": lambda run: run.agent_strategy,
        "Env": lambda run: run.env,
        "Split": lambda run: run.task_split,
    }
    if parent is not None:
        columns = {
            "Agent": lambda run: run.agent_strategy,
            "Task": lambda run: str(run.rewound_to.task_index) if run.rewound_to else "",
            "Trial": lambda run: str(run.rewound_to.trial) if run.rewound_to else "",
            "Turn": lambda run: str(run.rewound_to.turn) if run.rewound_to else "",
        }
    title = f"Runs in {store.location}"
    first = "No runs yet. Try: greenroom run --agent-strategy synthetic --num-trials 4"
    if parent is not None:
        title = f"Runs that go on from '{parent.name}'"
        first = f"None yet. Try: greenroom replay {parent.name} TASK --from-turn 1 --trials 10"
    list_jobs(
        store.runs,
        columns,
        lambda run: run.model_dump(
            mode="json", exclude={"policy": True, "task_indices": True, "task_set": {"task_hashes"}}
        ),
        title=title,
        cells="Episodes",
        figure="pass^1",
        first=first,
        json=json,
        parent=None if parent is None else parent.id,
    )


@app.command(cls=RepeatedListsCommand)
@takes(ReportOptions)
def show(fields: dict[str, Any], run: Run, json: Json = False) -> None:
    """Show a run: its figures, tasks and failures; hold gates against it."""
    store, _, found = _find(run)
    deliver(store, found, checked(ReportOptions, fields), json=json)
