"""Waiting for what happens in other processes: for conditions, never for times."""

from __future__ import annotations

import socket
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


def free_port(host: str = "127.0.0.1") -> int:
    """A port where nothing listens."""
    with socket.socket() as taken:
        taken.bind((host, 0))
        return taken.getsockname()[1]


def is_open(host: str, port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0
