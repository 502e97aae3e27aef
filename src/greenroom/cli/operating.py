"""`greenroom runs pause`, `go-on`, `set` and `retry`: a run under way, from another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json, Run
from greenroom.cli.output import echo, print_json
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Runs

SETTABLE = ("max_concurrency", "max_calls_per_second", "max_cost", "max_tokens_total")


def pause(run: Run, json: Json = False) -> None:
    """Pause a run: its workers finish the episodes under way, and begin no other."""
    runs, found = _find(run)
    runs.controls.change(found.id, paused=True)
    at_work = [one for one in runs.workers.standings(found.id) if one.claimed]
    text = f"'{found.name}' is paused."
    if at_work:
        text += f" {_workers(len(at_work))} may finish what is under way."
    _tell(runs, found, f"{text} Go on with: greenroom runs go-on {found.name}", json=json)


def go_on(run: Run, json: Json = False) -> None:
    """Let a run that was paused go on."""
    runs, found = _find(run)
    before = runs.controls.of(found.id)
    runs.controls.change(found.id, paused=False)
    workers = len(runs.workers.standings(found.id))
    text = f"'{found.name}' goes on" if before.paused else f"'{found.name}' was not paused"
    if workers:
        text += f" with {_workers(workers)}."
    elif found.status == "complete":
        text += ", and is complete."
    else:
        text += f". Nobody works on it: greenroom resume {found.name}"
    _tell(runs, found, text, json=json)


@takes(RunConfig, only=SETTABLE, typed_only=True)
def set_run(fields: dict[str, Any], run: Run, json: Json = False) -> None:
    """Change the limits of a run, also while it is under way; they hold from now on."""
    from greenroom.benchmark import check_config

    runs, found = _find(run)
    if not fields:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in SETTABLE)
        raise InputError(f"Name what to set: {options}.")
    now = {**found.config, **runs.controls.of(found.id).config, **fields}
    check_config(now)
    runs.controls.change(found.id, config=fields)
    told = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in fields.items())
    workers = len(runs.workers.standings(found.id))
    text = f"'{found.name}' has {told} from now on"
    text += f", with {_workers(workers)}." if workers else ". Nobody works on it just now."
    _tell(runs, found, text, json=json)


def retry(
    run: Run,
    outcome: Annotated[
        list[str],
        typer.Option(
            "--outcome",
            help="Play the episodes again that ended so, such as infrastructure_error or crashed. "
            "May be given several times.",
            metavar="OUTCOME",
        ),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before results are set aside.")
    ] = False,
    json: Json = False,
) -> None:
    """Play episodes again that ended in a certain way.

    Workers that are at it take them; otherwise 'greenroom resume' plays them. What an episode has
    used is kept with the attempts that gave no result.
    """
    from greenroom.cli.output import confirm
    from greenroom.store import NO_RESULT, OUTCOMES

    runs, found = _find(run)
    if unknown := sorted(set(outcome) - set(OUTCOMES)):
        raise InputError(f"There is no outcome '{unknown[0]}'.")
    count = sum(runs.pages.outcomes(found.id).get(one, 0) for one in set(outcome))
    results = [one for one in set(outcome) if one != NO_RESULT]
    if count and results and not yes:
        confirm(f"Set {count} results of '{found.name}' aside and play them again?")
    again = runs.workers.retry(found.id, sorted(set(outcome)))
    workers = len(runs.workers.standings(found.id))
    if not again:
        text = f"No episode of '{found.name}' ended so."
    else:
        text = f"{again} episodes of '{found.name}' are to be played again"
        how = _workers(workers) if workers else f"greenroom resume {found.name}"
        text += f": by {how}."
    _tell(runs, found, text, json=json, again=again)


def _find(name: str) -> tuple[Runs, RunRecord]:
    from greenroom.store import open_store

    runs = open_store().runs
    return runs, runs.find(name)


def _workers(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"


def _tell(runs: Runs, run: RunRecord, text: str, *, json: bool, **more: Any) -> None:
    if not json:
        echo(text)
        return
    control = runs.controls.of(run.id)
    workers = runs.workers.standings(run.id)
    print_json(
        {
            "run": run.name,
            "paused": control.paused,
            "set": control.config,
            "workers": [
                {"host": one.host, "pid": one.pid, "claimed": one.claimed} for one in workers
            ],
            **more,
        }
    )
