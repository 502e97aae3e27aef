"""Evaluations in the database: every finished cell (row, repeat) is kept, once, for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Engine, Select, bindparam, delete, func, insert, select

from greenroom.errors import InputError, UnknownName
from greenroom.store.database import insert_into, insert_or_replace, transaction
from greenroom.store.evaluation_records import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreSummary,
)
from greenroom.store.leases import LeaseOwner, Leases, is_held
from greenroom.store.records import RunStatus, Usage
from greenroom.store.schema import evaluation_attempts, evaluation_results, evaluations
from greenroom.store.usages import usage_from, usage_text
from greenroom.util.raw_json import raw_text, raw_value

CellKey = tuple[int, int]
"""A row's position and a repeat."""

_WITHOUT_RESULT = "error"
_SUMMARY_COLUMNS = (
    "row_position",
    "repeat",
    "outcome",
    "seconds",
    "cost",
    "usage",
    "error",
    "scores",
)


class Evaluations:
    """The evaluations of a store. Safe to use from several threads and several processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._leases = Leases(engine, evaluations, "evaluation", "being worked on")
        # Built once: putting a statement together takes longer than running it.
        self._put = insert_or_replace(
            engine,
            evaluation_results,
            key=["evaluation_id", "row_position", "repeat"],
            where=evaluation_results.c.outcome == _WITHOUT_RESULT,
        ).returning(evaluation_results.c.row_position)
        self._set_aside = _error_to_attempts()

    def create(self, evaluation: EvaluationRecord) -> None:
        """Keep a new evaluation, under a name that no other has."""
        row = {
            "id": evaluation.id,
            "name": evaluation.name,
            "created_at": evaluation.created_at.isoformat(),
            "workflow": evaluation.workflow,
            "test_set_id": evaluation.test_set_id,
            "test_set_version": evaluation.test_set_version,
            "evaluators": raw_text(evaluation.evaluators),
            "repeats": evaluation.repeats,
            "planned": evaluation.planned,
            "record": raw_text(evaluation.model_dump(mode="json")),
        }
        with transaction(self._engine) as connection:
            statement = insert_into(self._engine, evaluations).values(row).on_conflict_do_nothing()
            if connection.execute(statement.returning(evaluations.c.id)).first() is None:
                raise InputError(
                    f"There is an evaluation named '{evaluation.name}' already: choose another "
                    "name, or go on with it."
                )

    def find(self, name_or_id: str) -> EvaluationRecord:
        """An evaluation, by its name or id."""
        with transaction(self._engine) as connection:
            row = connection.execute(
                _evaluation_rows().where(
                    (evaluations.c.name == name_or_id) | (evaluations.c.id == name_or_id)
                )
            ).first()
        if row is None:
            raise UnknownName("evaluation", name_or_id, (one.name for one in self.all()))
        return _evaluation_record(row)

    def all(self) -> list[EvaluationRecord]:
        """All evaluations, the newest first."""
        statement = _evaluation_rows().order_by(evaluations.c.created_at.desc())
        with transaction(self._engine) as connection:
            return [_evaluation_record(row) for row in connection.execute(statement)]

    def free_name(self, stem: str) -> str:
        """The first of stem-1, stem-2, ... that no evaluation has."""
        with transaction(self._engine) as connection:
            taken = set(connection.execute(select(evaluations.c.name)).scalars())
        number = 1
        while f"{stem}-{number}" in taken:
            number += 1
        return f"{stem}-{number}"

    def delete(self, evaluation: EvaluationRecord) -> None:
        """Remove an evaluation with everything that belongs to it; its test set stays."""
        with transaction(self._engine) as connection:
            found = select(evaluations).where(evaluations.c.id == evaluation.id)
            row = connection.execute(found).first()
            if row is not None and is_held(row.lease_owner, row.lease_until):
                raise InputError(
                    f"The evaluation '{evaluation.name}' is being worked on: stop it first."
                )
            connection.execute(delete(evaluations).where(evaluations.c.id == evaluation.id))

    # Results

    def add(self, evaluation_id: str, records: Sequence[ResultRecord]) -> list[bool]:
        """Keep results in one transaction: for each, whether it is kept.

        A result that is there already stays as it is, unless it is an error: then it is replaced,
        and what it took is kept among the attempts.
        """
        with transaction(self._engine) as connection:
            kept: list[bool] = []
            for record in records:
                row = _result_row(evaluation_id, record)
                connection.execute(self._set_aside, row)
                kept.append(connection.execute(self._put, row).first() is not None)
        return kept

    def add_attempt(
        self,
        evaluation_id: str,
        key: CellKey,
        *,
        started_at: str,
        seconds: float,
        error: str,
        usage: dict[str, Usage],
    ) -> None:
        """Note an attempt that came to nothing, with what it cost."""
        with transaction(self._engine) as connection:
            connection.execute(
                insert(evaluation_attempts).values(
                    evaluation_id=evaluation_id,
                    row_position=key[0],
                    repeat=key[1],
                    started_at=started_at,
                    seconds=seconds,
                    error=_storable(error),
                    usage=usage_text(usage),
                )
            )

    def attempts(self, evaluation_id: str) -> list[dict[str, Any]]:
        """The attempts of an evaluation that came to nothing."""
        statement = (
            select(evaluation_attempts)
            .where(evaluation_attempts.c.evaluation_id == evaluation_id)
            .order_by(evaluation_attempts.c.id)
        )
        with transaction(self._engine) as connection:
            return [
                {
                    "row": row.row_position,
                    "repeat": row.repeat,
                    "started_at": row.started_at,
                    "seconds": row.seconds,
                    "error": row.error,
                    "usage": usage_from(row.usage),
                }
                for row in connection.execute(statement)
            ]

    def finished(self, evaluation_id: str) -> set[CellKey]:
        """The cells of an evaluation that have a result."""
        cells = select(evaluation_results.c.row_position, evaluation_results.c.repeat).where(
            evaluation_results.c.evaluation_id == evaluation_id,
            evaluation_results.c.outcome != _WITHOUT_RESULT,
        )
        with transaction(self._engine) as connection:
            return {(row.row_position, row.repeat) for row in connection.execute(cells)}

    def results(self, evaluation_id: str) -> Iterator[ResultRecord]:
        """The results of an evaluation, by row and repeat, a few at a time."""
        statement = (
            select(evaluation_results.c.record)
            .where(evaluation_results.c.evaluation_id == evaluation_id)
            .order_by(evaluation_results.c.row_position, evaluation_results.c.repeat)
        )
        with transaction(self._engine) as connection:
            for row in connection.execution_options(yield_per=200).execute(statement):
                yield ResultRecord.model_validate(raw_value(row.record))

    def result(self, evaluation_id: str, key: CellKey) -> ResultRecord | None:
        """One cell's result, if there is one."""
        with transaction(self._engine) as connection:
            text = connection.execute(
                select(evaluation_results.c.record).where(
                    evaluation_results.c.evaluation_id == evaluation_id,
                    evaluation_results.c.row_position == key[0],
                    evaluation_results.c.repeat == key[1],
                )
            ).scalar()
        return None if text is None else ResultRecord.model_validate(raw_value(text))

    def summaries(self, evaluation_id: str) -> Iterator[ResultSummary]:
        """What is counted of an evaluation's results, by row and repeat: quick and small."""
        statement = (
            select(*(evaluation_results.c[name] for name in _SUMMARY_COLUMNS))
            .where(evaluation_results.c.evaluation_id == evaluation_id)
            .order_by(evaluation_results.c.row_position, evaluation_results.c.repeat)
        )
        with transaction(self._engine) as connection:
            for row in connection.execution_options(yield_per=500).execute(statement):
                yield _summary(row)

    # Leases

    def acquire(self, evaluation: EvaluationRecord, owner: LeaseOwner) -> None:
        """Take an evaluation for this process; refused while another works on it."""
        self._leases.acquire(evaluation.id, evaluation.name, owner)

    def renew(self, evaluation_id: str, owner: LeaseOwner) -> bool:
        """Keep an evaluation for longer: whether it is still ours."""
        return self._leases.renew(evaluation_id, owner)

    def release(self, evaluation_id: str, owner: LeaseOwner) -> None:
        """Let others have the evaluation."""
        self._leases.release(evaluation_id, owner)


def _error_to_attempts() -> Any:
    # What a call took that failed is kept when another attempt takes its place.
    kept = ("evaluation_id", "row_position", "repeat", "started_at", "seconds", "error", "usage")
    failed = select(*(evaluation_results.c[name] for name in kept)).where(
        evaluation_results.c.evaluation_id == bindparam("evaluation_id"),
        evaluation_results.c.row_position == bindparam("row_position"),
        evaluation_results.c.repeat == bindparam("repeat"),
        evaluation_results.c.outcome == _WITHOUT_RESULT,
    )
    return insert(evaluation_attempts).from_select(list(kept), failed)


def _evaluation_rows() -> Select[Any]:
    with_result = (
        select(func.count())
        .select_from(evaluation_results)
        .where(
            evaluation_results.c.evaluation_id == evaluations.c.id,
            evaluation_results.c.outcome != _WITHOUT_RESULT,
        )
        .scalar_subquery()
        .label("with_result")
    )
    return select(evaluations, with_result)


def _evaluation_record(row: Any) -> EvaluationRecord:
    record = EvaluationRecord.model_validate(raw_value(row.record))
    status: RunStatus = "interrupted"
    if row.with_result >= row.planned:
        status = "complete"
    elif is_held(row.lease_owner, row.lease_until):
        status = "running"
    return record.model_copy(update={"status": status})


def _result_row(evaluation_id: str, record: ResultRecord) -> dict[str, Any]:
    scores = {
        alias: {"score": one.score, "passed": one.passed, "broken": one.broken}
        for alias, one in record.scores.items()
    }
    return {
        "evaluation_id": evaluation_id,
        "row_position": record.row,
        "repeat": record.repeat,
        "outcome": record.outcome,
        "started_at": record.started_at.isoformat(),
        "seconds": record.seconds,
        "attempts": record.attempts,
        "cost": record.cost,
        "usage": usage_text(record.usage),
        "error": None if record.error is None else _storable(record.error),
        "scores": raw_text(scores),
        "record": raw_text(record.model_dump(mode="json")),
    }


def _storable(text: str) -> str:
    # PostgreSQL keeps no NUL, and neither database half of a surrogate pair.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _summary(row: Any) -> ResultSummary:
    scores: dict[str, Any] = raw_value(row.scores)
    return ResultSummary(
        row=row.row_position,
        repeat=row.repeat,
        outcome=row.outcome,
        seconds=row.seconds,
        cost=row.cost,
        usage=usage_from(row.usage),
        error=row.error,
        scores={
            alias: ScoreSummary(one["score"], one["passed"], one["broken"])
            for alias, one in scores.items()
        },
    )
