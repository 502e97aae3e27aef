"""`greenroom runs prune`: conversations that are no longer needed are dropped, figures stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import confirm, console, echo, print_json, print_table
from greenroom.errors import InputError
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.store import Store
    from greenroom.store.pruning import Prunable

_AGE = re.compile(r"(\d{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def prune(
    runs: Annotated[
        list[str] | None,
        typer.Option("--run", help="Only this run. May be given several times.", metavar="NAME"),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            help="Only runs that were begun so long ago: 12h, 30d or 8w.",
            metavar="AGE",
        ),
    ] = None,
    keep_failures: Annotated[
        bool,
        typer.Option("--keep-failures", help="Keep the conversations of all but solved episodes."),
    ] = False,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Then give the room back to the disk: rewrites an SQLite file."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Drop the conversations of runs; figures, costs and why episodes failed are kept.

    Says first what it would drop. Without --yes it asks; where nobody can be asked, it drops
    nothing. Runs that are under way are left alone.
    """
    from greenroom.store import open_store
    from greenroom.store.pruning import compact as give_back
    from greenroom.store.pruning import prunable_runs

    if not runs and older_than is None:
        raise InputError("Say which runs: --older-than 30d, or --run NAME.")
    before = None if older_than is None else datetime.now(UTC) - _age(older_than)
    store = open_store()
    on_file = store.engine.dialect.name == "sqlite"
    if compact and not on_file:
        raise InputError("--compact is for SQLite files: PostgreSQL gives room back by itself.")
    found = prunable_runs(store, names=runs or (), before=before, keep_failures=keep_failures)
    wanted = [one for one in found if not one.under_way]
    left = [one.run.name for one in found if one.under_way]
    episodes, size = sum(one.episodes for one in wanted), sum(one.bytes for one in wanted)
    if json:
        done = _prune(store, wanted, keep_failures, shown=False) if yes else 0
    else:
        _tell(wanted, left)
        if not wanted:
            return
        if not yes:
            confirm(f"Prune {episodes:,} conversations ({_size(size)})? They cannot be restored.")
        done = _prune(store, wanted, keep_failures, shown=True)
    if compact and done:
        give_back(store)
    if json:
        runs_of = [
            {"name": one.run.name, "episodes": one.episodes, "bytes": one.bytes} for one in wanted
        ]
        print_json(
            {"runs": runs_of, "episodes": episodes, "bytes": size, "under_way": left}
            | {"pruned": done}
        )
        return
    echo(f"Pruned {done:,} conversations of {len(wanted):,} runs: figures are as they were.")
    if done < episodes:
        echo(f"{episodes - done:,} could not be counted, and are left as they are.")
    if on_file and not compact:
        echo("The file keeps its size, and the room is used again: --compact gives it back.")


def _prune(store: Store, wanted: Sequence[Prunable], keep_failures: bool, *, shown: bool) -> int:
    from greenroom.store.pruning import prune_run

    done = 0
    with progress_bar("Conversations", sum(one.episodes for one in wanted), shown=shown) as advance:
        for one in wanted:
            for count in prune_run(store, one.run.id, keep_failures=keep_failures):
                done += count
                for _ in range(count):
                    advance("")
    return done


def _tell(wanted: Sequence[Prunable], left: Sequence[str]) -> None:
    for name in left:
        echo(f"{name} is under way: it is left alone")
    if not wanted:
        console().print("There is nothing to prune.")
        return
    rows = [
        [
            one.run.name,
            f"{one.run.created_at.astimezone():%Y-%m-%d %H:%M}",
            f"{one.episodes:,}",
            _size(one.bytes),
        ]
        for one in wanted
    ]
    headings = ("Run", "Created", "Conversations", "Size")
    print_table("To be pruned", headings, rows, right=("Conversations", "Size"))


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"'{text}' is no age: write 12h, 30d or 8w.")
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
