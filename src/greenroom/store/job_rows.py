"""How jobs and their results become rows of the database, and how rows are read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Generic, TypeVar

from greenroom.store.at_work import any_held
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.records import CellKey, CellRecord, JobRecord, JobStatus, Usage
from greenroom.store.schema import results
from greenroom.util.raw_json import raw_value, record_of, record_text, storable

SUMMARY_COLUMNS = (
    *("item", "trial", "outcome", "score", "seconds", "cost", "usage", "error", "summary"),
)
"""What `JobKind.read_summary` reads."""
_MOST_ATTEMPTS = 2**31 - 1

JobT = TypeVar("JobT", bound=JobRecord)
CellT = TypeVar("CellT", bound=CellRecord)
SummaryT = TypeVar("SummaryT")


@dataclass(frozen=True)
class JobKind(Generic[JobT, CellT, SummaryT]):
    """How jobs of one kind are written and read."""

    name: str
    """What the kind is called in the database and in messages."""
    job: type[JobT]
    cell: type[CellT]
    columns: Callable[[JobT], dict[str, Any]]
    """The columns of a job beyond those that every job has."""
    score: Callable[[CellT], float | None]
    summary: Callable[[CellT], dict[str, Any]]
    """What summaries need beyond the columns that every result has."""
    read_summary: Callable[[Any], SummaryT]
    resume: str
    """The command that goes on with a job, without its name."""
    body: frozenset[str] = frozenset()
    """The fields of a result that are large: they are kept apart and read only with the record."""
    solved_at: float | None = None
    """A score from here on is a success, and successes are counted; None for scores as they are."""
    nests: bool = False
    """A job may go on from another one of this kind. It is listed with that one, not beside it."""


@dataclass(frozen=True, slots=True)
class Standing(Generic[JobT]):
    """A job with how it stands."""

    job: JobT
    finished: int
    """How many cells have a result."""
    mean: float | None
    """The mean over tasks or rows: pass^1 of a run, the mean score of an evaluation."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a cell that gave no result, and what it used."""

    key: CellKey
    started_at: str
    seconds: float
    error: str
    usage: dict[str, Usage]


def job_of(kind: JobKind[JobT, Any, Any], row: Any) -> JobT:
    """The job in a row with `with_result`, how many cells have a result, and `leases`."""
    status: JobStatus = "interrupted"
    if row.with_result >= row.planned:
        status = "complete"
    elif any_held(row.leases):
        status = "running"
    return kind.job.model_validate(raw_value(row.record) | {"status": status})


def cell_row(kind: JobKind[Any, CellT, Any], job_id: str, record: CellT) -> dict[str, Any]:
    """A result as a row of its table."""
    item, trial = record.key
    fields = record.model_dump(mode="json")
    body = {name: fields.pop(name) for name in kind.body}
    return {
        "job_id": job_id,
        "item": item,
        "trial": trial,
        "outcome": record.outcome,
        "score": finite(kind.score(record)),
        "started_at": record.started_at.isoformat(),
        "seconds": finite(record.seconds) or 0.0,
        "attempts": min(record.attempts, _MOST_ATTEMPTS),
        "cost": finite(record.cost),
        "usage": usage_text(record.usage),
        "error": None if record.error is None else storable(record.error),
        "summary": record_text(kind.summary(record)),
        "record": record_text(fields),
        "body": record_text(body) if body and fields.get("pruned") is None else None,
    }


def cell_of(kind: JobKind[Any, CellT, Any], row: Any) -> CellT:
    """The result in a row of its table."""
    record, body = row.record, row.body
    return record_of(kind.cell, record if body is None else f"{record[:-1]},{body[1:]}")


def digest_of(row: Any) -> str:
    """The sha256 of a result in a row of its table, as it is kept."""
    kept = [getattr(row, column.name) for column in results.columns if column.name != "job_id"]
    return sha256(json.dumps(kept).encode()).hexdigest()


def without_content(record: CellT, reason: str) -> CellT:
    """A cell without a result that says why, and still knows what it used."""
    fields = type(record).model_fields
    empty = {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if not field.is_required() and name != "usage"
    }
    scored = {"reward": None} if "reward" in fields else {}
    return record.model_copy(update={**empty, **scored, "outcome": NO_RESULT, "error": reason})


def finite(number: float | None) -> float | None:
    """The number, or None for those that a database may not take."""
    return number if number is not None and math.isfinite(number) else None


def usage_text(usage: dict[str, Usage]) -> str:
    """Usage by purse as JSON."""
    return record_text({purse: used.model_dump() for purse, used in usage.items()})


def usage_from(text: str) -> dict[str, Usage]:
    """Usage by purse, from its JSON."""
    found: dict[str, Any] = raw_value(text)
    return {purse: Usage.model_validate(used) for purse, used in found.items()}
