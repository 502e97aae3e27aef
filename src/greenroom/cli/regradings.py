"""`greenroom regradings`: second grades that are kept with runs, and regradings under way."""

from __future__ import annotations

import typer

from greenroom.cli.operating import REGRADINGS, operating_commands
from greenroom.cli.options import Json
from greenroom.cli.regrade import show_regrading
from greenroom.cli.reporting import Name, list_jobs

app = typer.Typer(
    help="List and show regradings, and look after those under way.", no_args_is_help=True
)
operating_commands(app, REGRADINGS)


@app.command("list")
def list_regradings(json: Json = False) -> None:
    """List all regradings, the newest first; 'regrade RUN --list' shows what came of a run's."""
    from greenroom.store import open_store

    store = open_store()
    list_jobs(
        store.regradings,
        {
            "Run": lambda one: one.run_name,
            "Split": lambda one: one.task_split,
            "Judge": lambda one: one.judge,
        },
        lambda one: one.model_dump(
            mode="json",
            exclude={
                "episodes": True,
                "task_set": {"task_hashes"},
                "run_task_set": {"task_hashes"},
            },
        ),
        title=f"Regradings in {store.location}",
        cells="Grades",
        figure="reward",
        first="No regradings yet. Try: greenroom regrade RUN",
        json=json,
    )


@app.command()
def show(name: Name, json: Json = False) -> None:
    """Show a regrading: which grades flipped and why, and the mean reward then and now."""
    from greenroom.reports.judge_checks import check_of_sentences
    from greenroom.store import open_store

    store = open_store()
    regrading = store.regradings.find(name)
    grades = list(store.regradings.results(regrading.id))
    check = check_of_sentences(store, regrading)
    show_regrading(store.runs.find(regrading.run_id), regrading, grades, check, json=json)
