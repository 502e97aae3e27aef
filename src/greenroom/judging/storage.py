"""Judgements in the store: every one is kept, with what it took, and the best of each is shown."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
)

from greenroom.judging.records import FaultJudgement, added
from greenroom.store.database import transaction
from greenroom.store.records import Usage
from greenroom.store.schema import runs

metadata = MetaData()

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String(32), ForeignKey(runs.c.id, ondelete="CASCADE"), nullable=False),
    Column("task_index", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("judge", String(200), nullable=False),
    Column("judged_at", String(40), nullable=False),
    Column("author", String(20)),
    Column("kind", String(40)),
    Column("error", Text),
    Column("usage", Text, nullable=False),
    Column("record", Text, nullable=False),
    Index("judgements_by_run", "run_id", "task_index", "trial"),
)
"""A row for each time that an episode was judged: what was paid for is never overwritten."""


def create_judgements(connection: Connection) -> None:
    """What turns a database of schema 1 into one of schema 2."""
    if connection.dialect.name == "postgresql":
        # Two processes that start at once must not both create the table.
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7367746)")
    metadata.create_all(connection, checkfirst=True)


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
        create_judgements(connection)
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
        if not inspect(connection).has_table(judgements.name):
            return []
        return [str(row[0]) for row in connection.execute(statement)]
