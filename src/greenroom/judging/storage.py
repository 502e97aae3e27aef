"""Judgements in the store: every one is kept, with what it took, and the best of each is shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Select, insert, select

from greenroom.judging.records import FaultJudgement, added
from greenroom.store.database import transaction
from greenroom.store.records import Usage
from greenroom.store.schema import judgements


def save_judgements(engine: Engine, run_id: str, records: Iterable[FaultJudgement]) -> None:
    """Keep judgements of a run's episodes, in one transaction."""
    judged_at = datetime.now(UTC).isoformat()
    rows = [
        {
            "run_id": run_id,
            "task_index": record.task_index,
            "trial": record.trial,
            "judge": record.model,
            "judged_at": judged_at,
            "author": record.author,
            "kind": record.kind,
            "error": record.error,
            "usage": record.usage.model_dump_json(),
            "record": record.model_dump_json(),
        }
        for record in records
    ]
    if not rows:
        return
    with transaction(engine) as connection:
        connection.execute(insert(judgements), rows)


def load_judgements(
    engine: Engine, run_id: str, *, judge: str | None = None
) -> list[FaultJudgement]:
    """A run's judgements, by task and trial: of each judge the latest with a complete verdict.

    Where a judge never gave one, it is the latest without.
    """
    statement = select(judgements.c.record).where(judgements.c.run_id == run_id)
    if judge is not None:
        statement = statement.where(judgements.c.judge == judge)
    best: dict[tuple[int, int, str], FaultJudgement] = {}
    for text in _column(engine, statement.order_by(judgements.c.id)):
        record = FaultJudgement.model_validate_json(text)
        key = (record.task_index, record.trial, record.model)
        if key not in best or record.error is None or best[key].error is not None:
            best[key] = record
    return [best[key] for key in sorted(best)]


def judging_usage(engine: Engine, run_id: str) -> Usage:
    """What all judging of a run took, that without a result included."""
    statement = select(judgements.c.usage).where(judgements.c.run_id == run_id)
    return added(Usage.model_validate_json(text) for text in _column(engine, statement))


def _column(engine: Engine, statement: Select[Any]) -> list[str]:
    with transaction(engine) as connection:
        return [str(row[0]) for row in connection.execute(statement)]
