"""Endpoints of models: when the next call may leave, over all processes and jobs of a store."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select, update

from greenroom.store.database import database_time, insert_into, transaction
from greenroom.store.schema import endpoints

_REMEMBERED = 60.0
_AHEAD = 1.0
"""Seconds: what a process has reserved and uses no more, as it was killed, is soon over."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An endpoint asked for less."""

    at: float
    """When, by the clock of the database."""
    held: float
    """How many seconds it still wants to be left alone."""


@dataclass(frozen=True)
class Endpoints:
    """What processes that ask the same endpoint tell one another."""

    engine: Engine

    def reserve(self, name: str, rate: float, count: int) -> tuple[float, int]:
        """Reserve up to so many moments, evenly spaced, none of them far ahead.

        How many seconds it is until the first, and how many there are.
        """
        with transaction(self.engine) as connection:
            self._hold(connection, name)
            row = connection.execute(select(endpoints).where(endpoints.c.name == name)).one()
            now = database_time(connection)
            # A lower rate, or a clock that was set back, may have left a moment far ahead.
            following = min(row.next_at, now + _AHEAD + 1 / rate)
            first = max(following, row.held_until, now)
            near = math.floor((now + _AHEAD - first) * rate) + 1
            reserved = max(min(count, near), 0)
            if reserved:
                _set(connection, name, next_at=first + reserved / rate)
        return first - now, reserved

    def overloaded(self, name: str, seconds: float) -> float:
        """Tell all that an endpoint asked for less, and to be left alone for so long: when."""
        with transaction(self.engine) as connection:
            self._hold(connection, name)
            row = connection.execute(select(endpoints).where(endpoints.c.name == name)).one()
            now = database_time(connection)
            _set(connection, name, cut_at=now, held_until=max(row.held_until, now + seconds))
        return now

    def _hold(self, connection: Connection, name: str) -> None:
        """Have a row, and let nobody else change it until the transaction ends."""
        empty = {"name": name, "next_at": 0.0, "cut_at": 0.0, "held_until": 0.0}
        connection.execute(
            insert_into(self.engine, endpoints).values(empty).on_conflict_do_nothing()
        )
        _set(connection, name, name=name)


def cuts(connection: Connection) -> dict[str, Cut]:
    """The endpoints that asked for less within the last minute."""
    rows = connection.execute(select(endpoints).where(endpoints.c.cut_at > 0)).all()
    if not rows:
        return {}
    now = database_time(connection)
    return {
        row.name: Cut(row.cut_at, max(row.held_until - now, 0.0))
        for row in rows
        if row.cut_at > now - _REMEMBERED
    }


def _set(connection: Connection, endpoint: str, **values: float | str) -> None:
    connection.execute(update(endpoints).where(endpoints.c.name == endpoint).values(**values))
