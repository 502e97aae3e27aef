"""The tables. docs/store.md describes them for people who query the database themselves."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA_VERSION = 1

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created_at", String(40), nullable=False),
    Column("env", String(100), nullable=False),
    Column("task_split", String(100), nullable=False),
    Column("agent_strategy", String(100), nullable=False),
    Column("num_trials", Integer, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("lease_owner", String(200)),
    Column("lease_until", Float),
)

episodes = Table(
    "episodes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String(32), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("task_index", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("outcome", String(40), nullable=False),
    Column("reward", Float),
    Column("steps", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cost", Float),
    Column("usage", Text, nullable=False),
    Column("error", Text),
    Column("record", Text, nullable=False),
    UniqueConstraint("run_id", "task_index", "trial"),
)

trajectories = Table(
    "trajectories",
    metadata,
    Column("episode_id", Integer, ForeignKey("episodes.id", ondelete="CASCADE"), primary_key=True),
    Column("steps", Text, nullable=False),
    Column("messages", Text),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String(32), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("task_index", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("error", Text),
    Column("usage", Text, nullable=False),
    Index("attempts_by_run", "run_id"),
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String(32), ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
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
