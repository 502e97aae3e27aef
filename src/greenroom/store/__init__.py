"""The store: runs with their episodes, test sets and evaluations, kept for good."""

from __future__ import annotations

from greenroom.store.columns import ColumnKind, ColumnRecord, chat_of, decoded, kind_of
from greenroom.store.database import StoreError, database_url, open_engine
from greenroom.store.evaluation_records import (
    EvaluationRecord,
    ResultOutcome,
    ResultRecord,
    ResultSummary,
    ScoreRecord,
    ScoreSummary,
    TestSetVersion,
)
from greenroom.store.evaluations import CellKey, Evaluations
from greenroom.store.leases import LeaseOwner, this_process
from greenroom.store.migrations import backup, schema_version
from greenroom.store.records import (
    ActionRecord,
    DifferenceRecord,
    EpisodeRecord,
    EpisodeSummary,
    Outcome,
    RewardRecord,
    RunRecord,
    RunStatus,
    StepRecord,
    TaskRecord,
    Usage,
)
from greenroom.store.runs import EpisodeKey, Runs
from greenroom.store.store import Store, open_store
from greenroom.store.test_sets import Row, TestSets

__all__ = [
    "ActionRecord",
    "CellKey",
    "ColumnKind",
    "ColumnRecord",
    "DifferenceRecord",
    "EpisodeKey",
    "EpisodeRecord",
    "EpisodeSummary",
    "EvaluationRecord",
    "Evaluations",
    "LeaseOwner",
    "Outcome",
    "ResultOutcome",
    "ResultRecord",
    "ResultSummary",
    "RewardRecord",
    "Row",
    "RunRecord",
    "RunStatus",
    "Runs",
    "ScoreRecord",
    "ScoreSummary",
    "StepRecord",
    "Store",
    "StoreError",
    "TaskRecord",
    "TestSetVersion",
    "TestSets",
    "Usage",
    "backup",
    "chat_of",
    "database_url",
    "decoded",
    "kind_of",
    "open_engine",
    "open_store",
    "schema_version",
    "this_process",
]
