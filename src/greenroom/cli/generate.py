"""`greenroom generate`: a fresh pack that nobody has published."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json, Replace
from greenroom.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from greenroom.domains.generation import Profile

app = typer.Typer()


@app.command()
def generate(
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
    env: Annotated[
        str, typer.Option("--env", help="The domain: retail, airline, telecom, or one of your own.")
    ] = "retail",
    seed: Annotated[int, typer.Option("--seed", help="Another seed is another world.")] = 10,
    tasks: Annotated[int, typer.Option("--tasks", help="How many tasks to make.")] = 100,
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty",
            help="official (the default): as much is asked as in the official tasks; hard: more; "
            "easy: less (retail).",
        ),
    ] = None,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Make a fresh world with tasks, to measure on data that no model has seen."""
    from greenroom.domains.domain import Domain
    from greenroom.domains.generation import figures_apart, profile_tasks
    from greenroom.domains.pack_writer import check_destination, write_pack
    from greenroom.domains.plugins import find_generator, find_plugin, generate_pack
    from greenroom.domains.validation import check_generated

    check_destination(output, replace=replace)
    generator, plugin = find_generator(env), find_plugin(env)
    pack = generate_pack(env, seed=seed, tasks=tasks, difficulty=difficulty)
    domain = Domain(plugin.edition(pack.info.edition, plugin.check()), pack)
    check_generated(domain)
    write_pack(output, [pack], replace=replace)
    counts = {name: len(records) for name, records in pack.load_tables().items()}
    made = profile_tasks(domain)
    if json:
        result = {
            "directory": str(output),
            "pack": pack.info.model_dump(),
            "tasks": tasks,
            "sound": tasks,
            "figures": made,
            "official_figures": dict(generator.official),
            "figures_apart": figures_apart(made, generator.official),
        }
        print_json(result | counts)
        return
    out = console()
    sizes = ", ".join(f"{count} {name}" for name, count in counts.items())
    out.print(f"Wrote {tasks} tasks over {sizes} to {output}; all are sound", soft_wrap=True)
    _print_figures(made, generator.official)
    if generator.official and difficulty in (None, "official"):
        out.print(_verdict(figures_apart(made, generator.official)), soft_wrap=True)
    out.print(f"Use it with --data {output}", soft_wrap=True)


def _print_figures(made: Profile, official: Profile) -> None:
    from greenroom.domains.generation.profiles import FIGURES, difference, shown

    def row(name: str) -> tuple[str, ...]:
        here = shown(name, made[name])
        if not official:
            return (here,)
        apart = difference(name, made, official)
        return shown(name, official[name]), here, _percent(apart)

    numbers = ("Official", "Here", "Apart") if official else ("Here",)
    rows = [(meaning, *row(name)) for name, meaning in FIGURES.items()]
    print_table(None, ("What the tasks ask", *numbers), rows, right=numbers)


def _percent(apart: float) -> str:
    if not isfinite(apart):
        return ""
    percent = round(100 * apart)
    return f"{percent:+d} %" if percent else "0 %"


def _verdict(apart: Sequence[str]) -> str:
    from greenroom.domains.generation.profiles import FIGURES, TOLERANCE

    most = f"{100 * TOLERANCE:.0f} %"
    if not apart:
        return f"Every figure is within {most} of the official one"
    named = "; ".join(FIGURES[name] for name in apart)
    return f"More than {most} from the official figures, as small packs may be: {named}"
