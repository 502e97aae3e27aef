"""Playing a run at the command line: progress, Ctrl-C and what to say afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from greenroom.cli.output import console, progress

if TYPE_CHECKING:
    from greenroom.benchmark import PreparedRun
    from greenroom.benchmark.casting import Cast
    from greenroom.store import EpisodeRecord, RunRecord, Store

OUT_OF_BUDGET = 3


def play_and_report(
    store: Store, run: RunRecord, prepared: PreparedRun, *, json: bool = False
) -> None:
    """Play what is left of a run, then show its report, or say how to go on."""
    import anyio

    from greenroom.benchmark import play_run
    from greenroom.models import BudgetExhausted
    from greenroom.reports.build import build_report

    standing = Standing(store, run)
    left = run.planned - len(store.runs.finished(run.id))
    try:
        # A person who plays the user needs the terminal for themselves.
        with progress(run.name, left, shown=not json and not prepared.interactive) as advance:

            def note(record: EpisodeRecord) -> None:
                standing.add(record)
                advance(str(standing))

            anyio.run(
                lambda: play_run(store, run, prepared, on_episode=note, on_cast=standing.meet)
            )
    except KeyboardInterrupt:
        _say_how_to_go_on(store, run, "Stopped", f"greenroom resume {run.name}")
        raise typer.Exit(130) from None
    except BudgetExhausted as spent:
        again = f"greenroom resume {run.name} --max-cost ... (or --max-tokens-total ...)"
        _say_how_to_go_on(store, run, str(spent).rstrip("."), again)
        raise typer.Exit(OUT_OF_BUDGET) from None
    report = build_report(store, store.runs.find(run.name))
    if json:
        from greenroom.reports.json_report import render_json

        typer.echo(render_json(report))
        return
    from greenroom.reports.console import print_report

    print_report(report, console())
    _say_what_next(report.run)


class Standing:
    """How a run stands while it is being played, in a line: pass^1, money, calls and limits."""

    def __init__(self, store: Store, run: RunRecord) -> None:
        counted = [s for s in store.runs.summaries(run.id) if s.reward is not None]
        self._solved = sum(summary.reward == 1.0 for summary in counted)
        self._counted = len(counted)
        self._cast: Cast | None = None
        self._start = time.monotonic()

    def add(self, record: EpisodeRecord) -> None:
        """Count an episode that has ended; one that broke says nothing about the agent."""
        if record.reward is not None:
            self._counted += 1
            self._solved += record.reward == 1.0

    def meet(self, cast: Cast) -> None:
        """Get to know the models whose counters are shown."""
        self._cast = cast

    def __str__(self) -> str:
        parts = [f"pass^1 {self._solved / self._counted:.2f}"] if self._counted else []
        clients = self._cast.clients if self._cast else []
        if self._cast is not None and clients:
            counters = [client.counters for client in clients]
            calls = sum(counter.calls for counter in counters)
            hits = sum(counter.cache_hits for counter in counters)
            retries = sum(counter.retries for counter in counters)
            limits = [counter.limit for counter in counters if counter.limit is not None]
            if self._cast.budget.cost:
                parts.append(f"${self._cast.budget.cost:.2f}")
            parts.append(f"{calls / max(time.monotonic() - self._start, 1e-9):.0f} calls/s")
            if retries:
                parts.append(f"{retries} retries")
            if hits:
                parts.append(f"{hits} from cache")
            if limits:
                parts.append(f"limit {min(limits)}")
        return ", ".join(parts)


def _say_how_to_go_on(store: Store, run: RunRecord, why: str, command: str) -> None:
    kept = len(store.runs.finished(run.id))
    typer.echo(
        f"\n{why}: {kept} of {run.planned} episodes are finished and stored. Go on with: {command}",
        err=True,
    )


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
