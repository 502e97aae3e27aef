"""`greenroom worker`: help with the jobs that are under way in a store."""

from __future__ import annotations

import os
import signal
import sys
import threading
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
REFUSED = 2


def _only(kind: str) -> Any:
    return typer.Option(f"--{kind}", help=f"Help with this {kind} alone.", metavar="NAME")


@app.command()
def worker(
    store_url: Annotated[
        str | None,
        typer.Argument(
            help="The database, without its password; by default that of GREENROOM_DATABASE_URL.",
            metavar="STORE_URL",
        ),
    ] = None,
    run: Annotated[str | None, _only("run")] = None,
    evaluation: Annotated[str | None, _only("evaluation")] = None,
    judging: Annotated[str | None, _only("judging")] = None,
    regrading: Annotated[str | None, _only("regrading")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for more to work on, until Ctrl-C.")
    ] = False,
    attached: Annotated[
        bool,
        typer.Option(
            "--attached", help="Stop when the standard input closes, for programs that start it."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Work on what is under way in a store, together with others, until it is done.

    Runs, evaluations, judgings and regradings: any number of workers, on any machines that reach
    the store, share the cells of each. Each cell is attempted by one of them. A worker that is lost
    loses nothing but what it had under way.
    """
    from greenroom.models import BudgetExhausted
    from greenroom.store import Patience

    named = [run, evaluation, judging, regrading]
    if sum(name is not None for name in named) > 1:
        raise InputError("Give one of --run, --evaluation, --judging and --regrading, not more.")
    if wait and any(named):
        raise InputError("--wait takes whatever comes: do not name what to help with.")
    if attached:
        threading.Thread(target=_stop_at_the_end_of_input, daemon=True).start()
    store = _opened(store_url, alone=attached)
    done: list[dict[str, Any]] = []
    stopped: int | None = None
    try:
        for jobs, name in zip(store.all_jobs, named, strict=True):
            if name is not None:
                found = Patience("").call(partial(jobs.find, name))
                try:
                    stopped = _help(store, jobs, found, done)
                except BudgetExhausted as spent:
                    echo(str(spent), err=True)
                    raise typer.Exit(OUT_OF_BUDGET) from None
                break
        else:
            stopped = _help_all(store, done, wait=wait)
    finally:
        if json:
            print_json({"worked_on": done})
    if stopped is not None:
        raise typer.Exit(STOPPED + stopped)


def _opened(url: str | None, *, alone: bool) -> Store:
    """The store, which may be away when a worker starts; `alone` tells that nobody is elsewhere."""
    from greenroom.store import Patience, open_store
    from greenroom.store.leases import refuse_wrong_clock

    if url is not None:
        _refuse_password(url)
    patience = Patience("")
    store = patience.call(partial(open_store, url))
    if not alone:
        patience.call(partial(refuse_wrong_clock, store.engine))
    return store


def _refuse_password(url: str) -> None:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from greenroom.store.database import URL_VARIABLE

    try:
        parsed = make_url(url)
    except ArgumentError:
        return  # it is refused where it is opened
    if parsed.password or "password" in parsed.query:
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
    """Help with whatever has cells to do: the signal that stopped it, if one did.

    One job that this worker cannot help with does not keep it from the others.
    """
    import anyio

    from greenroom.models import BudgetExhausted
    from greenroom.store import Patience, StoreError

    status = 0
    left_alone: set[str] = set()
    patience = Patience("")
    told = False
    while True:
        found = patience.call(partial(_in_need, store, left_alone))
        stopped: int | None = None
        if found is not None:
            told = False
            try:
                stopped = _help(store, *found, done)
            except StoreError:
                raise
            except (BudgetExhausted, InputError) as error:
                left_alone.add(found[1].id)
                status = OUT_OF_BUDGET if isinstance(error, BudgetExhausted) else REFUSED
                echo(f"{found[1].name}: {error}", err=True)
        elif wait:
            if not told:
                echo("Nothing waits for a worker just now. Ctrl-C ends the wait.", err=True)
            told = True
            stopped = run_until_stopped(partial(anyio.sleep, _LOOK_SECONDS))
        elif status:
            raise typer.Exit(status)
        else:
            if not done:
                echo("Nothing waits for a worker in this store.", err=True)
            return None
        if stopped is not None:
            return stopped


def _in_need(store: Store, left_alone: set[str]) -> tuple[Jobs[Any, Any, Any], JobRecord] | None:
    """The first job with cells to do, kind by kind."""
    for jobs in store.all_jobs:
        for job in jobs.in_need():
            if job.id not in left_alone:
                return jobs, job
    return None


def _help(
    store: Store, jobs: Jobs[Any, Any, Any], job: JobRecord, done: list[dict[str, Any]]
) -> int | None:
    """Help with one job: the signal that stopped it, if one did."""
    from greenroom.cli.reopening import reopened
    from greenroom.store import Patience
    from greenroom.util.attempt_logs import overheard_prints

    kept = 0

    def note(_: object) -> None:
        nonlocal kept
        kept += 1

    patience = Patience("")
    work = patience.call(partial(reopened, store, jobs.kind.name, job))
    others = len(patience.call(partial(jobs.workers.standings, job.id)))
    beside = "" if not others else f" beside {others} other{'s' if others > 1 else ''}"
    echo(f"Working on the {jobs.kind.name} '{job.name}'{beside}.", err=True)
    try:
        # Nobody may be there to read what is printed in a worker.
        with overheard_prints():
            return run_until_stopped(partial(work, helps=True, on_result=note))
    finally:
        done.append({"kind": jobs.kind.name, "name": job.name, "results": kept})
        echo(f"{kept} results of '{job.name}' are by this worker.", err=True)
