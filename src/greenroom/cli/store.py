"""`greenroom store`: where runs are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, echo, print_json

app = typer.Typer(help="Look at the store of runs, and back it up.", no_args_is_help=True)


@app.command()
def show(json: Json = False) -> None:
    """Show where runs are kept, and how many there are."""
    from greenroom.store import open_store, schema_version

    store = open_store()
    runs = store.runs.standings()
    facts = {
        "location": store.location,
        "schema": schema_version(store.engine),
        "runs": len(runs),
        "episodes": sum(run.finished for run in runs),
    }
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        console().print(f"{name}: {value}", soft_wrap=True)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist yet.")],
) -> None:
    """Copy the store to a file, even while runs are being played."""
    from greenroom.store import backup as copy_store
    from greenroom.store import open_store

    copy_store(open_store().engine, file)
    echo(f"Wrote {file}")
