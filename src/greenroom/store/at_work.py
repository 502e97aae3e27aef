"""Which jobs somebody works on, and which wait for somebody: for queries over many jobs."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, exists, func, select

from greenroom.store.leases import is_held
from greenroom.store.schema import cells, jobs, workers


def waits_for_workers(connection: Connection) -> Any:
    """Whether a job has cells that nobody has, or that a worker had who is gone: for a query."""
    rows = connection.execute(select(workers.c.id, workers.c.lease)).all()
    gone = [row.id for row in rows if not is_held(row.lease)]
    of_job = exists().where(cells.c.job_id == jobs.c.id)
    return of_job.where(cells.c.worker.is_(None)) | of_job.where(cells.c.worker.in_(gone))


def leases_of_jobs(jobs_id: Any) -> Any:
    """The leases of a job's workers as a column of a query, for `any_held`."""
    joined = func.aggregate_strings(workers.c.lease, "\n")
    return select(joined).where(workers.c.job_id == jobs_id).scalar_subquery().label("leases")


def any_held(leases: str | None) -> bool:
    """Whether one of the leases in a column is valid."""
    return any(is_held(lease) for lease in (leases or "").splitlines())
