"""From a stored run to its report."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.analysis.errors import break_down
from greenroom.analysis.metrics import measure_run
from greenroom.analysis.slices import slice_run
from greenroom.analysis.usage import total_usage, usage_by_purse
from greenroom.reports.build_run import run_report
from greenroom.reports.leaderboard import published_rows
from greenroom.reports.report import RunData, RunReport
from greenroom.store import EpisodeRecord, RunRecord, Store


def build_report(store: Store, run: RunRecord, *, by: Iterable[str] = ()) -> RunReport:
    """Everything that is known of a run."""
    episodes = list(store.runs.results(run.id))
    metrics = measure_run(
        episodes,
        task_indices=run.task_indices,
        num_trials=run.num_trials,
        over=run.status != "running",
    )
    attempts = store.runs.attempts(run.id)
    wasted = usage_by_purse(attempt.usage for attempt in attempts)
    data = RunData(
        run=run,
        metrics=metrics,
        errors=break_down(episodes),
        published=published_rows(run),
        episodes=episodes,
        attempts=len(attempts),
        attempts_cost=total_usage(wasted.values()).cost,
        attempts_usage=wasted,
        agent_facts=_facts(episodes),
        agent_tallies=_tallies(episodes),
        slices={one: slice_run(episodes, one) for one in by},
    )
    return run_report(data)


def _facts(episodes: Iterable[EpisodeRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for episode in episodes:
        for label, value in episode.facts.items():
            values = found.setdefault(label, [])
            if value not in values:
                values.append(value)
    return found


def _tallies(episodes: Iterable[EpisodeRecord]) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for episode in episodes:
        for title, counts in episode.tallies.items():
            sums = found.setdefault(title, {})
            for label, count in counts.items():
                so_far = sums.get(label, 0.0)
                # What is unknown once is unknown in all.
                sums[label] = None if count is None or so_far is None else so_far + count
    return {title: sums for title, sums in found.items() if sums}
