"""`greenroom run` and `greenroom resume`: an agent plays tasks, and this is how well."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig
from greenroom.cli.config_options import AgentCommand, takes
from greenroom.cli.options import (
    By,
    ClearCache,
    Json,
    JUnit,
    Output,
    cached_fields,
)
from greenroom.cli.output import echo
from greenroom.cli.reporting import finish, report_options
from greenroom.cli.several_users import resume_with_users, run_with_users, users_of
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import play_and_report, tell_workers
from greenroom.errors import UnknownName

app = typer.Typer()


@app.command(cls=AgentCommand)
@takes(RunConfig, without=("user_model", "user_persona"))
def run(
    fields: dict[str, Any],
    user_model: Annotated[
        list[str] | None,
        typer.Option(
            "--user-model",
            help="The simulated user's model. With several, a run is played with each.",
        ),
    ] = None,
    user_persona: Annotated[
        list[str] | None,
        typer.Option(
            "--user-persona",
            help="How a user that a model plays behaves: plain, terse, chatty, impatient, "
            "forgetful or non-native. With several, a run is played with each.",
        ),
    ] = None,
    clear_cache: ClearCache = None,
    junit: JUnit = None,
    output: Output = None,
    by: By = None,
    name: Annotated[
        str | None, typer.Option("--name", help="A name for the run; one is made up otherwise.")
    ] = None,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Let an agent play tasks and report how many it solves, and how reliably.

    Each setting of the agent is a flag, too: 'greenroom agents list' shows them.
    """
    from greenroom.analysis.slices import check_slices
    from greenroom.benchmark import check_config, start_run
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    wanted = report_options(junit, output, by)
    check_slices(wanted.by)
    fields = cached_fields(fields, clear_cache)
    users = users_of(user_model or [], user_persona or [])
    if len(users) > 1:
        run_with_users(users, fields, name, wanted, workers=workers, json=json)
        return
    config = check_config(fields | users[0])
    store = open_store()
    record, prepared = start_run(store, config, name=name)
    strategy = prepared.strategy
    if config.model and strategy.reads_script and not strategy.needs_model:
        echo(f"--model is not used: the {strategy.name} agent asks no model.", err=True)
    with remove_if_refused(store.runs, record):
        report = play_and_report(store, record, prepared, wanted, workers=workers, json=json)
    finish(report)


@app.command()
@takes(RunConfig, on_resume=True)
def resume(
    fields: dict[str, Any],
    run: Annotated[
        str,
        typer.Argument(
            help="The name or id of a run, or the name of several that were begun together.",
            metavar="RUN",
        ),
    ],
    junit: JUnit = None,
    output: Output = None,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Go on with a run that was interrupted: only what has no result yet is played."""
    from greenroom.benchmark import reopen_run
    from greenroom.reports.user_spread import runs_with_users
    from greenroom.store import open_store

    wanted = report_options(junit, output)
    store = open_store()
    try:
        record = store.runs.find(run)
    except UnknownName:
        several = runs_with_users(store, run)
        if not several:
            raise
        resume_with_users(store, run, several, fields, wanted, workers=workers, json=json)
        return
    record, prepared = reopen_run(store, record.id, fields)
    tell_workers(store.runs, record, fields)
    finish(play_and_report(store, record, prepared, wanted, workers=workers, json=json))
