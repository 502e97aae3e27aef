"""`greenroom worker`: help with the runs and evaluations that are under way in a store."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import echo, print_json
from greenroom.cli.working import OUT_OF_BUDGET, STOPPED, run_until_stopped
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.store import JobRecord, Jobs, Store

app = typer.Typer()

_LOOK_SECONDS = 2.0


@app.command()
def worker(
    store_url: Annotated[
        str | None,
        typer.Argument(
            help="The database, without its password; by default that of GREENROOM_DATABASE_URL.",
            metavar="STORE_URL",
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="Help with this run alone.", metavar="NAME")
    ] = None,
    evaluation: Annotated[
        str | None,
        typer.Option("--evaluation", help="Help with this evaluation alone.", metavar="NAME"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for further runs and evaluations, until Ctrl-C.")
    ] = False,
    attached: Annotated[
        bool,
        typer.Option(
            "--attached", help="Stop when the standard input closes, for programs that start it."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Work on the runs and evaluations of a store, together with others, until they are done.

    Any number of workers, on any machines that reach the store, share the cells of a run. Each cell
    is played once. A worker that is lost loses nothing but what it had under way.
    """
    from greenroom.store import Patience, open_store

    if run is not None and evaluation is not None:
        raise InputError("Give --run or --evaluation, not both.")
    if wait and (run is not None or evaluation is not None):
        raise InputError("--wait takes whatever comes: leave --run and --evaluation out.")
    if store_url is not None:
        _refuse_password(store_url)
    if attached:
        threading.Thread(target=_stop_at_the_end_of_input, daemon=True).start()
    # A worker may be started while the database is away.
    patience = Patience("")
    store = patience.call(partial(open_store, store_url))
    done: list[dict[str, Any]] = []
    stopped: int | None = None
    try:
        if run is not None:
            found = patience.call(partial(store.runs.find, run))
            stopped = _help(store, store.runs, found, done)
        elif evaluation is not None:
            found = patience.call(partial(store.evaluations.find, evaluation))
            stopped = _help(store, store.evaluations, found, done)
        else:
            stopped = _help_all(store, done, wait=wait)
    finally:
        if json:
            print_json({"worked_on": done})
    if stopped is not None:
        raise typer.Exit(STOPPED + stopped)


def _refuse_password(url: str) -> None:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from greenroom.store.database import URL_VARIABLE

    try:
        password = make_url(url).password
    except ArgumentError:
        return  # it is refused where it is opened
    if password:
        raise InputError(
            f"Others can read a password in a command: give the URL as {URL_VARIABLE}, or the "
            "password as PGPASSWORD."
        )


def _stop_at_the_end_of_input() -> None:
    # A thread that waits in sys.stdin would hold its lock when the process ends.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _help_all(store: Store, done: list[dict[str, Any]], *, wait: bool) -> int | None:
    """Help with whatever has cells to do: the signal that stopped it, if one did."""
    import anyio

    from greenroom.store import Patience

    refused: set[str] = set()
    patience = Patience("")
    while True:
        found = patience.call(partial(_in_need, store, refused))
        if found is None:
            if not wait:
                if not done:
                    echo("Nothing waits for a worker in this store.", err=True)
                return None
            stopped = run_until_stopped(partial(anyio.sleep, _LOOK_SECONDS))
        else:
            try:
                stopped = _help(store, *found, done)
            except InputError as error:
                if not wait:
                    raise
                # One run that cannot be helped with does not keep a worker from the others.
                refused.add(found[1].id)
                echo(f"{found[1].name}: {error}", err=True)
                stopped = None
        if stopped is not None:
            return stopped


def _in_need(store: Store, refused: set[str]) -> tuple[Jobs[Any, Any, Any], JobRecord] | None:
    """The first job with cells to do, runs before evaluations."""
    jobs: Jobs[Any, Any, Any]
    for jobs in (store.runs, store.evaluations):
        for job in jobs.in_need():
            if job.id not in refused:
                return jobs, job
    return None


def _help(
    store: Store, jobs: Jobs[Any, Any, Any], job: JobRecord, done: list[dict[str, Any]]
) -> int | None:
    """Help with one job: the signal that stopped it, if one did."""
    from greenroom.models import BudgetExhausted
    from greenroom.store import Patience

    kept = 0

    def note(_: object) -> None:
        nonlocal kept
        kept += 1

    opened = _opened_run if jobs.kind.name == "run" else _opened_evaluation
    patience = Patience("")
    play = patience.call(partial(opened, store, job))
    others = len(patience.call(partial(jobs.workers.standings, job.id)))
    beside = "" if not others else f" beside {others} other{'s' if others > 1 else ''}"
    echo(f"Working on the {jobs.kind.name} '{job.name}'{beside}.", err=True)
    try:
        return run_until_stopped(partial(play, helps=True, on_result=note))
    except BudgetExhausted as spent:
        echo(str(spent), err=True)
        raise typer.Exit(OUT_OF_BUDGET) from None
    finally:
        done.append({"kind": jobs.kind.name, "name": job.name, "results": kept})
        echo(f"{kept} results of '{job.name}' are by this worker.", err=True)


def _opened_run(store: Store, job: Any) -> Callable[..., Any]:
    from greenroom.benchmark import play_run, reopen_run

    record, context = reopen_run(store, job.id)
    if context.interactive:
        raise InputError(f"A person plays the user of '{job.name}': no worker can help.")
    return partial(play_run, store, record, context)


def _opened_evaluation(store: Store, job: Any) -> Callable[..., Any]:
    import anyio

    from greenroom.evaluation import reopen_evaluation, run_evaluation

    record, context = anyio.run(lambda: reopen_evaluation(store, job.id))
    if context.interactive:
        raise InputError(f"A person plays the user of '{job.name}': no worker can help.")
    return partial(run_evaluation, store, record, context)
