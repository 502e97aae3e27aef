"""Leases: one process at a time works on a job.

Machines compare their wall clocks. On the machine that holds the lease its uptime counts, which
goes on evenly if the wall clock jumps.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Engine, select, update

from greenroom.errors import InputError
from greenroom.store.database import transaction
from greenroom.store.schema import jobs

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


def is_held(owner: str | None, until: float | None) -> bool:
    """Whether a lease is valid: it has not expired, and its process is alive."""
    if owner is None or until is None:
        return False
    host, pid, token = owner.rsplit("/", 2)
    if host != socket.gethostname():
        return until >= time.time()
    uptime = token.partition("@")[2]
    # An uptime far ahead is that of an earlier start of the machine.
    valid = (
        0 <= float(uptime) - time.monotonic() <= LEASE_SECONDS + 1
        if uptime
        else until >= time.time()
    )
    return valid and _is_alive(int(pid))


@dataclass(frozen=True)
class Leases:
    """The leases of jobs."""

    engine: Engine
    noun: str
    """What a job is called in messages: "run"."""

    def acquire(self, key: str, name: str, owner: LeaseOwner) -> None:
        """Take a job for this process; raise InputError while another process has it."""
        with transaction(self.engine) as connection:
            held = connection.execute(select(jobs).where(jobs.c.id == key)).one()
            ours = (held.lease_owner or "").startswith(str(owner))
            if not ours and is_held(held.lease_owner, held.lease_until):
                raise InputError(
                    f"Another process works on the {self.noun} '{name}' "
                    f"({held.lease_owner.rsplit('/', 1)[0]}): wait for it, or stop it."
                )
            same = (
                jobs.c.lease_owner.is_(None)
                if held.lease_owner is None
                else jobs.c.lease_owner == held.lease_owner
            )
            taken = connection.execute(
                update(jobs).where(jobs.c.id == key, same).values(_lease(owner))
            )
            if taken.rowcount != 1:
                raise InputError(f"The {self.noun} '{name}' was just taken by another process.")

    def renew(self, key: str, owner: LeaseOwner) -> bool:
        """Extend the lease; return whether it is still ours."""
        with transaction(self.engine) as connection:
            renewed = connection.execute(
                update(jobs).where(jobs.c.id == key, _is_ours(owner)).values(_lease(owner))
            )
        return renewed.rowcount == 1

    def release(self, key: str, owner: LeaseOwner) -> None:
        """Give the job up."""
        with transaction(self.engine) as connection:
            connection.execute(
                update(jobs)
                .where(jobs.c.id == key, _is_ours(owner))
                .values(lease_owner=None, lease_until=None)
            )


def _lease(owner: LeaseOwner) -> dict[str, Any]:
    uptime = time.monotonic() + LEASE_SECONDS
    return {"lease_owner": f"{owner}@{uptime:.0f}", "lease_until": time.time() + LEASE_SECONDS}


def _is_ours(owner: LeaseOwner) -> ColumnElement[bool]:
    return jobs.c.lease_owner.startswith(f"{owner}@", autoescape=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
