"""`greenroom generate`: a fresh pack that nobody has published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from greenroom.cli.options import Json, Replace
from greenroom.cli.output import console, print_json

app = typer.Typer()


@app.command()
def generate(
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
    env: Annotated[str, typer.Option("--env", help="The domain: retail.")] = "retail",
    seed: Annotated[int, typer.Option("--seed", help="Another seed is another world.")] = 10,
    tasks: Annotated[int, typer.Option("--tasks", help="How many tasks to make.")] = 100,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Make a fresh world with tasks, to measure on data that no model has seen."""
    from greenroom.domains.pack_writer import check_destination, write_pack
    from greenroom.domains.plugins import generate_pack

    check_destination(output, replace=replace)
    pack = generate_pack(env, seed=seed, tasks=tasks)
    write_pack(output, [pack], replace=replace)
    counts = {name: len(records) for name, records in pack.load_tables().items()}
    if json:
        print_json(
            {"directory": str(output), "pack": pack.info.model_dump(), "tasks": tasks} | counts
        )
        return
    out = console()
    sizes = ", ".join(f"{count} {name}" for name, count in counts.items())
    out.print(f"Wrote {tasks} tasks over {sizes} to {output}", soft_wrap=True)
    out.print(f"Use it with --data {output}", soft_wrap=True)
