"""Jobs in the database: runs, evaluations and judgings, each a plan of cells that are kept once.

A cell is keyed by an item (a task or a row) and a trial. Its result is committed once and never
changes. Only a cell without a result, which ended in an infrastructure error, is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Generic

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    Text,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError

from greenroom.errors import InputError, UnknownName
from greenroom.store.allowances import Allowance, Allowances
from greenroom.store.at_work import any_held, leases_of_jobs, waits_for_workers
from greenroom.store.attempt_logs import AttemptLogs
from greenroom.store.control import Controls, control_of, hold_job
from greenroom.store.database import (
    StoreError,
    insert_into,
    insert_or_replace,
    streamed,
    transaction,
)
from greenroom.store.endpoints import Endpoints
from greenroom.store.job_pages import JobPages, listed
from greenroom.store.job_rows import (
    SUMMARY_COLUMNS,
    Attempt,
    CellT,
    JobKind,
    JobT,
    Standing,
    SummaryT,
    cell_of,
    cell_row,
    digest_of,
    finite,
    job_of,
    usage_from,
    usage_text,
    without_content,
)
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.records import CellKey, Usage
from greenroom.store.schema import failed_attempts, jobs, results
from greenroom.store.workers import Workers, leave_queue
from greenroom.util.raw_json import record_text, storable

_BAD_VALUES = (DataError, IntegrityError)
_LONGEST_REASON = 300
_ATTEMPT_KEY = ("job_id", "item", "trial", "started_at")
_LONGEST_NAME = 200
_LONGEST_STEM = _LONGEST_NAME - 10  # a number follows
_SECOND = "another worker's result came first"
_TO_ATTEMPTS = ("job_id", "item", "trial", "started_at", "seconds", "error", "usage")


class Jobs(Generic[JobT, CellT, SummaryT]):
    """The jobs of one kind. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine, kind: JobKind[JobT, CellT, SummaryT]) -> None:
        self._engine = engine
        self.kind = kind
        self.pages = JobPages(engine, kind)
        self.workers = Workers(engine, kind.name)
        self.controls = Controls(engine)
        self.endpoints = Endpoints(engine)
        self.logs = AttemptLogs(engine)
        self.allowances = Allowances(engine, self._spent)
        # Built once: putting a statement together takes longer than running it.
        self._put = insert_or_replace(
            engine, results, key=["job_id", "item", "trial"], where=results.c.outcome == NO_RESULT
        ).returning(results.c.item)
        self._set_aside = _broken_result_to_attempts()
        self._paid_twice = _second_result_to_attempts()

    # Jobs

    def create(self, job: JobT, *, stem: str | None = None) -> JobT:
        """Keep a new job. With a stem, its name is the first free one of stem-1, stem-2, ..."""
        # The name that is kept is the one that it is found by.
        job = job.model_copy(update={"name": storable(job.name)})
        if stem is None and not 0 < len(job.name) <= _LONGEST_NAME:
            raise InputError(f"A name has 1 to {_LONGEST_NAME} characters: choose another --name.")
        stem = None if stem is None else _typed(storable(stem))[:_LONGEST_STEM]
        while True:
            named = job if stem is None else job.model_copy(update={"name": self.free_name(stem)})
            if self._insert(named):
                return named
            if stem is None:
                raise InputError(
                    f"There is {_article(self.kind.name)} named '{job.name}' already: choose "
                    f"another --name, or go on with it by '{self.kind.resume} {job.name}'."
                )

    def _insert(self, job: JobT) -> bool:
        row = {
            "id": job.id,
            "kind": self.kind.name,
            "name": job.name,
            "created_at": job.created_at.isoformat(),
            "planned": job.planned,
            "record": record_text(job),
            **self.kind.columns(job),
        }
        row = {k: storable(v) if isinstance(v, str) else v for k, v in row.items()}
        statement = insert_into(self._engine, jobs).values(row).on_conflict_do_nothing()
        with transaction(self._engine) as connection:
            return connection.execute(statement.returning(jobs.c.id)).first() is not None

    def update(self, job: JobT) -> None:
        """Keep a job's record as it is now, for plans that grow."""
        with transaction(self._engine) as connection:
            connection.execute(
                update(jobs)
                .where(jobs.c.id == job.id)
                .values(planned=job.planned, record=record_text(job))
            )

    def find(self, name_or_id: str) -> JobT:
        """A job, by its name or id."""
        wanted = storable(name_or_id)
        with transaction(self._engine) as connection:
            row = connection.execute(
                self._rows().where((jobs.c.name == wanted) | (jobs.c.id == wanted))
            ).first()
        if row is None:
            raise UnknownName(self.kind.name, name_or_id, self._names())
        return job_of(self.kind, row)

    def held(self, connection: Connection, job_id: str) -> JobT:
        """A job that no worker joins or leaves until the transaction ends."""
        hold_job(connection, job_id)
        row = connection.execute(self._rows().where(jobs.c.id == job_id)).first()
        if row is None:
            raise InputError(f"The {self.kind.name} was deleted.")
        return job_of(self.kind, row)

    def all(self, *, parent: str | None = None) -> list[JobT]:
        """All jobs, the newest first; with a parent, only those that belong to it.

        Jobs that go on from another one of their kind are only listed with that as the parent.
        """
        statement = (
            self._rows().order_by(jobs.c.created_at.desc()).where(*listed(self.kind, parent))
        )
        with transaction(self._engine) as connection:
            return [job_of(self.kind, row) for row in connection.execute(statement)]

    def in_need(self) -> list[JobT]:
        """The jobs with cells that wait for a worker, the oldest first; none that is paused."""
        with transaction(self._engine) as connection:
            waiting = self._rows().where(waits_for_workers(connection))
            rows = connection.execute(waiting.order_by(jobs.c.created_at)).all()
        return [job_of(self.kind, row) for row in rows if not control_of(row.control).paused]

    def standings(self, *, parent: str | None = None) -> list[Standing[JobT]]:
        """The same jobs as `all`, with how each stands: counted by the database at once."""
        return self.pages.jobs(parent=parent)

    def free_name(self, stem: str) -> str:
        """The first of stem-1, stem-2, ... that no job of this kind has."""
        taken = set(self._names())
        number = 1
        while f"{stem}-{number}" in taken:
            number += 1
        return f"{stem}-{number}"

    def delete(self, job: JobT) -> None:
        """Remove a job with everything that belongs to it."""
        with transaction(self._engine) as connection:
            standing = select(jobs.c.kind, jobs.c.name, leases_of_jobs(jobs.c.id))
            row = connection.execute(standing.where(jobs.c.id == job.id)).first()
            if row is not None and any_held(row.leases):
                raise InputError(f"The {self.kind.name} '{job.name}' is under way: stop it first.")
            for child in connection.execute(standing.where(jobs.c.parent_id == job.id)):
                if any_held(child.leases):
                    raise InputError(
                        f"The {child.kind} '{child.name}', which belongs to '{job.name}', is under "
                        "way: stop it first."
                    )
            connection.execute(delete(jobs).where(jobs.c.id == job.id))

    # Results

    def add(self, job_id: str, records: Sequence[CellT]) -> list[bool]:
        """Keep results in one transaction: for each, whether it is kept.

        Their cells leave the queue. A result that is there already stays; what the second one used
        is kept among the attempts. A cell without a result is replaced, and what it used is kept
        there, too.
        """
        try:
            return self._add([cell_row(self.kind, job_id, record) for record in records])
        except (StoreError, ValueError, OverflowError) as error:
            if isinstance(error, StoreError) and not isinstance(error.__cause__, _BAD_VALUES):
                raise
        # One of them cannot be written: it does not keep the others out.
        return [self._add_alone(job_id, record) for record in records]

    def _add(self, rows: Sequence[dict[str, Any]]) -> list[bool]:
        with transaction(self._engine) as connection:
            kept: list[bool] = []
            for row in rows:
                connection.execute(self._set_aside, row)
                kept.append(connection.execute(self._put, row).first() is not None)
                if not kept[-1]:
                    connection.execute(self._paid_twice, row)
            leave_queue(connection, [(r["job_id"], r["item"], r["trial"]) for r in rows])
        return kept

    def _add_alone(self, job_id: str, record: CellT) -> bool:
        try:
            return self._add([cell_row(self.kind, job_id, record)])[0]
        except (StoreError, ValueError, OverflowError) as error:
            reason = f"the result could not be stored: {storable(str(error))[:_LONGEST_REASON]}"
            return self._add([cell_row(self.kind, job_id, without_content(record, reason))])[0]

    def finished(self, job_id: str) -> set[CellKey]:
        """The cells of a job that have a result."""
        cells = select(results.c.item, results.c.trial).where(
            results.c.job_id == job_id, results.c.outcome != NO_RESULT
        )
        with transaction(self._engine) as connection:
            return {(row.item, row.trial) for row in connection.execute(cells)}

    def results(self, job_id: str) -> Iterator[CellT]:
        """The results of a job, by item and trial, a few at a time."""
        statement = (
            select(results.c.record, results.c.body)
            .where(results.c.job_id == job_id)
            .order_by(results.c.item, results.c.trial)
        )
        with streamed(self._engine, statement, 200) as rows:
            for row in rows:
                yield cell_of(self.kind, row)

    def result(self, job_id: str, key: CellKey) -> CellT | None:
        """One cell's result, if there is one."""
        statement = select(results.c.record, results.c.body).where(
            results.c.job_id == job_id, results.c.item == key[0], results.c.trial == key[1]
        )
        with transaction(self._engine) as connection:
            row = connection.execute(statement).first()
        return None if row is None else cell_of(self.kind, row)

    def digests(self, job_id: str) -> dict[CellKey, str]:
        """The sha256 of each result of a job, as it is kept: any byte that changes changes it."""
        statement = select(results).where(results.c.job_id == job_id)
        digests: dict[CellKey, str] = {}
        with streamed(self._engine, statement, 200) as rows:
            for row in rows:
                digests[row.item, row.trial] = digest_of(row)
        return digests

    def summaries(self, job_id: str) -> Iterator[SummaryT]:
        """What is counted of a job's results, by item and trial: quick and small."""
        statement = (
            select(*(results.c[name] for name in SUMMARY_COLUMNS))
            .where(results.c.job_id == job_id)
            .order_by(results.c.item, results.c.trial)
        )
        with streamed(self._engine, statement, 500) as rows:
            for row in rows:
                yield self.kind.read_summary(row)

    # Attempts without a result

    def add_attempt(self, job_id: str, attempt: Attempt) -> None:
        """Note an attempt that gave no result."""
        row = {
            "job_id": job_id,
            "item": attempt.key[0],
            "trial": attempt.key[1],
            "started_at": attempt.started_at,
            "seconds": finite(attempt.seconds) or 0.0,
            "error": storable(attempt.error),
            "usage": usage_text(attempt.usage),
        }
        # After an outage it is noted again, and the first time may have been too late to be told.
        of_table = failed_attempts.c
        known = exists().where(*(of_table[name] == row[name] for name in _ATTEMPT_KEY))
        values = select(*(literal(v, of_table[name].type) for name, v in row.items()))
        statement = insert(failed_attempts).from_select(list(row), values.where(~known))
        with transaction(self._engine) as connection:
            connection.execute(statement)

    def attempts(self, job_id: str) -> list[Attempt]:
        """The attempts of a job that gave no result."""
        statement = (
            select(failed_attempts)
            .where(failed_attempts.c.job_id == job_id)
            .order_by(failed_attempts.c.id)
        )
        with transaction(self._engine) as connection:
            return [
                Attempt(
                    key=(row.item, row.trial),
                    started_at=row.started_at,
                    seconds=row.seconds,
                    error=row.error,
                    usage=usage_from(row.usage),
                )
                for row in connection.execute(statement)
            ]

    def attempts_cost(self, job_id: str, after: int = 0) -> tuple[float, int]:
        """What attempts without a result cost, as far as it is known, and the last one's number.

        `after` is that of an earlier answer: only later attempts are counted.
        """
        of_table = failed_attempts.c
        statement = select(of_table.id, of_table.usage).where(
            of_table.job_id == job_id, of_table.id > after
        )
        cost = 0.0
        with transaction(self._engine) as connection:
            for number, text in connection.execute(statement):
                cost += sum(used.cost or 0.0 for used in usage_from(text).values())
                after = max(after, number)
        return cost, after

    def _spent(self, job_id: str) -> Allowance:
        used = self.usages(job_id)
        return Allowance(sum(one.cost or 0.0 for one in used), sum(one.tokens for one in used))

    def usages(self, job_id: str) -> list[Usage]:
        """What a job has used so far, attempts without a result included."""
        found: list[Usage] = []
        with transaction(self._engine) as connection:
            for table in (results, failed_attempts):
                texts = connection.execute(select(table.c.usage).where(table.c.job_id == job_id))
                found += [used for text in texts.scalars() for used in usage_from(text).values()]
        return found

    # Rows

    def _names(self) -> list[str]:
        with transaction(self._engine) as connection:
            return list(
                connection.execute(
                    select(jobs.c.name).where(jobs.c.kind == self.kind.name)
                ).scalars()
            )

    def _rows(self) -> Select[Any]:
        with_result = (
            select(func.count())
            .select_from(results)
            .where(results.c.job_id == jobs.c.id, results.c.outcome != NO_RESULT)
            .scalar_subquery()
            .label("with_result")
        )
        leases = leases_of_jobs(jobs.c.id)
        return select(jobs, with_result, leases).where(jobs.c.kind == self.kind.name)


def _broken_result_to_attempts() -> Any:
    # What a broken result used is kept when another attempt takes its place.
    broken = select(*(results.c[name] for name in _TO_ATTEMPTS)).where(
        results.c.job_id == bindparam("job_id"),
        results.c.item == bindparam("item"),
        results.c.trial == bindparam("trial"),
        results.c.outcome == NO_RESULT,
        # The same result, which an outage has kept from being told that it is stored, stays.
        results.c.record != bindparam("record"),
    )
    return insert(failed_attempts).from_select(list(_TO_ATTEMPTS), broken)


def _second_result_to_attempts() -> Any:
    # Two workers finished a cell, because one of them was thought to be gone. Both are paid for.
    other = (
        exists()
        .where(
            results.c.job_id == bindparam("job_id"),
            results.c.item == bindparam("item"),
            results.c.trial == bindparam("trial"),
            # The same result, which an outage has kept from being told that it is stored.
            results.c.record != bindparam("record"),
        )
        .correlate(None)
    )
    of_table = failed_attempts.c
    noted = exists().where(*(of_table[name] == bindparam(name) for name in _ATTEMPT_KEY))
    values = [
        literal(_SECOND, Text) if name == "error" else bindparam(name, type_=of_table[name].type)
        for name in _TO_ATTEMPTS
    ]
    chosen = select(*values).where(other, ~noted.correlate(None))
    return insert(failed_attempts).from_select(list(_TO_ATTEMPTS), chosen)


def _typed(stem: str) -> str:
    """A stem that can be typed: commands that are printed hold the name as it is."""
    return re.sub(r"""[-\s"'`\\$&()*;<>?|!#{}\[\]]+""", "-", stem).strip("-") or stem


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
