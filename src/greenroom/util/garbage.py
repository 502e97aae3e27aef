"""Garbage collection while a job is under way."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

_YOUNG_OBJECTS = 10_000
_jobs: list[tuple[int, int, int]] = []
"""The thresholds from before the first job, once for each job under way."""


@contextmanager
def rare_collections() -> Generator[None]:
    """Collect garbage less often while the block runs.

    Hundreds of episodes keep their objects for as long as they wait for a model. By default Python
    looks through the young ones after 700 more, which takes a tenth of a job's time and finds
    little.
    """
    before = _jobs[0] if _jobs else gc.get_threshold()
    _jobs.append(before)
    gc.set_threshold(max(before[0], _YOUNG_OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        _jobs.pop()
        if not _jobs:
            gc.set_threshold(*before)
