"""`greenroom runs card`: a claim card of a run, and its verification."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import echo, print_json
from greenroom.cli.reporting import FAILED, ReportOptions
from greenroom.errors import InputError, UnknownName
from greenroom.options import checked

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Store


def card(
    run: Annotated[
        str | None,
        typer.Argument(
            help="The name or id of a run; with --verify, by default the one on the card.",
            metavar="RUN",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write a file: .json, or .md for people.", metavar="FILE"
        ),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            "--verify", help="Build the card in this file again and compare.", metavar="FILE"
        ),
    ] = None,
    exclude_tasks: Annotated[
        str | None,
        typer.Option(
            "--exclude-tasks",
            help="Leave these tasks out: the findings of an audit, a file that lists places, or "
            "places. The card says so.",
            metavar="FILE | N,N,...",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write all that a published figure needs: task set, agent, figures, coverage, cost, hashes.

    With --verify, build a card again from the store; the exit status is 1 if anything differs.
    """
    from greenroom.benchmark.reproducing import commands_of
    from greenroom.reports.card import build_card, card_json, card_markdown
    from greenroom.reports.exclusions import without_tasks
    from greenroom.store import open_store

    if verify is not None:
        if output is not None:
            raise InputError("--verify reads a card and --output writes one: give one of them.")
        if exclude_tasks is not None:
            raise InputError("A card names the tasks that it leaves out: --verify needs no more.")
        _verify(verify, run, json=json)
        return
    if run is None:
        raise InputError("Name the run: greenroom runs card RUN -o card.json")
    store = open_store()
    outcome = checked(ReportOptions, {"exclude_tasks": exclude_tasks})
    found = without_tasks(store.runs.find(run), outcome.exclude_tasks or ())
    made = build_card(store, found, commands_of(found))
    if output is None:
        echo((card_json if json else card_markdown)(made).rstrip("\n"))
        return
    if output.suffix not in (".json", ".md"):
        raise InputError(f"A card is a .json or a .md file, and {output.name} is neither.")
    from greenroom.util.files import check_directory, write_whole

    check_directory(output)
    write_whole(output, (card_json if output.suffix == ".json" else card_markdown)(made))
    if json:
        print_json({"file": str(output), "run": found.name})
    else:
        echo(f"Wrote {output}. 'greenroom runs card --verify {output}' checks it.")


def _verify(path: Path, run: str | None, *, json: bool) -> None:
    from greenroom.benchmark.reproducing import commands_of
    from greenroom.domains.packs import read_text
    from greenroom.reports.card import excluded_on, read_card, verify_card
    from greenroom.reports.exclusions import narrowed
    from greenroom.reports.texts import plural
    from greenroom.store import open_store
    from greenroom.store.aggregates import pruned_digests

    claimed = read_card(read_text(path), str(path))
    store = open_store()
    kept = store.runs.find(run) if run is not None else _run_of(claimed["run"], path, store)
    own = {one.task_index for one in kept.excluded}
    found = narrowed(kept, [one for one in excluded_on(claimed) if one.task_index not in own])
    problems = verify_card(store, found, claimed, commands_of(found))
    pruned = len(pruned_digests(store.engine, found.id))
    if json:
        facts = {"run": found.name, "holds": not problems, "differences": problems}
        print_json(facts | ({"pruned": pruned} if pruned else {}))
    else:
        if pruned:
            echo(
                f"{plural(pruned, 'conversation')} of the run {'was' if pruned == 1 else 'were'} "
                "pruned: there, the digests that were noted then are compared."
            )
        for problem in problems:
            echo(problem)
        word = "holds" if not problems else "does not hold"
        echo(f"{path} {word}: {len(problems) or 'no'} difference{'s' * (len(problems) != 1)}.")
    if problems:
        raise typer.Exit(FAILED)


def _run_of(claimed: Mapping[str, Any], path: Path, store: Store) -> RunRecord:
    """The run that a card is of; whoever got the card from others may not have it."""
    wanted = str(claimed.get("id"))
    try:
        return store.runs.find(wanted)
    except UnknownName as error:
        raise InputError(
            f"{path} is the card of the run '{claimed.get('name')}' ({wanted}), which this store "
            "does not have. Name the store that has it in GREENROOM_DATABASE_URL; the commands on "
            "the card play it again."
        ) from error
