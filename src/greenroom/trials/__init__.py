"""The trial engine: a job's cells are attempted, committed once, and resumed after a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenroom.util.imports import later

if TYPE_CHECKING:
    from greenroom.trials.display import progress_bar
    from greenroom.trials.engine import Attempted, Plan, run_job
    from greenroom.trials.outside import outside_fault
    from greenroom.trials.pools import open_models
    from greenroom.trials.progress import Watcher, watch_job
    from greenroom.trials.refused import has_begun, remove_if_refused
    from greenroom.trials.seeds import cell_seed

if not TYPE_CHECKING:
    # Commands show progress before they need the engine.
    __getattr__ = later(
        __name__,
        engine="Attempted Plan run_job",
        progress="Watcher watch_job",
        refused="has_begun remove_if_refused",
        seeds="cell_seed",
        pools="open_models",
        outside="outside_fault",
        display="progress_bar",
    )

__all__ = [
    "Attempted",
    "Plan",
    "Watcher",
    "cell_seed",
    "has_begun",
    "open_models",
    "outside_fault",
    "progress_bar",
    "remove_if_refused",
    "run_job",
    "watch_job",
]
