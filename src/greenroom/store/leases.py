"""Leases: one process at a time plays a run."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from uuid import uuid4

LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0


@dataclass(frozen=True)
class LeaseOwner:
    """A process that plays a run, told apart from all others."""

    host: str
    pid: int
    token: str

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.token}"


def this_process() -> LeaseOwner:
    """An owner for this process, different on every call."""
    return LeaseOwner(socket.gethostname(), os.getpid(), uuid4().hex[:8])


def is_held(owner: str | None, until: float | None) -> bool:
    """Whether a lease keeps others out: not when it has run out or when its process is gone."""
    if owner is None or until is None or until < time.time():
        return False
    host, pid, _ = owner.rsplit("/", 2)
    return host != socket.gethostname() or _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
