"""What attempts at the cells of a job said: the end of it, for whoever looks for what broke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, exists, insert, literal, select

from greenroom.store.database import streamed, transaction
from greenroom.store.records import CellKey
from greenroom.store.schema import attempt_logs
from greenroom.util.raw_json import storable


@dataclass(frozen=True, slots=True)
class KeptLog:
    """What one attempt said."""

    key: CellKey
    started_at: str
    worker: str
    """Its host and process id."""
    ended: str
    """The outcome of the attempt, or that it was interrupted."""
    log: str


@dataclass(frozen=True)
class AttemptLogs:
    """The logs of attempts."""

    engine: Engine

    def add(self, job_id: str, logs: Sequence[KeptLog]) -> None:
        """Keep logs; one that is there already, after an outage, is not kept twice."""
        of_table = attempt_logs.c
        with transaction(self.engine) as connection:
            for one in logs:
                row = {
                    "job_id": job_id,
                    "item": one.key[0],
                    "trial": one.key[1],
                    "started_at": one.started_at,
                    "worker": storable(one.worker),
                    "ended": one.ended,
                    "log": storable(one.log),
                }
                same = ("job_id", "item", "trial", "started_at", "worker")
                known = exists().where(*(of_table[name] == row[name] for name in same))
                values = select(*(literal(v, of_table[name].type) for name, v in row.items()))
                connection.execute(
                    insert(attempt_logs).from_select(list(row), values.where(~known))
                )

    def of(
        self, job_id: str, *, item: int | None = None, trial: int | None = None
    ) -> Iterator[KeptLog]:
        """The logs of a job, of an item or of a cell, in the order in which they were kept."""
        table = attempt_logs.c
        wanted = [table.job_id == job_id]
        if item is not None:
            wanted.append(table.item == item)
        if trial is not None:
            wanted.append(table.trial == trial)
        statement = select(attempt_logs).where(*wanted).order_by(table.id)
        with streamed(self.engine, statement, 200) as rows:
            for row in rows:
                yield KeptLog((row.item, row.trial), row.started_at, row.worker, row.ended, row.log)


def drop_logs(connection: Connection, job_id: str, keys: Iterable[CellKey]) -> None:
    """Drop the logs of cells."""
    for item, trial in keys:
        table = attempt_logs.c
        gone = delete(attempt_logs).where(table.job_id == job_id, table.item == item)
        connection.execute(gone.where(table.trial == trial))
