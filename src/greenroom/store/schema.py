"""The tables. docs/store.md describes them for people who query the database themselves."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION = 6

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

test_sets = Table(
    "test_sets",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created_at", String(40), nullable=False),
)

test_set_versions = Table(
    "test_set_versions",
    metadata,
    Column("test_set_id", String(32), ForeignKey("test_sets.id", ondelete="CASCADE")),
    Column("version", Integer),
    Column("created_at", String(40), nullable=False),
    Column("note", Text, nullable=False),
    Column("columns", Text, nullable=False),
    Column("row_count", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    PrimaryKeyConstraint("test_set_id", "version"),
)

# A row is shared by all versions from the first to the last that have it in its place.
test_set_rows = Table(
    "test_set_rows",
    metadata,
    Column("test_set_id", String(32), ForeignKey("test_sets.id", ondelete="CASCADE")),
    Column("position", Integer),
    Column("first_version", Integer),
    Column("last_version", Integer),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("test_set_id", "position", "first_version"),
)

# Runs, evaluations and judgings: each is a plan of cells (item x trial).
jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("name", String(200), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("subject", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("parent_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE")),
    Column("test_set_id", String(32)),
    Column("test_set_version", Integer),
    Column("record", Text, nullable=False),
    Column("control", Text),
    Column("spent_cost", Float),
    Column("spent_tokens", Integer),
    UniqueConstraint("kind", "name"),
    # Without CASCADE: a test set stays for as long as an evaluation needs it.
    ForeignKeyConstraint(
        ["test_set_id", "test_set_version"],
        ["test_set_versions.test_set_id", "test_set_versions.version"],
    ),
    Index("jobs_by_test_set", "test_set_id", "test_set_version"),
    Index("jobs_by_parent", "parent_id"),
    Index("jobs_by_creation", "kind", "created_at", "id"),
)

# Large columns come last, so that a look at the others does not read them.
results = Table(
    "results",
    metadata,
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE")),
    Column("item", Integer),
    Column("trial", Integer),
    Column("outcome", String(40), nullable=False),
    Column("score", Float),
    Column("started_at", String(40), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cost", Float),
    Column("usage", Text, nullable=False),
    Column("error", Text),
    Column("summary", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("body", Text),
    PrimaryKeyConstraint("job_id", "item", "trial"),
)

failed_attempts = Table(
    "failed_attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("item", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("error", Text),
    Column("usage", Text, nullable=False),
    Index("failed_attempts_by_job", "job_id"),
)

# What attempts said, those that gave a result included: the end of it.
attempt_logs = Table(
    "attempt_logs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("item", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("worker", String(300), nullable=False),
    Column("ended", String(40), nullable=False),
    Column("log", Text, nullable=False),
    Index("attempt_logs_by_cell", "job_id", "item", "trial"),
)

# The processes that work on a job.
workers = Table(
    "workers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("lease", Text, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("granted_cost", Float, nullable=False, server_default="0"),
    Column("granted_tokens", Integer, nullable=False, server_default="0"),
    Index("workers_by_job", "job_id"),
)

# The queue of a job under way: what has no result yet. Claims end with their worker.
cells = Table(
    "cells",
    metadata,
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE")),
    Column("item", Integer),
    Column("trial", Integer),
    Column("place", Integer, nullable=False),
    Column("worker", String(32), ForeignKey("workers.id", ondelete="SET NULL")),
    Column("claimed_at", Float),
    PrimaryKeyConstraint("job_id", "item", "trial"),
    Index("cells_by_worker", "worker"),
)
Index(
    "cells_waiting",
    cells.c.job_id,
    cells.c.place,
    sqlite_where=cells.c.worker.is_(None),
    postgresql_where=cells.c.worker.is_(None),
)

# What processes that ask the same models tell one another. Times are those of the database.
endpoints = Table(
    "endpoints",
    metadata,
    Column("name", String(300), primary_key=True),
    Column("next_at", Float, nullable=False),
    Column("cut_at", Float, nullable=False),
    Column("held_until", Float, nullable=False),
)

# What people do in the playground. What they delete keeps its row, so that it can be restored.
workflow_addresses = Table(
    "workflow_addresses",
    metadata,
    Column("address", String(2000), primary_key=True),
    Column("created_at", String(40), nullable=False),
    Column("deleted_at", String(40)),
)

boards = Table(
    "boards",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    Column("deleted_at", String(40)),
    Column("record", Text, nullable=False),
    Index("boards_by_update", "updated_at", "id"),
)

# A thread's record lists the ids of its turns, now and before each change.
threads = Table(
    "threads",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("board_id", String(32), ForeignKey("boards.id", ondelete="CASCADE"), nullable=False),
    Column("row_number", Integer, nullable=False),
    Column("column_number", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    Column("deleted_at", String(40)),
    Column("record", Text, nullable=False),
    Index("threads_by_board", "board_id", "row_number", "column_number", "id"),
)

# A turn that has ended never changes: an edit makes another turn.
turns = Table(
    "turns",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("thread_id", String(32), ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("status", String(20), nullable=False),
    Column("owner", String(200)),
    Column("created_at", String(40), nullable=False),
    Column("seconds", Float),
    Column("record", Text, nullable=False),
    Column("body", Text),
    Index("turns_by_thread", "thread_id"),
    Index("turns_by_owner", "owner"),
)

notes = Table(
    "notes",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("author", String(200), nullable=False),
    Column("created_at", String(40), nullable=False),
    Column("updated_at", String(40), nullable=False),
    Column("deleted_at", String(40)),
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE")),
    Column("item", Integer),
    Column("trial", Integer),
    Column("step", Integer),
    Column("thread_id", String(32), ForeignKey("threads.id", ondelete="CASCADE")),
    Column("turn_id", String(32)),
    Column("tag", String(200), nullable=False),
    Column("verdict", String(20)),
    Column("text", Text, nullable=False),
    Index("notes_by_job", "job_id", "item", "trial"),
    Index("notes_by_thread", "thread_id"),
    Index("notes_by_creation", "created_at", "id"),
)
