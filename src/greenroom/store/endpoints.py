"""Endpoints of models: when the next call may leave, over all processes and jobs of a store."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select, update

from greenroom.store.database import database_time, insert_into, transaction
from greenroom.store.schema import endpoints

_REMEMBERED = 60.0


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

    def reserve(self, name: str, rate: float, count: int) -> float:
        """Reserve so many moments, evenly spaced: how many seconds it is until the first."""
        with transaction(self.engine) as connection:
            self._hold(connection, name)
            row = connection.execute(select(endpoints).where(endpoints.c.name == name)).one()
            now = database_time(connection)
            first = max(row.next_at, row.held_until, now)
            _set(connection, name, next_at=first + count / rate)
        return first - now

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
