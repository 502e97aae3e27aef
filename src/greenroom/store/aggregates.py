"""What was counted of a run's episodes when they were kept: read without their trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern

from sqlalchemy import Engine, and_, case, null, select, tuple_

from greenroom.store.database import streamed
from greenroom.store.episode_counts import COUNTS_VERSION, EpisodeCounts
from greenroom.store.job_rows import cell_of
from greenroom.store.kinds import RUNS
from greenroom.store.outcomes import Outcome
from greenroom.store.records import CellKey, EpisodeRecord, UsageCounts, usage_counts
from greenroom.store.schema import results
from greenroom.util.raw_json import raw_value, record_of

_AT_ONCE = 200
is_pruned = results.c.body.is_(None)
"""Whether a run's episode has lost its conversation: only then it has no body."""
_COLUMNS = ("item", "trial", "outcome", "score", "seconds", "usage", "summary")


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """An episode's columns, with what was counted of it."""

    task_index: int
    trial: int
    outcome: Outcome
    reward: float | None
    seconds: float
    usage: dict[str, UsageCounts]
    counts: EpisodeCounts
    is_pruned: bool
    """Its conversation was pruned."""


def stored_counts(
    engine: Engine, run_id: str, keys: Sequence[CellKey] | None = None
) -> Iterator[StoredCounts | EpisodeRecord]:
    """The episodes of a run by task and trial; with keys, only these.

    An episode that was kept without counts, or with those of another version, comes as its record.
    """
    if keys is None:
        yield from _read(engine, run_id, None)
        return
    for place in range(0, len(keys), _AT_ONCE):
        yield from _read(engine, run_id, keys[place : place + _AT_ONCE])


def _read(
    engine: Engine, run_id: str, keys: Sequence[CellKey] | None
) -> Iterator[StoredCounts | EpisodeRecord]:
    # The database leaves records alone where the counts will do: those are most of its bytes.
    known = is_pruned | results.c.summary.startswith(f'{{"counted":{COUNTS_VERSION},')
    whole = [
        case((known, null()), else_=results.c[name]).label(name) for name in ("record", "body")
    ]
    conditions = [results.c.job_id == run_id]
    if keys is not None:
        conditions.append(tuple_(results.c.item, results.c.trial).in_(list(keys)))
    statement = (
        select(*(results.c[name] for name in _COLUMNS), *whole, is_pruned.label("pruned"))
        .where(and_(*conditions))
        .order_by(results.c.item, results.c.trial)
    )
    with streamed(engine, statement, 500) as rows:
        for row in rows:
            if row.record is not None:
                yield cell_of(RUNS, row)
                continue
            yield StoredCounts(
                task_index=row.item,
                trial=row.trial,
                outcome=intern(row.outcome),  # pyright: ignore[reportArgumentType]
                reward=row.score,
                seconds=row.seconds,
                usage=usage_counts(row.usage),
                counts=record_of(EpisodeCounts, row.summary),
                is_pruned=row.pruned,
            )


def pruned_digests(engine: Engine, run_id: str) -> dict[CellKey, str]:
    """The episodes of a run whose conversations were pruned, each with its digest before that."""
    statement = select(results.c.item, results.c.trial, results.c.record).where(
        results.c.job_id == run_id, is_pruned
    )
    found: dict[CellKey, str] = {}
    with streamed(engine, statement, 500) as rows:
        for row in rows:
            found[row.item, row.trial] = raw_value(row.record)["pruned"]["digest"]
    return found
