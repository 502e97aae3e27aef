"""Leases: one process at a time plays a run, or works on an evaluation."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Engine, Table, select, update

from greenroom.errors import InputError
from greenroom.store.database import transaction

LEASE_SECONDS = 60.0
RENEWAL_SECONDS = 15.0


@dataclass(frozen=True)
class LeaseOwner:
    """A process that works on something, told apart from all others."""

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


@dataclass(frozen=True)
class Leases:
    """The leases of a table whose rows have an id, `lease_owner` and `lease_until`."""

    engine: Engine
    table: Table
    noun: str
    """What a row is, for messages: "run"."""
    busy: str
    """What is done with it by whoever has it: "being played"."""

    def acquire(self, key: str, name: str, owner: LeaseOwner) -> None:
        """Take a row for this process; refused while another process has it."""
        table = self.table
        with transaction(self.engine) as connection:
            held = connection.execute(select(table).where(table.c.id == key)).one()
            if held.lease_owner != str(owner) and is_held(held.lease_owner, held.lease_until):
                raise InputError(
                    f"The {self.noun} '{name}' is {self.busy} by another process "
                    f"({held.lease_owner.rsplit('/', 1)[0]}): wait for it, or stop it."
                )
            same = (
                table.c.lease_owner.is_(None)
                if held.lease_owner is None
                else table.c.lease_owner == held.lease_owner
            )
            taken = connection.execute(
                update(table)
                .where(table.c.id == key, same)
                .values(lease_owner=str(owner), lease_until=time.time() + LEASE_SECONDS)
            )
            if taken.rowcount != 1:
                raise InputError(f"The {self.noun} '{name}' was just taken by another process.")

    def renew(self, key: str, owner: LeaseOwner) -> bool:
        """Keep a row for longer: whether it is still ours."""
        table = self.table
        with transaction(self.engine) as connection:
            renewed = connection.execute(
                update(table)
                .where(table.c.id == key, table.c.lease_owner == str(owner))
                .values(lease_until=time.time() + LEASE_SECONDS)
            )
        return renewed.rowcount == 1

    def release(self, key: str, owner: LeaseOwner) -> None:
        """Let others have the row."""
        table = self.table
        with transaction(self.engine) as connection:
            connection.execute(
                update(table)
                .where(table.c.id == key, table.c.lease_owner == str(owner))
                .values(lease_owner=None, lease_until=None)
            )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
