"""Pages of jobs and of their results: the database finds what a page shows, and no more is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from sqlalchemy import ColumnElement, Engine, Select, case, func, or_, select, tuple_

from greenroom.store.at_work import leases_of_jobs
from greenroom.store.database import transaction
from greenroom.store.job_rows import (
    SUMMARY_COLUMNS,
    CellT,
    JobKind,
    JobT,
    Standing,
    SummaryT,
    cell_of,
    job_of,
)
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.records import CellKey
from greenroom.store.schema import jobs, results, test_sets
from greenroom.util.raw_json import record_text, storable

_AT_ONCE = 200

JobPlace = tuple[str, str]
"""Where a job stands in the list: when it was created, and its id."""


@dataclass(frozen=True)
class CellFilter:
    """Which results of a job are wanted; what is None or empty asks for nothing."""

    outcomes: Collection[str] | None = None
    item: int | None = None
    """A task or a row."""
    at_least: float | None = None
    """The lowest score."""
    at_most: float | None = None
    text: str = ""
    """What the record says somewhere, in upper or lower case."""
    where: ColumnElement[bool] | None = None
    """What only results of one kind can be asked for."""

    def conditions(self, job_id: str) -> list[ColumnElement[bool]]:
        """What holds for the rows of the table `results` that are wanted."""
        found: list[ColumnElement[bool]] = [results.c.job_id == job_id]
        if self.outcomes is not None:
            found.append(results.c.outcome.in_(list(self.outcomes)))
        if self.item is not None:
            found.append(results.c.item == self.item)
        if self.at_least is not None:
            found.append(results.c.score >= self.at_least)
        if self.at_most is not None:
            found.append(results.c.score <= self.at_most)
        if self.text:
            found.append(says(self.text, results.c.record, results.c.body))
        if self.where is not None:
            found.append(self.where)
        return found


ANY = CellFilter()


def says(text: str, *columns: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether columns of JSON have a text somewhere."""
    written = record_text([storable(text)])[2:-2]  # quotes and line breaks as JSON writes them
    return or_(*(column.icontains(written, autoescape=True) for column in columns))


@dataclass(frozen=True)
class JobPages(Generic[JobT, CellT, SummaryT]):
    """Pages of the jobs of one kind, and of their results. Each goes on after a key."""

    engine: Engine
    kind: JobKind[JobT, CellT, SummaryT]

    def jobs(
        self,
        *,
        after: JobPlace | None = None,
        limit: int | None = None,
        text: str = "",
        parent: str | None = None,
        test_set: str | None = None,
        where: ColumnElement[bool] | None = None,
    ) -> list[Standing[JobT]]:
        """Jobs with how each stands, the newest first; only those of the page are counted.

        `text` stands in the name, the subject or the dataset. `parent` is as in `listed`.
        `test_set` is the name of the test set that evaluations are of.
        """
        chosen = select(jobs).where(*listed(self.kind, parent))
        if after is not None:
            chosen = chosen.where(tuple_(jobs.c.created_at, jobs.c.id) < after)
        if text:
            wanted = storable(text)
            columns = (jobs.c.name, jobs.c.subject, jobs.c.dataset)
            said = [one.icontains(wanted, autoescape=True) for one in columns]
            chosen = chosen.where(or_(*said))
        if test_set is not None:
            named = select(test_sets.c.id).where(test_sets.c.name == storable(test_set))
            chosen = chosen.where(jobs.c.test_set_id.in_(named))
        if where is not None:
            chosen = chosen.where(where)
        newest = (jobs.c.created_at.desc(), jobs.c.id.desc())
        return self._standings(chosen.order_by(*newest).limit(limit))

    def standing(self, job_id: str) -> Standing[JobT] | None:
        """How one job stands."""
        wanted = select(jobs).where(jobs.c.kind == self.kind.name, jobs.c.id == job_id)
        return next(iter(self._standings(wanted)), None)

    def _standings(self, chosen: Select[Any]) -> list[Standing[JobT]]:
        page = chosen.subquery()
        counted = _counted(self.kind, select(page.c.id))
        statement = (
            select(
                page,
                counted.c.mean,
                func.coalesce(counted.c.n, 0).label("with_result"),
                leases_of_jobs(page.c.id),
            )
            .select_from(page.outerjoin(counted, counted.c.job_id == page.c.id))
            .order_by(page.c.created_at.desc(), page.c.id.desc())
        )
        with transaction(self.engine) as connection:
            return [self._standing(row) for row in connection.execute(statement)]

    def summaries(
        self,
        job_id: str,
        *,
        after: CellKey | None = None,
        limit: int | None = None,
        wanted: CellFilter = ANY,
    ) -> list[SummaryT]:
        """What is counted of results, by item and trial."""
        statement = _page(SUMMARY_COLUMNS, job_id, after, limit, wanted)
        with transaction(self.engine) as connection:
            return [self.kind.read_summary(row) for row in connection.execute(statement)]

    def records(
        self,
        job_id: str,
        *,
        after: CellKey | None = None,
        limit: int | None = None,
        wanted: CellFilter = ANY,
    ) -> list[CellT]:
        """Results in full, by item and trial."""
        statement = _page(("record", "body"), job_id, after, limit, wanted)
        with transaction(self.engine) as connection:
            return [cell_of(self.kind, row) for row in connection.execute(statement)]

    def records_of(self, job_id: str, keys: Sequence[CellKey]) -> dict[CellKey, CellT]:
        """The results of these cells that there are."""
        if not keys:
            return {}
        cells = tuple_(results.c.item, results.c.trial).in_(list(keys))
        found = self.records(job_id, wanted=CellFilter(where=cells))
        return {record.key: record for record in found}

    def each_of(self, job_id: str, keys: Sequence[CellKey]) -> Iterator[CellT]:
        """The same one after the other, however many they are."""
        for place in range(0, len(keys), _AT_ONCE):
            yield from self.records_of(job_id, keys[place : place + _AT_ONCE]).values()

    def trials(self, job_id: str, item: int) -> list[int]:
        """The trials of a task or a row that have a result."""
        statement = (
            select(results.c.trial)
            .where(results.c.job_id == job_id, results.c.item == item)
            .order_by(results.c.trial)
        )
        with transaction(self.engine) as connection:
            return list(connection.execute(statement).scalars())

    def count(self, job_id: str, wanted: CellFilter = ANY) -> int:
        """How many results are wanted."""
        statement = select(func.count()).select_from(results).where(*wanted.conditions(job_id))
        with transaction(self.engine) as connection:
            return connection.execute(statement).scalar_one()

    def cost(self, job_id: str) -> float | None:
        """What the results of a job cost; None where nothing has a known price."""
        statement = select(func.sum(results.c.cost)).where(results.c.job_id == job_id)
        with transaction(self.engine) as connection:
            return connection.execute(statement).scalar_one()

    def mean_seconds(self, job_id: str) -> float | None:
        """How long a result took on average."""
        statement = select(func.avg(results.c.seconds)).where(
            results.c.job_id == job_id, results.c.outcome != NO_RESULT
        )
        with transaction(self.engine) as connection:
            return connection.execute(statement).scalar_one()

    def outcomes(self, job_id: str, wanted: CellFilter = ANY) -> dict[str, int]:
        """How many results ended in which way."""
        statement = (
            select(results.c.outcome, func.count().label("n"))
            .where(*wanted.conditions(job_id))
            .group_by(results.c.outcome)
            .order_by(results.c.outcome)
        )
        with transaction(self.engine) as connection:
            return {row.outcome: row.n for row in connection.execute(statement)}

    def _standing(self, row: Any) -> Standing[JobT]:
        return Standing(job_of(self.kind, row), int(row.with_result), row.mean)


def listed(kind: JobKind[Any, Any, Any], parent: str | None) -> list[ColumnElement[bool]]:
    """What holds for the jobs of a list: those of a parent, or those that stand for themselves.

    A run that goes on from an episode of another run is listed with that run alone.
    """
    found = [jobs.c.kind == kind.name]
    if parent is not None:
        return [*found, jobs.c.parent_id == parent]
    return [*found, jobs.c.parent_id.is_(None)] if kind.nests else found


def _page(
    columns: Sequence[str],
    job_id: str,
    after: CellKey | None,
    limit: int | None,
    wanted: CellFilter,
) -> Select[Any]:
    conditions = wanted.conditions(job_id)
    if after is not None:
        conditions.append(tuple_(results.c.item, results.c.trial) > after)
    found = select(*(results.c[name] for name in columns)).where(*conditions)
    return found.order_by(results.c.item, results.c.trial).limit(limit)


def _counted(kind: JobKind[Any, Any, Any], ids: Select[Any]) -> Any:
    """How many cells of each job have a result, and the mean over its tasks or rows."""
    value: ColumnElement[Any] = results.c.score
    if kind.solved_at is not None:
        value = case((results.c.score >= kind.solved_at, 1.0), else_=0.0)
    each = (
        select(results.c.job_id, func.avg(value).label("mean"), func.count().label("n"))
        .where(results.c.outcome != NO_RESULT, results.c.job_id.in_(ids))
        .group_by(results.c.job_id, results.c.item)
        .subquery()
    )
    return (
        select(each.c.job_id, func.avg(each.c.mean).label("mean"), func.sum(each.c.n).label("n"))
        .group_by(each.c.job_id)
        .subquery()
    )
