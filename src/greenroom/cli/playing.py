"""Playing a run at the command line, and what is said afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from greenroom.cli.reporting import Outcome, reported, show
from greenroom.cli.working import Watcher, work

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.reports.sections import Report
    from greenroom.store import RunRecord, Store


def play_and_report(
    store: Store, run: RunRecord, context: RunContext, outcome: Outcome, *, json: bool = False
) -> Report:
    """Play what is left of a run, then show its report, or say how to go on."""
    from greenroom.benchmark import play_run
    from greenroom.trials import Progress

    async def play(watcher: Watcher) -> None:
        await play_run(store, run, context, on_plan=watcher.on_plan, on_episode=watcher.on_result)

    before = [float(one.solved) for one in store.runs.summaries(run.id) if one.reward is not None]
    work(
        store.runs,
        run,
        play,
        Progress("pass^1", before),
        lambda episode: float(episode.solved),
        noun="episodes",
        # A person who plays the user needs the terminal for themselves.
        shown=not json and not context.interactive,
    )
    run = store.runs.find(run.id)
    report = reported(store, run, outcome)
    show(report, outcome, json=json)
    if not json:
        _say_what_next(run)
    return report


def _say_what_next(run: RunRecord) -> None:
    if run.status != "complete":
        typer.echo(
            f"Some episodes broke without a result. Try them again: greenroom resume {run.name}"
        )
    if str(run.config.get("model") or "").startswith("local/"):
        typer.echo(
            "A model this small only shows that the pipeline works: its score means nothing."
        )
    typer.echo(
        f"Stored as '{run.name}'. As a page: greenroom runs report {run.name} -o report.html"
    )
