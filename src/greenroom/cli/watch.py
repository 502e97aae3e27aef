"""`greenroom runs watch`: a run that another process plays, as it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.options import Run
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.store import RunRecord, Store


def watch(
    run: Run,
    interval: Annotated[
        float, typer.Option("--interval", help="Seconds between two looks.", min=0.05)
    ] = 1.0,
) -> None:
    """Watch a run from another terminal until it is over; the exit status is 1 if it stopped."""
    from greenroom.store import open_store

    store = open_store()
    record = store.runs.find(run)
    with progress_bar(record.name, record.planned) as advance:
        shown = 0
        for done, note in _looks(store, record, interval):
            for _ in range(done - shown):
                advance(note)
            shown = done
    status = store.runs.find(record.id).status
    typer.echo(f"{record.name} is {status}: {shown} of {record.planned} episodes have a result")
    if status != "complete":
        raise typer.Exit(1)


def _looks(store: Store, run: RunRecord, interval: float) -> Iterator[tuple[int, str]]:
    while True:
        # Asked before counting: what was finished in between is then counted too.
        playing = store.runs.find(run.id).status == "running"
        results = [s for s in store.runs.summaries(run.id) if s.reward is not None]
        solved = sum(summary.solved for summary in results)
        costs = [summary.cost for summary in results if summary.cost is not None]
        note = f"pass^1 {solved / len(results):.2f}" if results else ""
        if costs:
            note += f", ${sum(costs):.2f}"
        yield len(results), note
        if not playing:
            return
        time.sleep(interval)
