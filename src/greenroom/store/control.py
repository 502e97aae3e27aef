"""What people set of a job that is under way, from another terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, Engine, select, update

from greenroom.store.database import transaction
from greenroom.store.record import Record
from greenroom.store.schema import jobs
from greenroom.util.raw_json import raw_value, record_text


class Control(Record):
    """What the workers of a job are told."""

    paused: bool = False
    """No further cell is begun."""
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What is no longer as it was when the job began: a larger budget, say."""


@dataclass(frozen=True)
class Controls:
    """What the workers of each job are told. It holds until it is changed, also after a stop."""

    engine: Engine

    def of(self, job_id: str) -> Control:
        """What the workers of a job are told just now."""
        with transaction(self.engine) as connection:
            return _read(connection, job_id)

    def change(
        self, job_id: str, *, paused: bool | None = None, config: Mapping[str, Any] | None = None
    ) -> Control:
        """Tell the workers of a job something else; what is None stays."""
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            before = _read(connection, job_id)
            now = Control(
                paused=before.paused if paused is None else paused,
                config={**before.config, **(config or {})},
            )
            if now != before:
                row = update(jobs).where(jobs.c.id == job_id)
                connection.execute(row.values(control=record_text(now)))
        return now

    def forget(self, job_id: str) -> None:
        """Tell the workers of a job nothing: it is as its record says."""
        with transaction(self.engine) as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(control=None))


def control_of(text: str | None) -> Control:
    """What the column of a job's row says."""
    return Control() if text is None else Control.model_validate(raw_value(text))


def hold_job(connection: Connection, job_id: str) -> None:
    """Make others that join, leave or control the job wait until the transaction ends."""
    # A change of the row locks it; SQLite's transaction begins with it.
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(planned=jobs.c.planned))


def _read(connection: Connection, job_id: str) -> Control:
    found = connection.execute(select(jobs.c.control).where(jobs.c.id == job_id)).scalar()
    return control_of(found)
