"""Pruning: conversations of stored episodes are dropped, and all figures stay.

What reports count of an episode is kept, and why it failed. What was said and done is gone: steps,
messages, and what the agent's program printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, LargeBinary, cast, func, select, update
from sqlalchemy.exc import DBAPIError

from greenroom.errors import InputError
from greenroom.store.aggregates import is_pruned
from greenroom.store.attempt_logs import drop_logs
from greenroom.store.database import StoreError, transaction
from greenroom.store.episode_counts import PrunedRecord
from greenroom.store.job_rows import cell_of, cell_row, digest_of
from greenroom.store.kinds import RUNS
from greenroom.store.records import CellKey, EpisodeRecord, RunRecord
from greenroom.store.schema import jobs, results
from greenroom.store.store import Store
from greenroom.util.raw_json import record_text

_BATCH = 200


@dataclass(frozen=True, slots=True)
class Prunable:
    """A run with conversations that a rule wants pruned."""

    run: RunRecord
    episodes: int
    bytes: int
    """What their conversations take."""

    @property
    def under_way(self) -> bool:
        """Whether the run is being played: then it is left alone."""
        return self.run.status == "running"


def prunable_runs(
    store: Store,
    *,
    names: Sequence[str] = (),
    before: datetime | None = None,
    keep_failures: bool = False,
) -> list[Prunable]:
    """The runs that have something to prune, the oldest first.

    `names` and `before` choose the runs: those of these names, and of those only the ones that were
    begun before a moment. `keep_failures` leaves the conversations of all but solved episodes.
    """
    ids = [store.runs.find(name).id for name in names] if names else _all_ids(store)
    found: list[Prunable] = []
    for run_id in dict.fromkeys(ids):
        run = store.runs.find(run_id)
        if before is not None and run.created_at >= before:
            continue
        episodes, size = _counted(store, run_id, keep_failures)
        if episodes:
            found.append(Prunable(run, episodes, size))
    return sorted(found, key=lambda one: one.run.created_at)


def prune_run(store: Store, run_id: str, *, keep_failures: bool = False) -> Iterator[int]:
    """Prune the conversations of a run; give how many are pruned, batch after batch.

    Raises InputError if the run is under way. An episode that cannot be counted stays as it is.
    """
    after: CellKey = (-1, -1)
    while True:
        with transaction(store.engine) as connection:
            # Nobody begins to play it until the transaction ends.
            if (run := store.runs.held(connection, run_id)).status == "running":
                raise InputError(f"The run '{run.name}' is under way: it is not pruned.")
            place = (results.c.item > after[0]) | (
                (results.c.item == after[0]) & (results.c.trial > after[1])
            )
            rows = connection.execute(
                select(results)
                .where(*_wanted(run_id, keep_failures), place)
                .order_by(results.c.item, results.c.trial)
                .limit(_BATCH)
            ).all()
            if not rows:
                return
            pruned = 0
            for row in rows:
                if (values := _without_conversation(row)) is not None:
                    pruned += 1
                    drop_logs(connection, run_id, [(row.item, row.trial)])
                    connection.execute(
                        update(results)
                        .where(
                            results.c.job_id == run_id,
                            results.c.item == row.item,
                            results.c.trial == row.trial,
                            results.c.started_at == row.started_at,
                        )
                        .values(values)
                    )
        after = rows[-1].item, rows[-1].trial
        yield pruned


def compact(store: Store) -> None:
    """Give the room of what was deleted back to the disk, for an SQLite file."""
    try:
        with store.engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            # The smaller file is written beside the other, and takes its place at a checkpoint.
            for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                alone.exec_driver_sql(statement)
    except DBAPIError as error:
        raise StoreError(
            f"The file could not be made smaller ({error.orig}): try again when nobody else uses "
            "it, and with enough free room for a copy."
        ) from error


def _without_conversation(row: Any) -> dict[str, Any] | None:
    """The columns of an episode without its conversation; None if figures would be lost."""
    try:
        episode: EpisodeRecord = cell_of(RUNS, row)
    except ValidationError:
        return None
    counts = RUNS.summary(episode)
    if not counts.get("counted"):
        return None
    pruned = PrunedRecord(at=datetime.now(UTC), digest=digest_of(row), counted=record_text(counts))
    gone: dict[str, Any] = {"opening": "", "opening_calls": [], "steps": []}
    gone |= {"messages": None, "printed": "", "pruned": pruned}
    kept = cell_row(RUNS, row.job_id, episode.model_copy(update=gone))
    return {name: kept[name] for name in ("summary", "record", "body")}


def _wanted(run_id: str, keep_failures: bool) -> list[ColumnElement[bool]]:
    wanted = [results.c.job_id == run_id, ~is_pruned]
    return [*wanted, results.c.outcome == "success"] if keep_failures else wanted


def _counted(store: Store, run_id: str, keep_failures: bool) -> tuple[int, int]:
    size = func.length(cast(results.c.body, LargeBinary))
    if store.engine.dialect.name == "postgresql":
        size = func.octet_length(results.c.body)
    statement = select(func.count(), func.coalesce(func.sum(size), 0))
    with transaction(store.engine) as connection:
        count, total = connection.execute(statement.where(*_wanted(run_id, keep_failures))).one()
    return count, int(total)


def _all_ids(store: Store) -> list[str]:
    with transaction(store.engine) as connection:
        found = connection.execute(select(jobs.c.id).where(jobs.c.kind == RUNS.name))
        return list(found.scalars())
