"""`greenroom compare`: is one run better than another, or is it chance?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.errors import InputError
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from greenroom.store import RunRecord


class Errors(StrEnum):
    """What becomes of episodes without a result."""

    excluded = "excluded"
    as_failures = "as-failures"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    runs: Annotated[
        list[str], typer.Argument(help="The baseline, then the runs to hold against it.")
    ],
    errors: Annotated[
        Errors, typer.Option("--errors", help="Leave broken episodes out, or count them as failed.")
    ] = Errors.excluded,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the Markdown to a file.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare runs with the first of them, task by task, and say what that proves."""
    from greenroom.reports.comparison import (
        build_comparison,
        comparison_markdown,
        print_comparison,
    )
    from greenroom.store import open_store

    if len(set(runs)) < 2 or len(set(runs)) < len(runs):
        raise InputError("Name at least two different runs: greenroom compare BASELINE RUN ...")
    store = open_store()
    records = [store.runs.find(name) for name in runs]
    for record in records[1:]:
        if _played_on(record) != _played_on(records[0]):
            raise InputError(
                f"'{records[0].name}' was played on {_played_on(records[0])}, '{record.name}' on "
                f"{_played_on(record)}: their tasks cannot be paired."
            )
    convention = "errors_excluded" if errors is Errors.excluded else "errors_as_failures"
    comparison = build_comparison(store, records, convention=convention)
    if json:
        print_json(comparison.model_dump())
    elif output is not None:
        write_whole(output, comparison_markdown(comparison))
        typer.echo(f"Wrote {output}")
    elif markdown:
        typer.echo(comparison_markdown(comparison).rstrip("\n"))
    else:
        print_comparison(comparison, console())


def _played_on(run: RunRecord) -> str:
    return f"{run.env} {run.task_split} of {run.pack['name']} {run.pack['version']}"
