"""Runs and episodes in a database: every finished episode is kept, once, for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import Engine, Select, bindparam, delete, func, insert, select

from greenroom.errors import InputError, UnknownName
from greenroom.store.database import (
    insert_into,
    insert_or_replace,
    transaction,
)
from greenroom.store.leases import LeaseOwner, Leases, is_held
from greenroom.store.records import EpisodeRecord, EpisodeSummary, RunRecord, RunStatus, Usage
from greenroom.store.schema import attempts, episodes, runs, trajectories
from greenroom.store.usages import usage_from, usage_text

EpisodeKey = tuple[int, int]
"""A task's index and a trial."""

_WITHOUT_RESULT = "infrastructure_error"
_KEPT_APART = {"steps", "messages"}
_SUMMARY_COLUMNS = (
    "task_index",
    "trial",
    "outcome",
    "reward",
    "steps",
    "turns",
    "seconds",
    "cost",
    "usage",
)


class Runs:
    """The runs of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._leases = Leases(engine, runs, "run", "being played")
        # Built once: putting a statement together takes longer than running it.
        self._put_episode = insert_or_replace(
            engine,
            episodes,
            key=["run_id", "task_index", "trial"],
            where=episodes.c.outcome == _WITHOUT_RESULT,
        ).returning(episodes.c.id)
        self._set_aside = _broken_episode_to_attempts()
        self._put_trajectory = insert_or_replace(engine, trajectories, key=["episode_id"])

    def create(self, run: RunRecord) -> None:
        """Keep a new run, under a name that no other has."""
        row = {
            "id": run.id,
            "name": run.name,
            "created_at": run.created_at.isoformat(),
            "env": run.env,
            "task_split": run.task_split,
            "agent_strategy": run.agent_strategy,
            "num_trials": run.num_trials,
            "planned": run.planned,
            "record": run.model_dump_json(),
        }
        with transaction(self._engine) as connection:
            statement = insert_into(self._engine, runs).values(row).on_conflict_do_nothing()
            if connection.execute(statement.returning(runs.c.id)).first() is None:
                raise InputError(
                    f"There is a run named '{run.name}' already: choose another --name, or go on "
                    f"with it by 'greenroom resume {run.name}'."
                )

    def find(self, name_or_id: str) -> RunRecord:
        """A run, by its name or id."""
        with transaction(self._engine) as connection:
            row = connection.execute(
                _run_rows().where((runs.c.name == name_or_id) | (runs.c.id == name_or_id))
            ).first()
        if row is None:
            raise UnknownName("run", name_or_id, (run.name for run in self.all()))
        return _run_record(row)

    def all(self) -> list[RunRecord]:
        """All runs, the newest first."""
        with transaction(self._engine) as connection:
            rows = connection.execute(_run_rows().order_by(runs.c.created_at.desc())).all()
        return [_run_record(row) for row in rows]

    def free_name(self, stem: str) -> str:
        """The first of stem-1, stem-2, ... that no run has."""
        taken = {run.name for run in self.all()}
        number = 1
        while f"{stem}-{number}" in taken:
            number += 1
        return f"{stem}-{number}"

    def delete(self, run: RunRecord) -> None:
        """Remove a run with everything that belongs to it."""
        with transaction(self._engine) as connection:
            row = connection.execute(select(runs).where(runs.c.id == run.id)).first()
            if row is not None and is_held(row.lease_owner, row.lease_until):
                raise InputError(f"The run '{run.name}' is being played: stop it first.")
            connection.execute(delete(runs).where(runs.c.id == run.id))

    def add(self, run_id: str, records: Sequence[EpisodeRecord]) -> list[bool]:
        """Keep episodes in one transaction: for each, whether it is kept.

        An episode that is there already stays as it is, unless it ended in an infrastructure error:
        then it is replaced.
        """
        with transaction(self._engine) as connection:
            kept: list[bool] = []
            for record in records:
                row = _episode_row(run_id, record)
                connection.execute(self._set_aside, row)
                found = connection.execute(self._put_episode, row).first()
                kept.append(found is not None)
                if found is not None:
                    connection.execute(self._put_trajectory, _trajectory_row(found.id, record))
        return kept

    def add_attempt(
        self,
        run_id: str,
        key: EpisodeKey,
        *,
        started_at: str,
        seconds: float,
        error: str,
        usage: dict[str, Usage],
    ) -> None:
        """Note an attempt that came to nothing, with what it cost."""
        with transaction(self._engine) as connection:
            connection.execute(
                insert(attempts).values(
                    run_id=run_id,
                    task_index=key[0],
                    trial=key[1],
                    started_at=started_at,
                    seconds=seconds,
                    error=error,
                    usage=usage_text(usage),
                )
            )

    def attempts(self, run_id: str) -> list[dict[str, Any]]:
        """The attempts of a run that came to nothing."""
        with transaction(self._engine) as connection:
            found = connection.execute(
                select(attempts).where(attempts.c.run_id == run_id).order_by(attempts.c.id)
            ).all()
        return [
            {
                "task_index": row.task_index,
                "trial": row.trial,
                "started_at": row.started_at,
                "seconds": row.seconds,
                "error": row.error,
                "usage": usage_from(row.usage),
            }
            for row in found
        ]

    def finished(self, run_id: str) -> set[EpisodeKey]:
        """The episodes of a run that have a result."""
        with transaction(self._engine) as connection:
            found = connection.execute(
                select(episodes.c.task_index, episodes.c.trial).where(
                    episodes.c.run_id == run_id, episodes.c.outcome != _WITHOUT_RESULT
                )
            ).all()
        return {(row.task_index, row.trial) for row in found}

    def results(self, run_id: str) -> Iterator[EpisodeRecord]:
        """The episodes of a run with their trajectories, by task and trial."""
        statement = (
            select(episodes.c.record, trajectories.c.steps, trajectories.c.messages)
            .join(trajectories, trajectories.c.episode_id == episodes.c.id)
            .where(episodes.c.run_id == run_id)
            .order_by(episodes.c.task_index, episodes.c.trial)
        )
        with transaction(self._engine) as connection:
            for row in connection.execution_options(yield_per=200).execute(statement):
                yield _episode_record(row)

    def summaries(self, run_id: str) -> list[EpisodeSummary]:
        """What is counted of a run's episodes, by task and trial: quick, however many there are."""
        counted = [episodes.c[name] for name in _SUMMARY_COLUMNS]
        statement = (
            select(*counted)
            .where(episodes.c.run_id == run_id)
            .order_by(episodes.c.task_index, episodes.c.trial)
        )
        with transaction(self._engine) as connection:
            return [_summary(row) for row in connection.execute(statement)]

    # Leases

    def acquire(self, run: RunRecord, owner: LeaseOwner) -> None:
        """Take a run for this process; refused while another process plays it."""
        self._leases.acquire(run.id, run.name, owner)

    def renew(self, run_id: str, owner: LeaseOwner) -> bool:
        """Keep a run for longer: whether it is still ours."""
        return self._leases.renew(run_id, owner)

    def release(self, run_id: str, owner: LeaseOwner) -> None:
        """Let others have the run."""
        self._leases.release(run_id, owner)


def _broken_episode_to_attempts() -> Any:
    # What an episode took that broke is kept when another attempt takes its place.
    kept = ("run_id", "task_index", "trial", "started_at", "seconds", "error", "usage")
    broken = select(*(episodes.c[name] for name in kept)).where(
        episodes.c.run_id == bindparam("run_id"),
        episodes.c.task_index == bindparam("task_index"),
        episodes.c.trial == bindparam("trial"),
        episodes.c.outcome == _WITHOUT_RESULT,
    )
    return insert(attempts).from_select(list(kept), broken)


def _run_rows() -> Select[Any]:
    with_result = (
        select(func.count())
        .select_from(episodes)
        .where(episodes.c.run_id == runs.c.id, episodes.c.outcome != _WITHOUT_RESULT)
        .scalar_subquery()
        .label("with_result")
    )
    return select(runs, with_result)


def _run_record(row: Any) -> RunRecord:
    run = RunRecord.model_validate_json(row.record)
    status: RunStatus = "interrupted"
    if row.with_result >= row.planned:
        status = "complete"
    elif is_held(row.lease_owner, row.lease_until):
        status = "running"
    return run.model_copy(update={"status": status})


def _episode_row(run_id: str, record: EpisodeRecord) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "task_index": record.task_index,
        "trial": record.trial,
        "outcome": record.outcome,
        "reward": record.reward,
        "steps": len(record.steps),
        "turns": record.turns,
        "seconds": record.seconds,
        "started_at": record.started_at.isoformat(),
        "attempts": record.attempts,
        "cost": record.cost,
        "usage": usage_text(record.usage),
        "error": record.error,
        "record": record.model_dump_json(exclude=_KEPT_APART),
    }


def _trajectory_row(episode_id: int, record: EpisodeRecord) -> dict[str, Any]:
    steps = [step.model_dump() for step in record.steps]
    messages = record.messages
    return {
        "episode_id": episode_id,
        "steps": orjson.dumps(steps).decode(),
        "messages": None if messages is None else orjson.dumps(messages).decode(),
    }


def _episode_record(row: Any) -> EpisodeRecord:
    fields: dict[str, Any] = orjson.loads(row.record)
    fields["steps"] = orjson.loads(row.steps)
    fields["messages"] = None if row.messages is None else orjson.loads(row.messages)
    return EpisodeRecord.model_validate(fields)


def _summary(row: Any) -> EpisodeSummary:
    return EpisodeSummary(
        task_index=row.task_index,
        trial=row.trial,
        outcome=row.outcome,
        reward=row.reward,
        step_count=row.steps,
        turns=row.turns,
        seconds=row.seconds,
        cost=row.cost,
        usage=usage_from(row.usage),
    )
