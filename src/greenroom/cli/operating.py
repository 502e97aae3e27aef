"""Jobs under way, from another terminal: `watch`, `attempts`, `pause`, `go-on`, `set`, `retry`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.attempts import Chosen, attempts_of, logs_of
from greenroom.cli.config_options import takes
from greenroom.cli.following import Follower
from greenroom.cli.options import Json
from greenroom.cli.output import echo, print_json
from greenroom.cli.reporting import Name
from greenroom.cli.watching import watch_until_over
from greenroom.config import WorkConfig
from greenroom.errors import InputError, UnknownName
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.store import CellKey, JobRecord, Jobs

SETTABLE = ("max_concurrency", "max_calls_per_second", "max_cost", "max_tokens_total")


@dataclass(frozen=True)
class Operated:
    """Jobs of one kind, as commands speak of them."""

    name: str
    group: str
    """The group of their commands."""
    cells: str
    figure: str = ""
    """The name of the mean that is shown, if there is one."""
    item: str = "task"
    trial: str = "trial"
    first: int = 0
    """The number of the first item and of the first trial."""
    limit_hint: str = ""
    """What can be done about cells that hang."""

    @property
    def a_job(self) -> str:
        """One of them, with its article."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    def find(self, name: str) -> tuple[Jobs[Any, Any, Any], JobRecord]:
        """A job of this kind in the store that the environment names."""
        from greenroom.store import open_store

        jobs = next(one for one in open_store().all_jobs if one.kind.name == self.name)
        return jobs, jobs.find(name)

    def numbers(self, key: CellKey) -> dict[str, int]:
        """The place of a cell as people count it."""
        return {self.item: key[0] + self.first, self.trial: key[1] + self.first}

    def place(self, key: CellKey) -> str:
        """The place of a cell in words."""
        return ", ".join(f"{word} {number}" for word, number in self.numbers(key).items())


RUNS = Operated(
    "run",
    "runs",
    "episodes",
    "pass^1",
    limit_hint=" In a new run, --max-episode-seconds ends such episodes.",
)
EVALUATIONS = Operated("evaluation", "evals", "calls", "score", "row", "repeat", first=1)
JUDGINGS = Operated("judging", "judgings", "judgements")
REGRADINGS = Operated("regrading", "regradings", "grades", "reward")
OPERATED = {one.name: one for one in (RUNS, EVALUATIONS, JUDGINGS, REGRADINGS)}


def operating_commands(app: typer.Typer, kind: Operated) -> None:
    """Add the commands that look after jobs of one kind while they are under way."""
    _add_looking(app, kind)
    _add_pausing(app, kind)
    _add_changing(app, kind)


def _add_looking(app: typer.Typer, kind: Operated) -> None:
    def watch(
        name: Name,
        interval: Annotated[
            float, typer.Option("--interval", help="Seconds between two looks.", min=0.05)
        ] = 1.0,
        json: Annotated[
            bool, typer.Option("--json", help="Look once, and print it as JSON.")
        ] = False,
    ) -> None:
        watch_until_over(kind, *kind.find(name), interval, json=json)

    def attempts(
        name: Name,
        item: Annotated[
            int | None,
            typer.Option("--task", "--row", help="Only those of this task or row.", min=0),
        ] = None,
        trial: Annotated[
            int | None,
            typer.Option("--trial", "--repeat", help="Only this trial or repeat of it.", min=0),
        ] = None,
        log: Annotated[
            bool,
            typer.Option(
                "--log",
                help="Print what attempts logged and printed, with tracebacks; also of attempts "
                "that gave a result.",
            ),
        ] = False,
        json: Json = False,
    ) -> None:
        if trial is not None and item is None:
            raise InputError(f"--{kind.trial} goes with --{kind.item}.")
        cell = Chosen(item, trial)
        (logs_of if log else attempts_of)(kind, *kind.find(name), cell, json=json)

    watch.__doc__ = f"""Watch {kind.a_job} from another terminal until it is over.

    It shows progress, rate and spending, who works on it, and {kind.cells} that take much longer
    than others do. The exit status is 1 if it stopped.
    """
    attempts.__doc__ = f"""List the attempts of {kind.a_job} that gave no result, and why.

    It says when each began, how long it took, and what it cost. --log prints what they said.
    """
    app.command()(watch)
    app.command()(attempts)


def _add_pausing(app: typer.Typer, kind: Operated) -> None:
    def pause(name: Name, json: Json = False) -> None:
        jobs, found = kind.find(name)
        jobs.controls.change(found.id, paused=True)
        at_work = [one for one in jobs.workers.standings(found.id) if one.claimed]
        text = f"'{found.name}' is paused."
        if at_work:
            text += f" {_workers(len(at_work))} may finish what is under way."
        text += f" Go on with: greenroom {kind.group} go-on {found.name}"
        _tell(jobs, found, text, json=json)

    def go_on(name: Name, json: Json = False) -> None:
        jobs, found = kind.find(name)
        before = jobs.controls.of(found.id)
        jobs.controls.change(found.id, paused=False)
        workers = len(jobs.workers.standings(found.id))
        text = f"'{found.name}' goes on" if before.paused else f"'{found.name}' was not paused"
        if workers:
            text += f" with {_workers(workers)}."
        elif found.status == "complete":
            text += ", and is complete."
        else:
            text += f". Nobody works on it: {_resume(jobs, found)}"
        _tell(jobs, found, text, json=json)

    pause.__doc__ = f"""Pause {kind.a_job}: {kind.cells} under way end, and no other begins."""
    go_on.__doc__ = f"""Let {kind.a_job} that was paused go on."""
    app.command()(pause)
    app.command("go-on")(go_on)


def _add_changing(app: typer.Typer, kind: Operated) -> None:
    @takes(WorkConfig, only=SETTABLE, typed_only=True)
    def set_limits(fields: dict[str, Any], name: Name, json: Json = False) -> None:
        jobs, found = kind.find(name)
        if not fields:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in SETTABLE)
            raise InputError(f"Name what to set: {options}.")
        checked(WorkConfig, fields)
        jobs.controls.change(found.id, config=fields)
        told = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in fields.items())
        workers = len(jobs.workers.standings(found.id))
        text = f"'{found.name}' has {told} from now on"
        if workers:
            text += f", with {_workers(workers)}."
        elif found.status == "complete":
            text += ", and is complete."
        else:
            text += ". Nobody works on it just now."
        spent, most = Follower(jobs, found).look().cost or 0.0, fields.get("max_cost")
        if most is not None and spent >= most:
            text += f" ${spent:.2f} are spent already, so it does not go on."
        _tell(jobs, found, text, json=json)

    def retry(
        name: Name,
        outcome: Annotated[
            list[str],
            typer.Option(
                "--outcome",
                help="Those that ended so, such as infrastructure_error or crashed. May be given "
                "several times.",
                metavar="OUTCOME",
            ),
        ],
        yes: Annotated[
            bool, typer.Option("--yes", help="Do not ask before results are set aside.")
        ] = False,
        json: Json = False,
    ) -> None:
        jobs, found = kind.find(name)
        again = _set_aside(jobs, found, outcome, yes=yes)
        workers = len(jobs.workers.standings(found.id))
        text = f"No {kind.cells} of '{found.name}' ended so."
        if again:
            how = _workers(workers) if workers else _resume(jobs, found)
            text = f"{again} {kind.cells} of '{found.name}' are to be attempted again: by {how}."
        _tell(jobs, found, text, json=json, again=again)

    set_limits.__doc__ = f"""Change the limits of {kind.a_job}, also while it is under way."""
    retry.__doc__ = f"""Attempt {kind.cells} again that ended in a certain way.

    Workers that are at it take them; otherwise whoever goes on with it. What was used is kept with
    the attempts that gave no result.
    """
    app.command("set")(set_limits)
    app.command()(retry)


def _set_aside(
    jobs: Jobs[Any, Any, Any], job: JobRecord, outcomes: Sequence[str], *, yes: bool
) -> int:
    """Set results aside that ended so: how many."""
    from greenroom.cli.output import confirm
    from greenroom.store import NO_RESULT, OUTCOMES

    wanted = sorted(set(outcomes))
    if unknown := set(wanted) - set(OUTCOMES):
        raise UnknownName("outcome", min(unknown), OUTCOMES)
    there = jobs.pages.outcomes(job.id)
    count = sum(there.get(one, 0) for one in wanted)
    if count and wanted != [NO_RESULT] and not yes:
        confirm(f"Set {count} results of '{job.name}' aside and attempt them again?")
    return jobs.workers.retry(job.id, wanted)


def _resume(jobs: Jobs[Any, Any, Any], job: JobRecord) -> str:
    return f"{jobs.kind.resume} {job.name}"


def _workers(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"


def _tell(jobs: Jobs[Any, Any, Any], job: JobRecord, text: str, *, json: bool, **more: Any) -> None:
    if not json:
        echo(text)
        return
    control = jobs.controls.of(job.id)
    workers = jobs.workers.standings(job.id)
    print_json(
        {
            jobs.kind.name: job.name,
            "paused": control.paused,
            "set": control.config,
            "workers": [
                {"host": one.host, "pid": one.pid, "claimed": one.claimed} for one in workers
            ],
            **more,
        }
    )
