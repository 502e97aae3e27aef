"""Schema version 3: the judgements of a run become jobs, like the runs and evaluations.

Written out, and not taken from `schema`: a later version must not change what this step does.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, column, insert, table, text

_FORMER_TABLES = (
    "judgements trajectories attempts episodes runs "
    "evaluation_attempts evaluation_results evaluations"
)


def unite_jobs(connection: Connection) -> None:
    """Copy the judgements to jobs, and drop the tables whose rows are copied."""
    query = "SELECT j.*, r.name AS run_name FROM judgements j JOIN runs r ON r.id = j.run_id"
    judgings: dict[tuple[str, str], list[Any]] = {}
    for row in connection.execute(text(f"{query} ORDER BY j.id")).all():
        judgings.setdefault((row.run_id, row.judge), []).append(row)
    for number, judgements in enumerate(judgings.values(), start=1):
        _copy_judging(connection, judgements, number)
    for name in _FORMER_TABLES.split():
        connection.exec_driver_sql(f"DROP TABLE {name}")


def _copy_judging(connection: Connection, rows: list[Any], number: int) -> None:
    """Every judge of a run becomes a job; a judgement that a later one replaced, an attempt."""
    best: dict[tuple[int, int], Any] = {}
    for row in rows:
        key = (row.task_index, row.trial)
        if key not in best or row.error is None or best[key].error is not None:
            best[key] = row
    first, job_id = rows[0], uuid4().hex[:12]
    job: dict[str, Any] = {
        "id": job_id,
        "name": f"{first.run_name}-judged-{number}"[-200:],
        "created_at": first.judged_at,
        "greenroom_version": "0.1.0",
        "config": {},
        "run_id": first.run_id,
        "run_name": first.run_name,
        "judge": first.judge,
        "episodes": sorted(best),
    }
    _insert(
        connection,
        "jobs",
        id=job_id,
        name=job["name"],
        created_at=first.judged_at,
        kind="judging",
        subject=first.judge,
        dataset=first.run_name,
        planned=len(best),
        parent_id=first.run_id,
        record=json.dumps(job),
    )
    kept = {row.id for row in best.values()}
    for row in [*best.values(), *(row for row in rows if row.id not in kept)]:
        cell: dict[str, Any] = {
            "job_id": job_id,
            "item": row.task_index,
            "trial": row.trial,
            "started_at": row.judged_at,
            "seconds": 0,
        }
        if row.id in kept:
            _insert(connection, "results", **cell, **_result(row))
        else:
            usage = json.dumps({"judge": json.loads(row.usage)})
            error = row.error or "judged again"
            _insert(connection, "failed_attempts", **cell, error=error, usage=usage)


def _result(row: Any) -> dict[str, Any]:
    former: dict[str, Any] = json.loads(row.record)
    usage = {"judge": former["usage"]}
    outcome = "answered" if row.error is None else "infrastructure_error"
    record = {name: value for name, value in former.items() if name not in ("model", "usage")}
    record |= {"outcome": outcome, "started_at": row.judged_at, "usage": usage}
    return {
        "outcome": outcome,
        "attempts": 1,
        "cost": former["usage"].get("cost"),
        "usage": json.dumps(usage),
        "error": row.error,
        "summary": json.dumps({"author": row.author, "kind": row.kind}),
        "record": json.dumps(record),
    }


def _insert(connection: Connection, into: str, /, **values: Any) -> None:
    connection.execute(insert(table(into, *map(column, values))).values(**values))
