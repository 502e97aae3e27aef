"""`make bench`: run every benchmark; with CHECK=1, fail if a floor is missed."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.beside_agenta import calls_beside_agenta
from benchmarks.environments import episode_speed, live_environments
from benchmarks.evaluations import evaluated_rows
from benchmarks.gateway import metered_calls
from benchmarks.judges import judges
from benchmarks.large_store import large_jobs
from benchmarks.mcp_calls import mcp_calls
from benchmarks.models import (
    both_parties,
    episodes_in_flight,
    few_at_once,
    many_at_once,
    model_calls,
)
from benchmarks.playground import playground_pages
from benchmarks.serving import served_calls
from benchmarks.statistics import (
    coverage,
    false_calls,
    planned_power,
    power,
    steady_agent,
    variance_split,
)
from benchmarks.statistics_grid import (
    grid_coverage,
    grid_equivalence,
    grid_false_calls,
    grid_power,
)
from benchmarks.storage import kept_results, long_run
from benchmarks.tau2 import tau2_episodes, tau2_live_environments
from benchmarks.tracing import spans_that_wait, traced_episodes
from benchmarks.user_audit import planted_faults
from benchmarks.workers import claims, processes, shared_rate

BENCHMARKS = (
    episode_speed,
    live_environments,
    tau2_episodes,
    tau2_live_environments,
    kept_results,
    long_run,
    claims,
    processes,
    shared_rate,
    large_jobs,
    few_at_once,
    both_parties,
    many_at_once,
    model_calls,
    episodes_in_flight,
    served_calls,
    mcp_calls,
    metered_calls,
    calls_beside_agenta,
    playground_pages,
    evaluated_rows,
    traced_episodes,
    spans_that_wait,
    steady_agent,
    coverage,
    false_calls,
    power,
    judges,
    grid_coverage,
    grid_false_calls,
    grid_power,
    grid_equivalence,
    planned_power,
    variance_split,
    planted_faults,
)


def main() -> int:
    """Print all measures; with CHECK=1, the exit status says whether the floors hold."""
    table = Table(title="Greenroom benchmarks: ours beside the naive way, measured in one run")
    for heading in ("What", "Ours", "Naive", "Figure", "Floor", ""):
        table.add_column(heading, justify="left" if heading == "What" else "right")
    missed: list[str] = []
    for benchmark in BENCHMARKS:
        for measure in benchmark():
            verdict = "" if not measure.floor else "ok" if measure.holds else "MISSED"
            digits = 0 if measure.value >= 100 else 1
            figure = f"{measure.value:,.{digits}f}{measure.unit}"
            table.add_row(measure.name, measure.ours, measure.naive, figure, measure.floor, verdict)
            if not measure.holds:
                missed.append(measure.name)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    if missed and os.environ.get("CHECK") == "1":
        sys.stderr.write(f"Floors missed: {', '.join(missed)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
