"""`greenroom plan`: how many tasks and trials find a difference, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from greenroom.reports.sizes import Sizes

app = typer.Typer()


@app.command()
def plan(
    detect: Annotated[
        float,
        typer.Option(
            "--detect", help="The true difference in pass^1 to be found.", min=0.001, max=1.0
        ),
    ] = 0.05,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="A run that says how tasks and prices are; two runs also say how far they lie "
            "apart.",
            metavar="RUN",
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option("--power", help="The chance that it is found.", min=0.05, max=0.999),
    ] = 0.8,
    false_calls: Annotated[
        float,
        typer.Option(
            "--false-calls",
            help="The chance that equal agents are called different.",
            min=0.0001,
            max=0.5,
        ),
    ] = 0.05,
    success: Annotated[
        float | None,
        typer.Option(
            "--success",
            help="Without a run: the chance of success, 0.5 unless given.",
            min=0.001,
            max=0.999,
        ),
    ] = None,
    likeness: Annotated[
        float | None,
        typer.Option(
            "--likeness",
            help="Without a run: the correlation of trials of one task, 0.3 unless given.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    alike: Annotated[
        float | None,
        typer.Option(
            "--alike",
            help="The correlation of both agents' chances over tasks, 0.7 unless given.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(
            "--tasks", help="How many tasks there are; those of the run unless given.", min=2
        ),
    ] = None,
    max_concurrency: Annotated[
        int | None,
        typer.Option(
            "--max-concurrency",
            help="How many episodes are played at the same time; as in the run unless given.",
            min=1,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Say how many tasks and trials find a difference between two runs, and what they cost.

    Both runs play the same tasks, and are compared task by task. Prices come from a run.
    """
    from greenroom.reports.sizes import comparison_plan
    from greenroom.store import open_store

    found = comparison_plan(
        open_store(),
        names or [],
        detect=detect,
        power=power,
        false_calls=false_calls,
        success=success,
        likeness=likeness,
        alike=alike,
        tasks=tasks,
        at_once=max_concurrency,
    )
    if json:
        print_json(found.model_dump())
    else:
        _show(found)


def _show(found: Sizes) -> None:
    from greenroom.reports.texts import NOTHING, percent, plural, show

    out = console()
    out.print(
        f"To find a true difference of {found.detect:g} in pass^1 between two runs over the same "
        f"tasks, with {percent(found.power)} power and false calls in "
        f"{100 * found.false_calls:g} % at most:",
        style="bold",
    )
    headings = ["Tasks", "Trials", "Episodes of a run", "Power"]
    if found.price is not None:
        headings += ["Cost of a run", "Time of a run"]
    rows: list[list[str]] = []
    for one in found.sizes:
        row = [f"{one.tasks:,}", f"{one.trials:,}", f"{one.episodes:,}", percent(one.power)]
        if found.price is not None:
            row += [
                "unknown" if one.cost is None else show(one.cost, "money"),
                NOTHING if one.seconds is None else show(one.seconds, "seconds"),
            ]
        rows.append(row)
    if rows:
        print_table(None, headings, rows, right=headings)
        out.print("Each row is enough; there are two such runs.")
    else:
        out.print("No number of tasks and trials does.")
    if found.no_trials_suffice:
        out.print(
            f"With {plural(found.tasks or 0, 'task')} no number of trials does: it takes more "
            "tasks.",
            soft_wrap=True,
        )
    for label, sentences in (("Measured", found.measured), ("Assumed", found.assumed)):
        for sentence in sentences:
            out.print(f"{label}: {sentence}", soft_wrap=True)
    if not found.measured:
        out.print("A run of yours knows better, and what it costs: --from RUN.")
