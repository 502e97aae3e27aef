"""The budget of a job, handed out to its workers in parts that are never more than the whole.

What a worker was given counts as spent until it says otherwise. So the parts of workers that are
lost stay spent, because nobody knows; a job that is resumed counts its results anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select, update

from greenroom.store.control import hold_job
from greenroom.store.database import transaction
from greenroom.store.leases import LeaseOwner
from greenroom.store.schema import jobs, workers

_ROUNDS = 4
"""Each time, a worker gets this part of its fair share of what is left."""

GRANTED = (workers.c.granted_cost, workers.c.granted_tokens)


@dataclass(frozen=True, slots=True)
class Allowance:
    """An amount of money and tokens."""

    cost: float = 0.0
    tokens: int = 0


NOTHING = Allowance()


@dataclass(frozen=True)
class Allowances:
    """The parts of a job's budget that its workers have."""

    engine: Engine
    spent: Callable[[str], Allowance]
    """What a job has used so far, by its results and attempts."""

    def take(
        self,
        job_id: str,
        owner: LeaseOwner,
        limit: tuple[float | None, int | None],
        need: Allowance,
    ) -> Allowance | None:
        """Ask for more of the budget: what this worker has been given so far, in all.

        It gets what it needs, and more while much is left. None if others think that it is gone.
        """
        with transaction(self.engine) as connection:
            counted = _counted(connection, job_id)
        before = self.spent(job_id) if counted is None else None
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            spent = _counted(connection, job_id)
            if spent is None:
                spent = before or NOTHING
                _count(connection, job_id, spent)
            rows = connection.execute(
                select(workers.c.id, *GRANTED).where(workers.c.job_id == job_id)
            ).all()
            mine = next((row for row in rows if row.id == owner.token), None)
            if mine is None:
                return None
            now = Allowance(
                mine.granted_cost
                + _part(
                    limit[0],
                    spent.cost + sum(row.granted_cost for row in rows),
                    need.cost,
                    len(rows),
                ),
                mine.granted_tokens
                + int(
                    _part(
                        limit[1],
                        spent.tokens + sum(row.granted_tokens for row in rows),
                        need.tokens,
                        len(rows),
                    )
                ),
            )
            _grant(connection, owner, now)
        return now

    def give_back(self, job_id: str, owner: LeaseOwner, kept: Allowance) -> None:
        """Keep only so much of what this worker was given."""
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            _grant(connection, owner, kept)


def count_as_spent(
    connection: Connection, job_id: str, worker: str, spent: Allowance | None = None
) -> None:
    """Count what a worker spent before its row goes; without a figure, all that it was given."""
    if spent is None:
        row = connection.execute(select(*GRANTED).where(workers.c.id == worker)).first()
        spent = NOTHING if row is None else Allowance(row[0], row[1])
    if spent.cost or spent.tokens:
        statement = update(jobs).where(jobs.c.id == job_id, jobs.c.spent_cost.is_not(None))
        connection.execute(
            statement.values(
                spent_cost=jobs.c.spent_cost + spent.cost,
                spent_tokens=jobs.c.spent_tokens + spent.tokens,
            )
        )


def _part(limit: float | None, gone: float, need: float, sharing: int) -> float:
    """How much more a worker gets of what is left."""
    if limit is None:
        return 0.0
    left = max(limit - gone, 0.0)
    if sharing == 1:
        return left
    return min(left, max(need, left / (_ROUNDS * sharing)))


def _counted(connection: Connection, job_id: str) -> Allowance | None:
    row = connection.execute(
        select(jobs.c.spent_cost, jobs.c.spent_tokens).where(jobs.c.id == job_id)
    ).first()
    return None if row is None or row[0] is None else Allowance(row[0], row[1])


def _count(connection: Connection, job_id: str, spent: Allowance) -> None:
    values = {"spent_cost": spent.cost, "spent_tokens": spent.tokens}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(**values))


def _grant(connection: Connection, owner: LeaseOwner, now: Allowance) -> None:
    values = {"granted_cost": now.cost, "granted_tokens": now.tokens}
    connection.execute(update(workers).where(workers.c.id == owner.token).values(**values))
