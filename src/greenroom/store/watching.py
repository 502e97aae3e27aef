"""Looking at the database for what other processes change, by a few cheap queries."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from greenroom.store.at_work import any_held, leases_of_jobs
from greenroom.store.database import transaction
from greenroom.store.outcomes import NO_RESULT
from greenroom.store.schema import boards, jobs, notes, results, threads, turns, workers
from greenroom.util.raw_json import raw_value

_MOST = 200
_NEWEST_JOBS = 20
_LOOKS_BETWEEN_SCANS = 10
_OVERLAP = timedelta(seconds=5)
_KINDS = ("run", "evaluation", "judging")
_JOB = ("id", "kind", "name", "planned", "created_at")


class Watch:
    """What changed since the last look. What was seen before may be told again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._since = ""
        self._jobs: set[str] = set()
        """Jobs that were under way at the last look, and new ones that nobody had begun."""
        self._unbegun: set[str] = set()
        self._newest: set[str] | None = None
        """The newest jobs at the last look; None before the first one."""
        self._looks = 0

    def begin(self, since: datetime) -> None:
        """Look for what changes from now on."""
        self._since = _text(since)
        self._unbegun, self._newest, self._looks = set(), None, 0

    def look(self) -> list[dict[str, Any]]:
        """The changes, as the fields of events."""
        since = self._since
        with transaction(self._engine) as connection:
            found = [*self._threads(connection), *self._notes(connection)]
            latest = connection.execute(select(func.max(boards.c.updated_at))).scalar()
            found += self._jobs_under_way(connection)
        if latest is not None and latest > since:
            # Clocks of other machines may be behind.
            self._since = max(since, _text(datetime.fromisoformat(latest) - _OVERLAP))
        self._looks += 1
        return found

    def _threads(self, connection: Connection) -> list[dict[str, Any]]:
        changed = connection.execute(
            select(boards.c.id, boards.c.deleted_at, boards.c.title)
            .where(boards.c.updated_at >= self._since)
            .order_by(boards.c.updated_at.desc())
            .limit(_MOST)
        )
        standings = {row.id: row for row in changed}
        rows = connection.execute(
            select(threads.c.id, threads.c.board_id, threads.c.version, threads.c.record)
            .where(threads.c.board_id.in_(standings), threads.c.updated_at >= self._since)
            .order_by(threads.c.updated_at.desc())
            .limit(_MOST)
        ).all()
        found: list[dict[str, Any]] = [
            {
                "kind": "board",
                "id": key,
                "name": row.title,
                "status": "open" if row.deleted_at is None else "deleted",
            }
            for key, row in standings.items()
        ]
        found += [
            {"kind": "thread", "id": row.id, "board_id": row.board_id, "version": row.version}
            for row in rows
        ]
        listed = [raw_value(row.record)["history"]["turns"] for row in rows]
        last = [one[-1] for one in listed if one]
        standing = connection.execute(
            select(turns.c.id, turns.c.thread_id, turns.c.status).where(turns.c.id.in_(last))
        )
        found += [
            {"kind": "turn", "id": row.id, "thread_id": row.thread_id, "status": row.status}
            for row in standing
        ]
        return found

    def _notes(self, connection: Connection) -> list[dict[str, Any]]:
        changed = connection.execute(
            select(notes.c.id, notes.c.updated_at)
            .where(notes.c.updated_at >= self._since)
            .limit(_MOST)
        )
        # The time sets one change of a note apart from the next.
        return [{"kind": "note", "id": row.id, "status": row.updated_at} for row in changed]

    def _jobs_under_way(self, connection: Connection) -> list[dict[str, Any]]:
        columns = [*(jobs.c[name] for name in _JOB), leases_of_jobs(jobs.c.id)]
        rows: dict[str, Any] = {}
        for kind in _KINDS:
            newest = select(*columns).where(jobs.c.kind == kind).order_by(jobs.c.created_at.desc())
            rows |= {row.id: row for row in connection.execute(newest.limit(_NEWEST_JOBS))}
        newest_ids = set(rows)
        # A short job begins and ends between two looks, or before the first one.
        if self._newest is None:
            new = {key for key, row in rows.items() if row.created_at >= self._since}
        else:
            new = newest_ids - self._newest
        self._newest = newest_ids
        known = select(*columns).where(jobs.c.id.in_(self._jobs))
        rows |= {row.id: row for row in connection.execute(known)}
        if self._looks % _LOOKS_BETWEEN_SCANS == 0:  # older ones that somebody resumed
            leased = select(*columns).where(jobs.c.id.in_(select(workers.c.job_id)))
            rows |= {row.id: row for row in connection.execute(leased)}
        under_way = {key for key, row in rows.items() if any_held(row.leases)}
        found = [
            _job(connection, rows[key], key in under_way)
            for key in sorted(under_way | new | (self._jobs & rows.keys()))
        ]
        # A new job is looked at until it has begun: it may be complete before the next look.
        begun = under_way | {one["id"] for one in found if one["finished"]}
        self._unbegun = (self._unbegun | new) & newest_ids - begun
        self._jobs = under_way | self._unbegun
        return found


def _job(connection: Connection, row: Any, under_way: bool) -> dict[str, Any]:
    finished = connection.execute(
        select(func.count()).where(results.c.job_id == row.id, results.c.outcome != NO_RESULT)
    ).scalar_one()
    done = "complete" if finished >= row.planned else "interrupted"
    return {
        "kind": "job",
        "job": row.kind,
        "id": row.id,
        "name": row.name,
        "finished": finished,
        "planned": row.planned,
        "status": "running" if under_way and finished < row.planned else done,
    }


def _text(when: datetime) -> str:
    return when.isoformat(timespec="microseconds")
