"""The processes that work on a job, and the cells that wait for them or that they have claimed.

A job under way has a queue: a row for each cell that has no result yet. A worker claims cells from
it, and the transaction that keeps a result takes the cell out. The claims of a worker end with its
row, so a worker that is gone holds nothing once another one has seen that it is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from greenroom.errors import InputError
from greenroom.store.allowances import GRANTED, NOTHING, Allowance, count_as_spent
from greenroom.store.control import Control, control_of, hold_job
from greenroom.store.database import StoreError, transaction
from greenroom.store.endpoints import Cut, cuts
from greenroom.store.leases import LeaseOwner, is_held, lease_text
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.records import CellKey
from greenroom.store.schema import cells, failed_attempts, jobs, results, workers

Order = Callable[[set[CellKey]], Iterable[CellKey]]
"""The cells of a job that are to do, in order, given those that need nothing more."""

_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """A process that works on a job."""

    id: str
    host: str
    pid: int
    started_at: str
    claimed: int
    """Cells that it has claimed and not finished."""
    longest: float | None
    """How many seconds ago it claimed the first of them."""


@dataclass(frozen=True, slots=True)
class ClaimedCell:
    """A cell that a worker has."""

    key: CellKey
    worker: str
    """Its host and process id."""
    seconds: float
    """How long it has had the cell."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The cells of a job that have no result yet."""

    waiting: int
    """Cells that nobody has claimed."""
    mine: int
    others: int


@dataclass(frozen=True, slots=True)
class Look:
    """What a worker sees of its job and the others."""

    member: bool
    """Whether it still counts as a worker."""
    workers: tuple[str, ...]
    """The ids of all workers, in the order in which they joined."""
    control: Control
    left: bool
    """Whether a cell has no result yet."""
    cuts: Mapping[str, Cut] = field(default_factory=dict[str, Cut])
    """The endpoints of models that asked somebody for less, not long ago."""


@dataclass(frozen=True)
class Workers:
    """The workers of jobs. Safe to use from several threads and several processes."""

    engine: Engine
    noun: str
    """What a job is called in messages: "run"."""

    def join(
        self,
        job_id: str,
        name: str,
        owner: LeaseOwner,
        order: Order,
        *,
        helps: bool = False,
        expired: bool = True,
    ) -> None:
        """Work on a job from now on; whoever comes first puts its cells into the queue.

        One that `helps` joins others, and tries no broken cell again unless it is in the queue. One
        that does not is refused while there are others. `expired` is that of `free_lost`.
        """
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            there = _without_lost(connection, job_id, expired=expired or not helps)
            others = [one for one in there if one.id != owner.token]
            if not helps:
                self._refuse(name, others)
                _fill(connection, job_id, order(_done(connection, job_id, broken=False)))
            elif not any(is_held(one.lease) for one in others) and not _any_left(
                connection, job_id
            ):
                _fill(connection, job_id, order(_done(connection, job_id, broken=True)))
            row = {"id": owner.token, "job_id": job_id, "lease": lease_text(owner)}
            connection.execute(delete(workers).where(workers.c.id == owner.token))
            connection.execute(insert(workers).values(**row, started_at=_now()))

    def enqueue(self, job_id: str, name: str, order: Order) -> None:
        """Put the cells of a job into the queue for workers; refused while there are any."""
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            self._refuse(name, _without_lost(connection, job_id))
            _fill(connection, job_id, order(_done(connection, job_id, broken=False)))

    def claim(self, job_id: str, owner: LeaseOwner, count: int) -> list[tuple[int, CellKey]]:
        """Up to so many cells that nobody else has, with their places in the queue, in order."""
        values = {"job": job_id, "me": owner.token, "n": count, "now": time.time()}
        try:
            with transaction(self.engine) as connection:
                rows = connection.execute(_CLAIMING, values).all()
        except StoreError as error:
            if isinstance(error.__cause__, IntegrityError):
                return []  # in this moment, others have found this worker to be gone
            raise
        return sorted((row.place, (row.item, row.trial)) for row in rows)

    def queue(self, job_id: str, owner: LeaseOwner) -> Queue:
        """How many cells have no result yet, by who has them."""
        mine = cells.c.worker == owner.token
        statement = select(
            func.count().label("n"),
            func.count(cells.c.worker).label("claimed"),
            func.coalesce(func.sum(case((mine, 1), else_=0)), 0).label("mine"),
        ).where(cells.c.job_id == job_id)
        with transaction(self.engine) as connection:
            row = connection.execute(statement).one()
        return Queue(row.n - row.claimed, int(row.mine), row.claimed - int(row.mine))

    def last_place(self, job_id: str) -> int:
        """The place of the last cell in the queue; -1 if it is empty."""
        statement = select(func.max(cells.c.place)).where(cells.c.job_id == job_id)
        with transaction(self.engine) as connection:
            found = connection.execute(statement).scalar()
        return -1 if found is None else found

    def any_left(self, job_id: str) -> bool:
        """Whether a cell in the queue has no result yet."""
        with transaction(self.engine) as connection:
            return _any_left(connection, job_id)

    def drop(self, job_id: str, keys: Sequence[CellKey]) -> None:
        """Take cells out of the queue that cannot be attempted, such as those of a deleted run."""
        with transaction(self.engine) as connection:
            leave_queue(connection, [(job_id, *key) for key in keys])

    def retry(self, job_id: str, outcomes: Collection[str]) -> int:
        """Attempt cells again that ended so: how many.

        Their results are set aside; what they used is kept among the attempts. Workers that are at
        the job take them last.
        """
        of_job = (results.c.job_id == job_id, results.c.outcome.in_(list(outcomes)))
        kept = [results.c[name] for name in ("job_id", "item", "trial", "started_at", "seconds")]
        error = literal("set aside, to be attempted again: ") + results.c.outcome
        attempts = select(*kept, error, results.c.usage).where(*of_job)
        names = [*(column.name for column in kept), "error", "usage"]
        last = select(func.coalesce(func.max(cells.c.place), -1)).where(cells.c.job_id == job_id)
        chosen = select(results.c.item, results.c.trial).where(*of_job)
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            keys = connection.execute(chosen.order_by(results.c.trial, results.c.item)).all()
            connection.execute(insert(failed_attempts).from_select(names, attempts))
            connection.execute(delete(results).where(*of_job))
            if _without_lost(connection, job_id) or _any_left(connection, job_id):
                place = connection.execute(last).scalar_one() + 1
                _put(connection, job_id, [(row.item, row.trial) for row in keys], place)
        return len(keys)

    def look(self, job_id: str, owner: LeaseOwner, *, renew: bool = False) -> Look:
        """What a worker has to know; with `renew`, tell for another while that it is alive."""
        lease = update(workers).where(workers.c.id == owner.token).values(lease=lease_text(owner))
        with transaction(self.engine) as connection:
            if renew:
                connection.execute(lease)
            left = exists().where(cells.c.job_id == job_id).label("left")
            job = connection.execute(
                select(jobs.c.control, left).where(jobs.c.id == job_id)
            ).first()
            rows = connection.execute(_of(job_id)).all()
            asked_for_less = cuts(connection)
        if job is None:
            raise InputError(f"The {self.noun} was deleted while this process worked on it.")
        there = tuple(row.id for row in rows if row.id == owner.token or is_held(row.lease))
        return Look(
            owner.token in there, there, control_of(job.control), bool(job.left), asked_for_less
        )

    def leave(
        self, job_id: str, owner: LeaseOwner, spent: Allowance = NOTHING, *, expired: bool = True
    ) -> None:
        """Stop working on a job; `spent` is what was spent of the part of the budget that it had.

        The last one takes the queue along: nobody goes on unasked. `expired` is that of
        `free_lost`.
        """
        with transaction(self.engine) as connection:
            hold_job(connection, job_id)
            count_as_spent(connection, job_id, owner.token, spent)
            connection.execute(delete(workers).where(workers.c.id == owner.token))
            if not _without_lost(connection, job_id, expired=expired):
                connection.execute(delete(cells).where(cells.c.job_id == job_id))

    def free_lost(self, job_id: str, *, expired: bool) -> list[str]:
        """Give the cells of workers that are gone back to the queue: which workers were gone.

        Without `expired`, only processes of this machine count, which it knows to be gone. A
        database that was away has let the leases of all workers run out.
        """
        gone: list[str] = []
        with transaction(self.engine) as connection:
            rows = connection.execute(_of(job_id)).all()
            lost = [row for row in rows if not is_held(row.lease, expired=expired)]
            if lost:
                hold_job(connection, job_id)
            for row in lost:
                same = (workers.c.id == row.id) & (workers.c.lease == row.lease)
                granted = connection.execute(select(*GRANTED).where(same)).first()
                if granted is not None:
                    count_as_spent(connection, job_id, row.id)
                    connection.execute(delete(workers).where(same))
                    gone.append(_named(row.lease))
        return gone

    def standings(self, job_id: str) -> list[WorkerStanding]:
        """The workers of a job, and what each of them has claimed."""
        claimed = (
            select(
                cells.c.worker,
                func.count().label("n"),
                func.min(cells.c.claimed_at).label("first"),
            )
            .where(cells.c.job_id == job_id, cells.c.worker.is_not(None))
            .group_by(cells.c.worker)
            .subquery()
        )
        statement = (
            select(workers, claimed.c.n, claimed.c.first)
            .select_from(workers.outerjoin(claimed, claimed.c.worker == workers.c.id))
            .where(workers.c.job_id == job_id)
            .order_by(workers.c.started_at, workers.c.id)
        )
        with transaction(self.engine) as connection:
            rows = connection.execute(statement).all()
        return [_standing(row) for row in rows if is_held(row.lease)]

    def claimed_for(self, job_id: str, seconds: float, most: int = 20) -> list[ClaimedCell]:
        """The cells that workers have had for longer than that, the longest first."""
        now = time.time()
        statement = (
            select(cells.c.item, cells.c.trial, cells.c.claimed_at, workers.c.lease)
            .select_from(cells.join(workers, workers.c.id == cells.c.worker))
            .where(cells.c.job_id == job_id, cells.c.claimed_at < now - seconds)
            .order_by(cells.c.claimed_at)
            .limit(most)
        )
        with transaction(self.engine) as connection:
            rows = connection.execute(statement).all()
        return [
            ClaimedCell((row.item, row.trial), _named(row.lease), now - row.claimed_at)
            for row in rows
            if is_held(row.lease)
        ]

    def _refuse(self, name: str, others: Sequence[Any]) -> None:
        if others:
            raise InputError(
                f"Another process works on the {self.noun} '{name}' ({_named(others[0].lease)}): "
                "wait for it, or stop it."
            )


def leave_queue(connection: Connection, found: Iterable[tuple[str, int, int]]) -> None:
    """Take cells out of the queues of their jobs."""
    rows = [{"job": job, "of_item": item, "of_trial": trial} for job, item, trial in found]
    if rows:
        connection.execute(_LEAVING, rows)


def _without_lost(connection: Connection, job_id: str, *, expired: bool = True) -> list[Any]:
    """The workers that are there, once those that are gone have been removed."""
    there: list[Any] = []
    for row in connection.execute(_of(job_id)).all():
        if is_held(row.lease, expired=expired):
            there.append(row)
        else:
            count_as_spent(connection, job_id, row.id)
            connection.execute(delete(workers).where(workers.c.id == row.id))
    return there


def _of(job_id: str) -> Any:
    chosen = select(workers.c.id, workers.c.lease).where(workers.c.job_id == job_id)
    return chosen.order_by(workers.c.started_at, workers.c.id)


def _done(connection: Connection, job_id: str, *, broken: bool) -> set[CellKey]:
    """The cells with a result; with `broken`, also those that were given up."""
    found = select(results.c.item, results.c.trial).where(results.c.job_id == job_id)
    if not broken:
        found = found.where(results.c.outcome != NO_RESULT)
    return {(row.item, row.trial) for row in connection.execute(found)}


def _any_left(connection: Connection, job_id: str) -> bool:
    left = select(cells.c.place).where(cells.c.job_id == job_id).limit(1)
    return connection.execute(left).first() is not None


def _fill(connection: Connection, job_id: str, keys: Iterable[CellKey]) -> None:
    connection.execute(delete(cells).where(cells.c.job_id == job_id))
    # What was spent is counted anew from the results.
    uncounted = {"spent_cost": None, "spent_tokens": None}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(**uncounted))
    _put(connection, job_id, keys, 0)


def _put(connection: Connection, job_id: str, keys: Iterable[CellKey], first_place: int) -> None:
    rows = [
        {"job_id": job_id, "item": item, "trial": trial, "place": place}
        for place, (item, trial) in enumerate(keys, first_place)
    ]
    for first in range(0, len(rows), _AT_A_TIME):
        connection.execute(insert(cells), rows[first : first + _AT_A_TIME])


def _standing(row: Any) -> WorkerStanding:
    host, pid = _named(row.lease).rsplit("/", 1)
    longest = None if row.first is None else max(time.time() - row.first, 0.0)
    return WorkerStanding(row.id, host, int(pid), row.started_at, row.n or 0, longest)


def _named(lease: str) -> str:
    return lease.rsplit("/", 1)[0]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


_PICKED = (
    select(cells.c.place)
    .where(cells.c.job_id == bindparam("job"), cells.c.worker.is_(None))
    .order_by(cells.c.place)
    .limit(bindparam("n"))
    .with_for_update(skip_locked=True)  # SQLite has no such clause: one process writes at a time
    .cte("picked")
)
_CLAIMING = (
    update(cells)
    .where(
        cells.c.job_id == bindparam("job"),
        cells.c.worker.is_(None),
        cells.c.place.in_(select(_PICKED.c.place)),
        exists().where(workers.c.id == bindparam("me")),
    )
    .values(worker=bindparam("me"), claimed_at=bindparam("now"))
    .returning(cells.c.place, cells.c.item, cells.c.trial)
)
_LEAVING = delete(cells).where(
    cells.c.job_id == bindparam("job"),
    cells.c.item == bindparam("of_item"),
    cells.c.trial == bindparam("of_trial"),
)
