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
    Run,
    cached_fields,
)
from greenroom.cli.output import echo
from greenroom.cli.reporting import finish, report_options
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import play_and_report, tell_workers

app = typer.Typer()


@app.command(cls=AgentCommand)
@takes(RunConfig)
def run(
    fields: dict[str, Any],
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
    config = check_config(cached_fields(fields, clear_cache))
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
    run: Run,
    junit: JUnit = None,
    output: Output = None,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Go on with a run that was interrupted: only what has no result yet is played."""
    from greenroom.benchmark import reopen_run
    from greenroom.store import open_store

    wanted = report_options(junit, output)
    store = open_store()
    record, prepared = reopen_run(store, run, fields)
    tell_workers(store.runs, record, fields)
    finish(play_and_report(store, record, prepared, wanted, workers=workers, json=json))
