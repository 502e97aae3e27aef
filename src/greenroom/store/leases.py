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

from sqlalchemy import ColumnElement, Engine, delete, select, update

from greenroom.errors import InputError
from greenroom.store.database import insert_or_replace, transaction
from greenroom.store.schema import jobs, meta

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


@dataclass(frozen=True)
class ProcessLeases:
    """The leases of processes that work on many small things, such as the turns of threads.

    Each process has one row of `meta`, however many things it works on.
    """

    engine: Engine

    def renew(self, owner: LeaseOwner) -> None:
        """Tell for another while that a process is alive."""
        lease = _lease(owner)
        value = f"{lease['lease_owner']}~{lease['lease_until']:.0f}"
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
        held, _, until = lease.rpartition("~")
        return held.startswith(f"{owner}@") and is_held(held, float(until))


def _process_key(owner: str) -> str:
    return f"process {owner.rpartition('/')[2]}"


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
