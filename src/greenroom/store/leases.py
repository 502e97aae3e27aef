"""Leases: for a while, a process says that it is alive.

Machines compare their wall clocks. On the machine that holds the lease its uptime counts, which
goes on evenly if the wall clock jumps, and whether its process is there. Containers of one host
name are machines of their own: they do not see each other's processes.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Engine, delete, select

from greenroom.errors import InputError
from greenroom.store.database import database_time, insert_or_replace, transaction
from greenroom.store.schema import meta

LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0
_MOST_AHEAD = 20.0
"""Two clocks that are off by so much in both directions still tell a lease that is renewed."""


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
    return f"{owner}@{uptime:.0f}!{_processes()}~{time.time() + LEASE_SECONDS:.0f}"


def is_held(lease: str, *, expired: bool = True) -> bool:
    """Whether a lease is valid: it has not expired, and its process is alive.

    Without `expired`, a lease that has run out still counts if its process may be alive.
    """
    held, _, until = lease.rpartition("~")
    held, _, processes = held.partition("!")
    host, pid, token = held.rsplit("/", 2)
    if host != socket.gethostname() or processes not in ("", _processes()):
        return not expired or float(until) >= time.time()
    uptime = token.partition("@")[2]
    # An uptime far ahead is that of an earlier start of the machine.
    ahead = float(uptime) - time.monotonic()
    valid = ahead <= LEASE_SECONDS + 1 and (ahead >= 0 or not expired)
    return valid and _is_alive(int(pid))


def refuse_wrong_clock(engine: Engine) -> None:
    """Refuse to share work with other machines if this one's clock is not that of the database."""
    with transaction(engine) as connection:
        ahead = time.time() - database_time(connection)
    if abs(ahead) > _MOST_AHEAD:
        how = "ahead of" if ahead > 0 else "behind"
        raise InputError(
            f"The clock of this machine is {abs(ahead):,.0f} seconds {how} the database's: set it "
            "right. Workers judge by their clocks which of them are lost."
        )


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


@cache
def _processes() -> str:
    """Which processes this one can see: Linux numbers the containers of a machine."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
