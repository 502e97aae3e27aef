"""Leases: for a while, a process says that it is alive.

Machines compare their wall clocks. On the machine that holds the lease its uptime counts, which
goes on evenly if the wall clock jumps.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Engine, delete, select

from greenroom.store.database import insert_or_replace, transaction
from greenroom.store.schema import meta

LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0


@dataclass(frozen=True)
class LeaseOwner:
    """A unique identity of a process that holds a lease."""

    host: str
    pid: int
    token: str

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.token}"


def this_process() -> LeaseOwner:
    """An owner for this process, different on every call."""
    return LeaseOwner(socket.gethostname(), os.getpid(), uuid4().hex[:8])


def lease_text(owner: LeaseOwner) -> str:
    """A lease that begins now, as it is kept: its owner, and until when by uptime and by clock."""
    uptime = time.monotonic() + LEASE_SECONDS
    return f"{owner}@{uptime:.0f}~{time.time() + LEASE_SECONDS:.0f}"


def is_held(lease: str, *, expired: bool = True) -> bool:
    """Whether a lease is valid: it has not expired, and its process is alive.

    Without `expired`, a lease that has run out still counts if its process may be alive.
    """
    held, _, until = lease.rpartition("~")
    host, pid, token = held.rsplit("/", 2)
    if host != socket.gethostname():
        return not expired or float(until) >= time.time()
    uptime = token.partition("@")[2]
    # An uptime far ahead is that of an earlier start of the machine.
    ahead = float(uptime) - time.monotonic()
    valid = ahead <= LEASE_SECONDS + 1 and (ahead >= 0 or not expired)
    return valid and _is_alive(int(pid))


@dataclass(frozen=True)
class ProcessLeases:
    """The leases of processes that work on many small things, such as the turns of threads.

    Each process has one row of `meta`, however many things it works on.
    """

    engine: Engine

    def renew(self, owner: LeaseOwner) -> None:
        """Tell for another while that a process is alive."""
        value = lease_text(owner)
        statement = insert_or_replace(self.engine, meta, key=["key"])
        with transaction(self.engine) as connection:
            connection.execute(statement, {"key": _process_key(str(owner)), "value": value})

    def release(self, owner: str) -> None:
        """Forget a process."""
        with transaction(self.engine) as connection:
            connection.execute(delete(meta).where(meta.c.key == _process_key(owner)))

    def is_alive(self, owner: str) -> bool:
        """Whether the process of an owner still works."""
        with transaction(self.engine) as connection:
            lease = connection.execute(
                select(meta.c.value).where(meta.c.key == _process_key(owner))
            ).scalar_one_or_none()
        if lease is None:
            return False
        return lease.startswith(f"{owner}@") and is_held(lease)


def _process_key(owner: str) -> str:
    return f"process {owner.rpartition('/')[2]}"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
