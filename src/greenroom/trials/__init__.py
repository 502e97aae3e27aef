"""The trial engine: a job's cells are attempted, committed once, and resumed after a stop."""

from __future__ import annotations

from greenroom.trials.engine import Attempted, Plan, run_job
from greenroom.trials.pools import open_models
from greenroom.trials.progress import Progress
from greenroom.trials.seeds import cell_seed

__all__ = ["Attempted", "Plan", "Progress", "cell_seed", "open_models", "run_job"]
