"""One agent with several users: a run with each of them, and what the user changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.output import echo
from greenroom.cli.reporting import FAILED, ReportOptions, show, write
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import leave_to_workers, play, queue_run, tell_workers
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.store import RunRecord, Store


def users_of(models: Sequence[str], personas: Sequence[str]) -> list[dict[str, str]]:
    """Every model with every persona, as fields of a configuration."""
    for option, given in (("--user-model", models), ("--user-persona", personas)):
        if len(set(given)) < len(given):
            raise InputError(f"{option} names one twice.")
    with_model = [{"user_model": one} for one in models] or [{}]
    with_persona = [{"user_persona": one} for one in personas] or [{}]
    return [model | persona for model in with_model for persona in with_persona]


def run_with_users(
    users: Sequence[Mapping[str, str]],
    fields: Mapping[str, Any],
    name: str | None,
    wanted: ReportOptions,
    *,
    workers: WorkerOptions,
    json: bool,
) -> None:
    """Play a run with each user, and say what the user changes."""
    from greenroom.benchmark import check_config, start_run
    from greenroom.reports.user_spread import BETWEEN, user_of
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    if not name:
        raise InputError("Several users make several runs: give them a name by --name.")
    _refuse_reports_of_one(wanted)
    configs = [check_config({**fields, **user}) for user in users]
    store = open_store()
    runs: list[RunRecord] = []
    contexts: list[RunContext] = []
    with remove_if_refused(store.runs, runs):
        for config in configs:
            user = user_of(config.model_dump()).replace("/", "-")
            run, prepared = start_run(store, config, name=f"{name}{BETWEEN}{user}")
            runs.append(run)
            contexts.append(prepared)
        started = list(zip(runs, contexts, strict=True))
        _play_all(store, name, started, workers=workers, shown=not json)
    _report(store, name, runs, wanted, json=json)


def resume_with_users(
    store: Store,
    name: str,
    runs: Sequence[RunRecord],
    fields: Mapping[str, Any],
    wanted: ReportOptions,
    *,
    workers: WorkerOptions,
    json: bool,
) -> None:
    """Go on with those of the runs that are not complete, and say what the user changes."""
    from greenroom.benchmark import reopen_run

    _refuse_reports_of_one(wanted)
    left = [reopen_run(store, run.id, fields) for run in runs if run.status != "complete"]
    for run, _ in left:
        tell_workers(store.runs, run, fields)
    _play_all(store, name, left, workers=workers, shown=not json)
    _report(store, name, runs, wanted, json=json)


def _refuse_reports_of_one(wanted: ReportOptions) -> None:
    if wanted.junit or wanted.by:
        raise InputError("--junit and --by are for one run: use `greenroom runs report`.")


def _play_all(
    store: Store,
    name: str,
    started: Sequence[tuple[RunRecord, RunContext]],
    *,
    workers: WorkerOptions,
    shown: bool,
) -> None:
    from greenroom.trials import has_begun

    if workers.processes == 0 and started:
        for run, prepared in started:
            queue_run(store, run, prepared)
        leave_to_workers([(store.runs, run) for run, _ in started], workers)
    again = f"greenroom resume {name}"
    for place, (run, prepared) in enumerate(started):
        try:
            play(store, run, prepared, workers=workers, shown=shown, resume=again)
        except InputError:
            if place > 0 and not has_begun(store.runs, run):
                echo(f"\nStopped by an error at '{run.name}'. Go on with: {again}", err=True)
            raise


def _report(
    store: Store, name: str, runs: Sequence[RunRecord], wanted: ReportOptions, *, json: bool
) -> None:
    """Show what the user changes; exit with an error if a run has no result at all."""
    from greenroom.reports.user_spread import user_spread

    runs = [store.runs.find(run.id) for run in runs]
    empty = [f"'{run.name}'" for run in runs if run.planned and not store.runs.finished(run.id)]
    if len(empty) < len(runs):
        report = user_spread(store, [run.id for run in runs])
        show(report, wanted.model_copy(update={"output": None}), json=json)
        if wanted.output is not None:
            write(report, wanted.output, told_on_stderr=json)
    if not json:
        if any(run.status != "complete" for run in runs):
            again = f"greenroom resume {name}"
            echo(f"Some episodes broke without a result. Try them again: {again}")
        echo(
            f"Stored as {name}+USER. With another agent's runs it tells whether the order of the "
            f"two depends on the user: greenroom spread {name} --against OTHER"
        )
    if empty:
        echo(f"error: No episode of {', '.join(empty)} has a result.", err=True)
        raise typer.Exit(FAILED)
