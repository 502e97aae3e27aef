"""Waiting for what happens in other processes: for conditions, never for times."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 50.0
"""Seconds: how long a busy machine may take."""


def wait_for(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until a condition holds; fail if it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: waited for {seconds:.0f} seconds in vain"
        time.sleep(0.02)
