"""From a stored run to its report."""

from __future__ import annotations

from greenroom.analysis.errors import break_down
from greenroom.analysis.metrics import measure_run
from greenroom.reports.leaderboard import published_rows
from greenroom.reports.report import Report
from greenroom.store import RunRecord, Store


def build_report(store: Store, run: RunRecord) -> Report:
    """Everything that is known of a run."""
    episodes = list(store.episodes(run.id))
    metrics = measure_run(
        episodes,
        task_indices=run.task_indices,
        num_trials=run.num_trials,
        over=run.status != "running",
    )
    attempts = store.attempts(run.id)
    costs = [usage.cost for attempt in attempts for usage in attempt["usage"].values()]
    known = [cost for cost in costs if cost is not None]
    return Report(
        run=run,
        metrics=metrics,
        errors=break_down(episodes),
        published=published_rows(run),
        episodes=episodes,
        attempts=len(attempts),
        attempts_cost=sum(known) if known and len(known) == len(costs) else None,
    )
