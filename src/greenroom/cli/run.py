"""`greenroom run` and `greenroom resume`: an agent plays tasks, and this is how well."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

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
from greenroom.cli.working import play, play_and_report, tell_workers
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.store import RunRecord

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
    users = _users(user_model or [], user_persona or [])
    if len(users) > 1:
        if junit or output or by:
            raise InputError("--junit, -o and --by are for one run: use `greenroom runs report`.")
        _run_with(users, fields, name, workers=workers, json=json)
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


def _users(models: list[str], personas: list[str]) -> list[dict[str, str]]:
    """Every model with every persona, as fields of a configuration."""
    for option, given in (("--user-model", models), ("--user-persona", personas)):
        if len(set(given)) < len(given):
            raise InputError(f"{option} names one twice.")
    with_model = [{"user_model": one} for one in models] or [{}]
    with_persona = [{"user_persona": one} for one in personas] or [{}]
    return [model | persona for model in with_model for persona in with_persona]


def _run_with(
    users: list[dict[str, str]],
    fields: dict[str, Any],
    name: str | None,
    *,
    workers: WorkerOptions,
    json: bool,
) -> None:
    """Play a run with each user, and say what the user changes."""
    from greenroom.benchmark import check_config, start_run
    from greenroom.cli.spread import show_spread
    from greenroom.reports.user_spread import BETWEEN, user_of, user_spread
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    if not name:
        raise InputError("Several users make several runs: give them a name by --name.")
    configs = [check_config(fields | user) for user in users]
    store = open_store()
    with ExitStack() as kept:
        started: list[tuple[RunRecord, RunContext]] = []
        for config in configs:
            user = user_of(config.model_dump()).replace("/", "-")
            started.append(start_run(store, config, name=f"{name}{BETWEEN}{user}"))
            kept.enter_context(remove_if_refused(store.runs, started[-1][0]))
        for record, prepared in started:
            play(store, record, prepared, workers=workers, shown=not json)
    show_spread(user_spread(store, [record.name for record, _ in started]), json=json)


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
