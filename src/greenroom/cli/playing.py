"""Playing a run at the command line: progress, Ctrl-C and what to say afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from greenroom.cli.output import console, progress

if TYPE_CHECKING:
    from greenroom.benchmark import PreparedRun
    from greenroom.store import EpisodeRecord, RunRecord, Store


def play_and_report(
    store: Store, run: RunRecord, prepared: PreparedRun, *, json: bool = False
) -> None:
    """Play what is left of a run, then show its report, or say how to go on."""
    import anyio

    from greenroom.benchmark import play_run
    from greenroom.models import BudgetExhausted
    from greenroom.reports.build import build_report

    finished = {(s.task_index, s.trial): s.reward == 1.0 for s in store.summaries(run.id)}

    def note(advance: Callable[[str], None], record: EpisodeRecord) -> None:
        finished[record.task_index, record.trial] = record.reward == 1.0
        advance(f"pass^1 {sum(finished.values()) / len(finished):.2f}")

    left = run.planned - len(store.finished(run.id))
    try:
        with progress(run.name, left, shown=not json) as advance:

            async def play() -> None:
                await play_run(
                    store, run, prepared, on_episode=lambda record: note(advance, record)
                )

            anyio.run(play)
    except KeyboardInterrupt:
        _say_how_to_go_on(store, run, "Stopped", f"greenroom resume {run.name}")
        raise typer.Exit(130) from None
    except BudgetExhausted as spent:
        again = f"greenroom resume {run.name} --max-cost ... (or --max-tokens-total ...)"
        _say_how_to_go_on(store, run, str(spent).rstrip("."), again)
        raise typer.Exit(3) from None
    report = build_report(store, store.run(run.name))
    if json:
        from greenroom.reports.json_report import render_json

        typer.echo(render_json(report))
        return
    from greenroom.reports.console import print_report

    print_report(report, console())
    _say_what_next(report.run)


def _say_how_to_go_on(store: Store, run: RunRecord, why: str, command: str) -> None:
    kept = len(store.finished(run.id))
    typer.echo(
        f"\n{why}: {kept} of {run.planned} episodes are finished and stored. Go on with: {command}",
        err=True,
    )


def _say_what_next(run: RunRecord) -> None:
    if run.status != "complete":
        typer.echo(
            f"Some episodes broke without a result. Try them again: greenroom resume {run.name}"
        )
    typer.echo(
        f"Stored as '{run.name}'. As a page: greenroom runs report {run.name} -o report.html"
    )
