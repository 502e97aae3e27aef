"""Playing a run at the command line, and what is said afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from greenroom.cli.output import console
from greenroom.cli.working import Watcher, work

if TYPE_CHECKING:
    from greenroom.benchmark import RunContext
    from greenroom.store import RunRecord, Store


def play_and_report(
    store: Store, run: RunRecord, context: RunContext, *, json: bool = False
) -> None:
    """Play what is left of a run, then show its report, or say how to go on."""
    from greenroom.benchmark import play_run
    from greenroom.reports.build import build_report
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
    report = build_report(store, store.runs.find(run.name))
    if json:
        from greenroom.reports.json_report import render_json

        typer.echo(render_json(report))
        return
    from greenroom.reports.console import print_report

    print_report(report, console())
    _say_what_next(report.run)


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
