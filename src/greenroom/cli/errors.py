"""`greenroom errors`: why episodes failed."""

from __future__ import annotations

from typing import Annotated

import typer

from greenroom.cli.options import Json, Run
from greenroom.cli.output import console, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(errors)


def errors(
    run: Run,
    limit: Annotated[int, typer.Option("--limit", help="How many failures to explain.")] = 20,
    json: Json = False,
) -> None:
    """Break the failures of a run down by kind, and explain each with its evidence."""
    from rich.table import Table

    from greenroom.analysis.errors import break_down
    from greenroom.store import open_store

    store = open_store()
    record = store.runs.find(run)
    breakdown = break_down(store.runs.results(record.id))
    if json:
        print_json(breakdown.model_dump())
        return
    out = console()
    if not breakdown.failures:
        out.print(f"No failures in {record.name}.")
        return
    table = Table(title=f"{record.name}: {breakdown.failures} failures", title_justify="left")
    table.add_column("Kind")
    table.add_column("Episodes", justify="right")
    table.add_column("Share", justify="right")
    for kind, count in sorted(breakdown.by_kind.items(), key=lambda item: -item[1]):
        table.add_row(kind.replace("_", " "), str(count), f"{count / breakdown.failures:.0%}")
    out.print(table)
    for diagnosis in breakdown.diagnoses[:limit]:
        where = f"task {diagnosis.task_index}, trial {diagnosis.trial}"
        out.print(f"{where}: {diagnosis.explanation}", markup=False, soft_wrap=True)
        for difference in diagnosis.differences[:2]:
            out.print(f"    {difference}", markup=False, soft_wrap=True, style="dim")
    if breakdown.failures > limit:
        out.print(f"... and {breakdown.failures - limit} more: --limit or --json shows them")
