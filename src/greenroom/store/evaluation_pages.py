"""Which results of an evaluation are wanted: conditions that only evaluations have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Engine,
    and_,
    case,
    cast,
    exists,
    func,
    or_,
    select,
    type_coerce,
)

from greenroom.store.database import transaction
from greenroom.store.evaluation_records import EvaluationRecord
from greenroom.store.job_pages import CellFilter, says
from greenroom.store.schema import results, test_set_rows
from greenroom.util.raw_json import raw_value

FINE = ("passed", "answered")
"""The outcomes, as reports show them, that are no failures."""

# A summary is written without blanks, and no alias has a quote in it.
_NOT_PASSED = results.c.summary.contains('"passed":false', autoescape=True)
_PASSED = results.c.summary.contains('"passed":true', autoescape=True)
_OUTCOME = case(
    (results.c.outcome != "answered", results.c.outcome),
    (_NOT_PASSED, "not_passed"),
    (_PASSED, "passed"),
    else_="answered",
)


@dataclass(frozen=True)
class ResultFilter:
    """Which results of an evaluation are wanted; what is None or empty asks for nothing."""

    outcome: str | None = None
    """As reports show it: passed, not_passed, answered, crashed, infrastructure_error."""
    failed: bool = False
    """Only what did not pass, crashed or has no answer; with an evaluator, what it did not pass."""
    unscored_by: str | None = None
    """Only what this evaluator gave no score."""
    evaluator: str | None = None
    """The alias of an evaluator that looked at the result."""
    text: str = ""
    """What the row or the result says somewhere."""
    row: int | None = None
    """A row's position, from 0."""


def cell_filter(engine: Engine, evaluation: EvaluationRecord, wanted: ResultFilter) -> CellFilter:
    """The same as a filter of any job's results."""
    conditions: list[ColumnElement[bool]] = []
    if wanted.outcome is not None:
        conditions.append(_OUTCOME.in_([wanted.outcome]))
    if wanted.evaluator is not None:
        conditions.append(
            _score(engine, wanted.evaluator, "passed").as_boolean().is_(False)
            if wanted.failed
            else _looked_at(engine, wanted.evaluator)
        )
    elif wanted.failed:
        conditions.append(_OUTCOME.not_in(FINE))
    if wanted.unscored_by is not None:
        score = _score(engine, wanted.unscored_by, "score").as_float()
        conditions.append(and_(_looked_at(engine, wanted.unscored_by), score.is_(None)))
    if wanted.text:
        row = exists().where(
            *_rows_of(evaluation),
            test_set_rows.c.position == results.c.item,
            says(wanted.text, test_set_rows.c.content),
        )
        conditions.append(or_(says(wanted.text, results.c.record), row))
    return CellFilter(item=wanted.row, where=and_(*conditions) if conditions else None)


def evaluated_rows(
    engine: Engine, evaluation: EvaluationRecord, positions: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Rows of the evaluation's test set, by position."""
    statement = select(test_set_rows.c.position, test_set_rows.c.content).where(
        *_rows_of(evaluation), test_set_rows.c.position.in_(set(positions))
    )
    with transaction(engine) as connection:
        return {row.position: raw_value(row.content) for row in connection.execute(statement)}


def _rows_of(evaluation: EvaluationRecord) -> list[ColumnElement[bool]]:
    version = evaluation.test_set_version
    return [
        test_set_rows.c.test_set_id == evaluation.test_set_id,
        test_set_rows.c.first_version <= version,
        or_(test_set_rows.c.last_version.is_(None), test_set_rows.c.last_version >= version),
    ]


def shown_outcomes(engine: Engine, job_id: str) -> dict[str, int]:
    """How many results ended in which way, as reports show it."""
    statement = (
        select(_OUTCOME.label("shown"), func.count().label("n"))
        .where(results.c.job_id == job_id)
        .group_by("shown")
        .order_by("shown")
    )
    with transaction(engine) as connection:
        return {row.shown: row.n for row in connection.execute(statement)}


def _looked_at(engine: Engine, alias: str) -> ColumnElement[bool]:
    return _score(engine, alias, "broken").as_boolean().is_not(None)


def _score(engine: Engine, alias: str, name: str) -> Any:
    """A field of what an evaluator said, as far as summaries have it."""
    # SQLite reads JSON from text. PostgreSQL has a type for it.
    of_json = cast if engine.dialect.name == "postgresql" else type_coerce
    summary: Any = of_json(results.c.summary, JSON)
    return summary["scores", alias, name]
