"""What pages about runs ask the database: outcomes of a few tasks, neighbours, who played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Engine, case, func, select, tuple_

from greenroom.store.aggregates import is_pruned
from greenroom.store.database import transaction
from greenroom.store.job_pages import ANY, CellFilter, listed
from greenroom.store.kinds import RUNS
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.records import CellKey
from greenroom.store.schema import failed_attempts, jobs, results
from greenroom.util.json_values import as_dict
from greenroom.util.raw_json import raw_value, storable

Stamp = tuple[int, int, str, int, int]
"""Changes whenever something is added to a run, or pruned: how many results there are and how many
cells without one, when the last of them was started, how many conversations were pruned, and how
many attempts came to nothing."""


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How the trials of a task went."""

    trials: int
    """Trials with a result."""
    successes: int
    reward: float | None
    """The mean."""
    seconds: float
    """The mean."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An agent with where it played, and how often."""

    agent: str
    env: str
    split: str
    runs: int


@dataclass(frozen=True)
class RunPages:
    """Questions about runs that the database answers with a few rows."""

    engine: Engine

    def stamp(self, run_id: str) -> Stamp:
        """What changes whenever something is added to a run, or pruned."""
        broken = func.coalesce(func.sum(case((results.c.outcome == NO_RESULT, 1), else_=0)), 0)
        last = func.coalesce(func.max(results.c.started_at), "")
        pruned = func.coalesce(func.sum(case((is_pruned, 1), else_=0)), 0)
        cells = select(func.count(), broken, last, pruned).where(results.c.job_id == run_id)
        attempts = select(func.count()).where(failed_attempts.c.job_id == run_id)
        with transaction(self.engine) as connection:
            count, without, latest, gone = connection.execute(cells).one()
            wasted = connection.execute(attempts).scalar_one()
        return count, int(without), latest, int(gone), wasted

    def started(self, run_id: str) -> dict[CellKey, str]:
        """When each result of a run was started."""
        columns = (results.c.item, results.c.trial, results.c.started_at)
        statement = select(*columns).where(results.c.job_id == run_id)
        with transaction(self.engine) as connection:
            return {(row[0], row[1]): row[2] for row in connection.execute(statement)}

    def keys(
        self,
        run_id: str,
        wanted: CellFilter = ANY,
        *,
        after: CellKey | None = None,
        before: CellKey | None = None,
        limit: int | None = None,
    ) -> list[CellKey]:
        """The episodes that are wanted, by task and trial.

        Those after a key come in their order. Those before one come backwards, the nearest first.
        """
        place = tuple_(results.c.item, results.c.trial)
        conditions: list[ColumnElement[bool]] = wanted.conditions(run_id)
        if after is not None:
            conditions.append(place > after)
        order: Sequence[Any] = (results.c.item, results.c.trial)
        if before is not None:
            conditions.append(place < before)
            order = (results.c.item.desc(), results.c.trial.desc())
        statement = select(results.c.item, results.c.trial).where(*conditions).order_by(*order)
        with transaction(self.engine) as connection:
            return [(row.item, row.trial) for row in connection.execute(statement.limit(limit))]

    def outcomes(
        self, run_id: str, tasks: Sequence[int], trials: tuple[int, int]
    ) -> dict[int, dict[int, str]]:
        """The outcomes of tasks by trial, from the first of these trials to before the second."""
        statement = select(results.c.item, results.c.trial, results.c.outcome).where(
            results.c.job_id == run_id,
            results.c.item.in_(tasks),
            results.c.trial >= trials[0],
            results.c.trial < trials[1],
        )
        found: dict[int, dict[int, str]] = {task: {} for task in tasks}
        with transaction(self.engine) as connection:
            for row in connection.execute(statement):
                found[row.item][row.trial] = row.outcome
        return found

    def last_trial(self, run_id: str) -> int:
        """The largest number that a trial of a run has; -1 if none was played."""
        statement = select(func.max(results.c.trial)).where(results.c.job_id == run_id)
        with transaction(self.engine) as connection:
            found = connection.execute(statement).scalar_one()
        return -1 if found is None else found

    def tasks_beyond(self, run_id: str, tasks: Sequence[int]) -> list[int]:
        """The tasks that were played although they are not among these, by number."""
        statement = select(results.c.item).where(results.c.job_id == run_id).distinct()
        with transaction(self.engine) as connection:
            return sorted(set(connection.execute(statement).scalars()) - set(tasks))

    def counts(
        self, run_ids: Sequence[str], tasks: Sequence[int] | None = None
    ) -> dict[str, dict[int, TaskCounts]]:
        """How the tasks of runs went, by run and task; of these tasks only, if any are given."""
        solved = case((results.c.score >= RUNS.solved_at, 1), else_=0)
        conditions = [results.c.job_id.in_(run_ids), results.c.outcome != NO_RESULT]
        if tasks is not None:
            conditions.append(results.c.item.in_(tasks))
        statement = (
            select(
                results.c.job_id,
                results.c.item,
                func.count().label("n"),
                func.sum(solved).label("solved"),
                func.avg(results.c.score).label("reward"),
                func.avg(results.c.seconds).label("seconds"),
            )
            .where(*conditions)
            .group_by(results.c.job_id, results.c.item)
            .order_by(results.c.job_id, results.c.item)
        )
        found: dict[str, dict[int, TaskCounts]] = {run_id: {} for run_id in run_ids}
        with transaction(self.engine) as connection:
            for row in connection.execute(statement):
                counted = TaskCounts(row.n, int(row.solved), row.reward, row.seconds)
                found[row.job_id][row.item] = counted
        return found

    def instructions(self, run_id: str, tasks: Sequence[int]) -> dict[int, str]:
        """What the users of tasks want, from one episode of each."""
        first = (
            select(results.c.item, func.min(results.c.trial).label("trial"))
            .where(results.c.job_id == run_id, results.c.item.in_(tasks))
            .group_by(results.c.item)
            .subquery()
        )
        statement = (
            select(results.c.item, results.c.record)
            .join_from(
                first,
                results,
                (results.c.item == first.c.item) & (results.c.trial == first.c.trial),
            )
            .where(results.c.job_id == run_id)
        )
        with transaction(self.engine) as connection:
            rows = connection.execute(statement).all()
        tasks_of = {row.item: as_dict(as_dict(raw_value(row.record)).get("task")) for row in rows}
        return {item: str(task.get("instruction", "")) for item, task in tasks_of.items()}

    def subjects(self) -> list[Subject]:
        """The agents that played, with where: those with most runs first."""
        count = func.count().label("n")
        statement = (
            select(jobs.c.subject, jobs.c.dataset, count)
            .where(*listed(RUNS, None))
            .group_by(jobs.c.subject, jobs.c.dataset)
            .order_by(count.desc(), jobs.c.subject, jobs.c.dataset)
            .limit(_MOST_SUBJECTS)
        )
        with transaction(self.engine) as connection:
            rows = connection.execute(statement).all()
        return [Subject(row.subject, *row.dataset.rpartition("/")[::2], runs=row.n) for row in rows]


_MOST_SUBJECTS = 500


def played_by(agent: str, env: str = "") -> ColumnElement[bool]:
    """Whether a run is of this agent, in this environment if one is named."""
    by_agent = jobs.c.subject == storable(agent)
    if not env:
        return by_agent
    return by_agent & jobs.c.dataset.startswith(f"{storable(env)}/", autoescape=True)


def named_after(stem: str, between: str = "-") -> ColumnElement[bool]:
    """Whether a run's name begins with a stem and a hyphen, as the names that are made up do."""
    return jobs.c.name.startswith(f"{storable(stem)}{between}", autoescape=True)
