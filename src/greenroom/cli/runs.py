"""`greenroom runs`: what was played or is being played, and reports of it in every form."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.card import card
from greenroom.cli.config_options import takes
from greenroom.cli.operating import go_on, pause, retry, set_run
from greenroom.cli.options import Json, Run
from greenroom.cli.output import echo, print_json, print_table
from greenroom.cli.prune import prune
from greenroom.cli.reporting import ReportOptions, deliver, list_jobs, report_commands
from greenroom.cli.submission import submission
from greenroom.options import checked
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.cli.following import Standing
    from greenroom.store import RunRecord, Runs, Store

app = typer.Typer(help="List, show, export, prune and delete runs.", no_args_is_help=True)


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
    json: Annotated[bool, typer.Option("--json", help="Look once, and print it as JSON.")] = False,
) -> None:
    """Watch a run from another terminal until it is over; the exit status is 1 if it stopped.

    It shows progress, rate and spending, who works on it, and episodes that take much longer than
    others do.
    """
    from greenroom.cli.following import Follower
    from greenroom.store import open_store

    store = open_store()
    record = store.runs.find(run)
    follower = Follower(store.runs, record)
    if json:
        print_json(_as_json(record, follower.look()))
        return
    shown, at_work, told = 0, dict[str, str](), set[tuple[int, int]]()
    with progress_bar(record.name, record.planned) as advance:
        while True:
            found = follower.look()
            for _ in range(found.finished - shown):
                advance(found.note("pass^1"))
            shown = max(shown, found.finished)
            now = {one.id: f"{one.host}/{one.pid}" for one in found.workers}
            if shown < record.planned or now:
                _tell_workers(at_work, now)
            at_work = now
            long = found.said_of_long()
            for key in long.keys() - told:
                echo(long[key], err=True)
            told |= long.keys()
            if not found.workers:
                break
            time.sleep(interval)
    status = store.runs.find(record.id).status
    echo(f"{record.name} is {status}: {shown} of {record.planned} episodes have a result")
    if status != "complete":
        raise typer.Exit(1)


def _tell_workers(before: dict[str, str], now: dict[str, str]) -> None:
    for key in now.keys() - before.keys():
        echo(f"{now[key]} works on it.", err=True)
    for key in before.keys() - now.keys():
        echo(f"{before[key]} does so no more.", err=True)


def _as_json(run: RunRecord, found: Standing) -> dict[str, Any]:
    return {
        "run": run.name,
        "status": run.status,
        "paused": found.paused,
        "planned": run.planned,
        "finished": found.finished,
        "pass^1": found.mean,
        "cost": found.cost,
        "seconds_per_episode": found.usual,
        "workers": [
            {
                "host": one.host,
                "pid": one.pid,
                "started_at": one.started_at,
                "claimed": one.claimed,
                "longest_claim_seconds": one.longest,
            }
            for one in found.workers
        ],
        "taking_long": [
            {
                "task": one.key[0],
                "trial": one.key[1],
                "worker": one.worker,
                "seconds": one.seconds,
            }
            for one in found.long
        ],
    }


@app.command()
def attempts(
    run: Run,
    task: Annotated[
        int | None, typer.Option("--task", help="Only those of this task.", min=0)
    ] = None,
    json: Json = False,
) -> None:
    """List the attempts of a run that gave no result: when, how long, what they cost, and why."""
    from greenroom.store import open_store, total_cost

    store = open_store()
    record = store.runs.find(run)
    found = [one for one in store.runs.attempts(record.id) if task is None or one.key[0] == task]
    if json:
        print_json(
            [
                {
                    "task": one.key[0],
                    "trial": one.key[1],
                    "started_at": one.started_at,
                    "seconds": one.seconds,
                    "error": one.error,
                    "usage": {purse: used.model_dump() for purse, used in one.usage.items()},
                }
                for one in found
            ]
        )
        return
    if not found:
        echo(f"Every attempt of '{record.name}' gave a result.")
        return
    rows: list[list[str]] = []
    for one in found:
        cost = total_cost(one.usage.values())
        rows.append(
            [
                f"{one.key[0]}",
                f"{one.key[1]}",
                one.started_at[:19].replace("T", " "),
                f"{one.seconds:.1f} s",
                "unknown" if cost is None else f"${cost:.2f}",
                one.error,
            ]
        )
    headings = ("Task", "Trial", "Began", "Took", "Cost", "Why")
    title = f"Attempts of {record.name} without a result"
    print_table(title, headings, rows, right=("Task", "Trial", "Took", "Cost"))


report_commands(app, _find, "a run", "episodes")
app.command()(card)
app.command()(pause)
app.command("go-on")(go_on)
app.command("set")(set_run)
app.command()(retry)
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


@app.command()
@takes(ReportOptions)
def show(fields: dict[str, Any], run: Run, json: Json = False) -> None:
    """Show a run: its figures, tasks and failures; hold gates against it."""
    store, _, found = _find(run)
    deliver(store, found, checked(ReportOptions, fields), json=json)
