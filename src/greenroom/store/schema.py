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

SCHEMA_VERSION = 2

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

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created_at", String(40), nullable=False),
    Column("workflow", Text, nullable=False),
    Column("test_set_id", String(32), nullable=False),
    Column("test_set_version", Integer, nullable=False),
    Column("evaluators", Text, nullable=False),
    Column("repeats", Integer, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("lease_owner", String(200)),
    Column("lease_until", Float),
    # Without CASCADE: a test set stays for as long as an evaluation needs it.
    ForeignKeyConstraint(
        ["test_set_id", "test_set_version"],
        ["test_set_versions.test_set_id", "test_set_versions.version"],
    ),
    Index("evaluations_by_test_set", "test_set_id", "test_set_version"),
)

evaluation_results = Table(
    "evaluation_results",
    metadata,
    Column("evaluation_id", String(32), ForeignKey("evaluations.id", ondelete="CASCADE")),
    Column("row_position", Integer),
    Column("repeat", Integer),
    Column("outcome", String(20), nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cost", Float),
    Column("usage", Text, nullable=False),
    Column("error", Text),
    Column("scores", Text, nullable=False),
    Column("record", Text, nullable=False),
    PrimaryKeyConstraint("evaluation_id", "row_position", "repeat"),
)

evaluation_attempts = Table(
    "evaluation_attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column(
        "evaluation_id",
        String(32),
        ForeignKey("evaluations.id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("row_position", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("error", Text),
    Column("usage", Text, nullable=False),
    Index("evaluation_attempts_by_evaluation", "evaluation_id"),
)
