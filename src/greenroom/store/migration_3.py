"""Schema version 3: runs, evaluations and judgings become jobs with results and failed attempts.

Written out, and not taken from `schema`: a later version must not change what this step does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, text

_CREATE = (
    """
    CREATE TABLE jobs (
        id VARCHAR(32) NOT NULL PRIMARY KEY,
        kind VARCHAR(20) NOT NULL,
        name VARCHAR(200) NOT NULL,
        created_at VARCHAR(40) NOT NULL,
        subject TEXT NOT NULL,
        dataset TEXT NOT NULL,
        planned INTEGER NOT NULL,
        parent_id VARCHAR(32),
        test_set_id VARCHAR(32),
        test_set_version INTEGER,
        record TEXT NOT NULL,
        lease_owner VARCHAR(200),
        lease_until FLOAT,
        UNIQUE (kind, name),
        FOREIGN KEY (parent_id) REFERENCES jobs (id) ON DELETE CASCADE,
        FOREIGN KEY (test_set_id, test_set_version)
            REFERENCES test_set_versions (test_set_id, version)
    )
    """,
    "CREATE INDEX jobs_by_test_set ON jobs (test_set_id, test_set_version)",
    "CREATE INDEX jobs_by_parent ON jobs (parent_id)",
    """
    CREATE TABLE results (
        job_id VARCHAR(32) NOT NULL,
        item INTEGER NOT NULL,
        trial INTEGER NOT NULL,
        outcome VARCHAR(40) NOT NULL,
        score FLOAT,
        started_at VARCHAR(40) NOT NULL,
        seconds FLOAT NOT NULL,
        attempts INTEGER NOT NULL,
        cost FLOAT,
        usage TEXT NOT NULL,
        error TEXT,
        summary TEXT NOT NULL,
        record TEXT NOT NULL,
        body TEXT,
        PRIMARY KEY (job_id, item, trial),
        FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE failed_attempts (
        id {counted} NOT NULL PRIMARY KEY,
        job_id VARCHAR(32) NOT NULL,
        item INTEGER NOT NULL,
        trial INTEGER NOT NULL,
        started_at VARCHAR(40) NOT NULL,
        seconds FLOAT NOT NULL,
        error TEXT,
        usage TEXT NOT NULL,
        FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX failed_attempts_by_job ON failed_attempts (job_id)",
)

_COPY = (
    """
    INSERT INTO jobs (id, kind, name, created_at, subject, dataset, planned, record,
                      lease_owner, lease_until)
    SELECT id, 'run', name, created_at, agent_strategy, env || '/' || task_split, planned, record,
           lease_owner, lease_until
    FROM runs
    """,
    """
    INSERT INTO results (job_id, item, trial, outcome, score, started_at, seconds, attempts, cost,
                         usage, error, summary, record, body)
    SELECT e.run_id, e.task_index, e.trial, e.outcome, e.reward, e.started_at, e.seconds,
           e.attempts, e.cost, e.usage, e.error,
           '{"steps":' || CAST(e.steps AS TEXT) || ',"turns":' || CAST(e.turns AS TEXT) || '}',
           e.record,
           '{"steps":' || t.steps || ',"messages":' || COALESCE(t.messages, 'null') || '}'
    FROM episodes e JOIN trajectories t ON t.episode_id = e.id
    """,
    """
    INSERT INTO failed_attempts (job_id, item, trial, started_at, seconds, error, usage)
    SELECT run_id, task_index, trial, started_at, seconds, error, usage FROM attempts ORDER BY id
    """,
    """
    INSERT INTO jobs (id, kind, name, created_at, subject, dataset, planned, test_set_id,
                      test_set_version, record, lease_owner, lease_until)
    SELECT e.id, 'evaluation', e.name, e.created_at, e.workflow,
           s.name || '@' || CAST(e.test_set_version AS TEXT), e.planned, e.test_set_id,
           e.test_set_version, e.record, e.lease_owner, e.lease_until
    FROM evaluations e JOIN test_sets s ON s.id = e.test_set_id
    """,
    """
    INSERT INTO results (job_id, item, trial, outcome, score, started_at, seconds, attempts, cost,
                         usage, error, summary, record)
    SELECT evaluation_id, row_position, repeat,
           CASE outcome WHEN 'ok' THEN 'answered' ELSE 'infrastructure_error' END,
           NULL, started_at, seconds, attempts, cost, usage, error,
           '{"scores":' || scores || '}', record
    FROM evaluation_results
    """,
    """
    INSERT INTO failed_attempts (job_id, item, trial, started_at, seconds, error, usage)
    SELECT evaluation_id, row_position, repeat, started_at, seconds, error, usage
    FROM evaluation_attempts ORDER BY id
    """,
)

_FORMER_TABLES = (
    "judgements",
    "trajectories",
    "attempts",
    "episodes",
    "runs",
    "evaluation_attempts",
    "evaluation_results",
    "evaluations",
)


def unite_jobs(connection: Connection) -> None:
    """Turn a database of version 2 into one of version 3."""
    counted = "SERIAL" if connection.dialect.name == "postgresql" else "INTEGER"
    for statement in _CREATE:
        connection.exec_driver_sql(statement.replace("{counted}", counted))
    for statement in _COPY:
        connection.exec_driver_sql(statement)
    _copy_judgements(connection)
    for table in _FORMER_TABLES:
        connection.exec_driver_sql(f"DROP TABLE {table}")


def _copy_judgements(connection: Connection) -> None:
    """Every judge of a run becomes a job; a judgement that a later one replaced, an attempt."""
    rows = connection.execute(
        text(
            "SELECT j.*, r.name AS run_name FROM judgements j JOIN runs r ON r.id = j.run_id "
            "ORDER BY j.id"
        )
    ).all()
    judgings: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        judgings.setdefault((row.run_id, row.judge), []).append(row)
    for number, judgements in enumerate(judgings.values(), start=1):
        _copy_judging(connection, judgements, number)


def _copy_judging(connection: Connection, rows: list[Any], number: int) -> None:
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
    connection.execute(
        text(
            "INSERT INTO jobs (id, kind, name, created_at, subject, dataset, planned, parent_id, "
            "record) VALUES (:id, 'judging', :name, :created_at, :judge, :run_name, :planned, "
            ":run_id, :record)"
        ),
        {**job, "planned": len(best), "record": json.dumps(job)},
    )
    kept = {row.id for row in best.values()}
    for values in _result_rows(job_id, best.values()):
        connection.execute(
            text(
                "INSERT INTO results (job_id, item, trial, outcome, started_at, seconds, attempts, "
                "cost, usage, error, summary, record) VALUES (:job_id, :item, :trial, :outcome, "
                ":started_at, 0, 1, :cost, :usage, :error, :summary, :record)"
            ),
            values,
        )
    for row in rows:
        if row.id not in kept:
            connection.execute(
                text(
                    "INSERT INTO failed_attempts (job_id, item, trial, started_at, seconds, error, "
                    "usage) VALUES (:job_id, :item, :trial, :started_at, 0, :error, :usage)"
                ),
                {
                    "job_id": job_id,
                    "item": row.task_index,
                    "trial": row.trial,
                    "started_at": row.judged_at,
                    "error": row.error or "judged again",
                    "usage": json.dumps({"judge": json.loads(row.usage)}),
                },
            )


def _result_rows(job_id: str, rows: Any) -> Iterator[dict[str, Any]]:
    for row in rows:
        former: dict[str, Any] = json.loads(row.record)
        usage = {"judge": former["usage"]}
        outcome = "answered" if row.error is None else "infrastructure_error"
        record = {name: value for name, value in former.items() if name not in ("model", "usage")}
        record |= {"outcome": outcome, "started_at": row.judged_at, "usage": usage}
        yield {
            "job_id": job_id,
            "item": row.task_index,
            "trial": row.trial,
            "outcome": outcome,
            "started_at": row.judged_at,
            "cost": former["usage"].get("cost"),
            "usage": json.dumps(usage),
            "error": row.error,
            "summary": json.dumps({"author": row.author, "kind": row.kind}),
            "record": json.dumps(record),
        }
