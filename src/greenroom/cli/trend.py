"""`greenroom trend`: which tasks of a nightly run changed against the runs before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, echo, print_json, print_table
from greenroom.cli.reporting import FAILED

if TYPE_CHECKING:
    from greenroom.analysis.changes import TaskChange
    from greenroom.reports.trend import Trend

app = typer.Typer()

_LONGEST_WISH = 60


@app.command()
def trend(
    name: Annotated[
        str,
        typer.Argument(
            help="A run, or what the names of its series begin with: nightly for nightly-1, "
            "nightly-2, ...",
            metavar="NAME",
        ),
    ],
    nights: Annotated[
        int,
        typer.Option("--nights", help="How many runs before it to look at.", min=1, max=1000),
    ] = 14,
    fail_on_regression: Annotated[
        bool,
        typer.Option("--fail-on-regression", help="Exit with status 1 if any task became worse."),
    ] = False,
    json: Json = False,
) -> None:
    """Find tasks that are solved more or less often than in the runs before.

    Equal runs raise a false alarm in at most 5 of 100 periods of 60 nights, however many tasks
    there are and although every night is looked at.
    """
    from greenroom.reports.trend import trend_of
    from greenroom.store import open_store

    found = trend_of(open_store(), name, nights)
    if json:
        print_json(found.model_dump())
    else:
        _show(found)
    if fail_on_regression and found.worse:
        tasks = ", ".join(str(one.task_index) for one in found.worse)
        echo(f"Solved less often than before: {tasks}", err=True)
        raise typer.Exit(FAILED)


def _show(found: Trend) -> None:
    from greenroom.reports.texts import percent, plural

    *earlier, last = found.runs
    out = console()
    many = plural(len(found.changes), "task")
    headline = f"{many} changed" if found.changes else "No task changed beyond chance"
    out.print(f"{last.name}: {headline}.", style="bold")
    rates = [one.pass_1 for one in earlier if one.pass_1 is not None]
    before = percent(sum(rates) / len(rates)) if rates else "unknown"
    now = "unknown" if last.pass_1 is None else percent(last.pass_1)
    against = plural(len(earlier), "run")
    out.print(f"pass^1 {now}; {before} in the {against} before, from {earlier[0].name} on.")
    if found.changes:
        headings = ("Task", "What the user wants", "Before", "Since", "Nights", "Became", "p")
        rows = [_row(found, one) for one in found.changes]
        print_table("Tasks that changed", headings, rows, right=("Task", "Nights", "p"))
    if found.other_tasks:
        out.print(f"Left out: {plural(len(found.other_tasks), 'run')} of other tasks.")
    find = found.nights_to_find
    reach = (
        f"would be found after {plural(find, 'night')}"
        if find
        else "could not be told from chance: play more trials, or look at more nights"
    )
    out.print(f"A task that was always solved, and never is any more, {reach}.")
    out.print(
        f"False alarms: in at most {percent(found.false_alarms)} of all periods of {found.nights} "
        "nights in which nothing changed."
    )


def _row(found: Trend, one: TaskChange) -> list[str]:
    from greenroom.reports.texts import one_line, wish

    return [
        str(one.task_index),
        one_line(wish(found.instructions.get(one.task_index, "")), _LONGEST_WISH),
        f"{one.before_successes}/{one.before_trials}",
        f"{one.successes}/{one.trials}",
        str(one.nights),
        one.direction,
        f"{one.p_value:.1g}",
    ]
