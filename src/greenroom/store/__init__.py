"""The store: runs, evaluations, judgings and test sets, kept for good."""

from __future__ import annotations

from greenroom.store.columns import ColumnKind, ColumnRecord, chat_of, decoded, kind_of
from greenroom.store.database import StoreError, StoreOutage, database_url, open_engine
from greenroom.store.evaluation_records import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreRecord,
    ScoreSummary,
    TestSetVersion,
)
from greenroom.store.job_rows import Attempt, JobKind
from greenroom.store.jobs import Jobs, Standing
from greenroom.store.judging_records import (
    FaultAuthor,
    FaultKind,
    JudgementRecord,
    JudgingRecord,
)
from greenroom.store.kinds import Evaluations, Judgings, Runs
from greenroom.store.leases import LeaseOwner, this_process
from greenroom.store.migrations import backup, schema_version
from greenroom.store.outages import Patience
from greenroom.store.outcomes import NO_RESULT, OUTCOMES, Outcome, outcome_info, outcome_of
from greenroom.store.records import (
    ActionRecord,
    CellKey,
    CellRecord,
    DifferenceRecord,
    EpisodeRecord,
    EpisodeSummary,
    JobRecord,
    JobStatus,
    RewardRecord,
    RunRecord,
    StepRecord,
    TaskRecord,
    Usage,
    total_cost,
)
from greenroom.store.store import Store, open_store
from greenroom.store.test_sets import Row, TestSets

__all__ = [
    "NO_RESULT",
    "OUTCOMES",
    "ActionRecord",
    "Attempt",
    "CellKey",
    "CellRecord",
    "ColumnKind",
    "ColumnRecord",
    "DifferenceRecord",
    "EpisodeRecord",
    "EpisodeSummary",
    "EvaluationRecord",
    "Evaluations",
    "FaultAuthor",
    "FaultKind",
    "JobKind",
    "JobRecord",
    "JobStatus",
    "Jobs",
    "JudgementRecord",
    "JudgingRecord",
    "Judgings",
    "LeaseOwner",
    "Outcome",
    "Patience",
    "ResultRecord",
    "ResultSummary",
    "RewardRecord",
    "Row",
    "RunRecord",
    "Runs",
    "ScoreRecord",
    "ScoreSummary",
    "Standing",
    "StepRecord",
    "Store",
    "StoreError",
    "StoreOutage",
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
    "outcome_info",
    "outcome_of",
    "schema_version",
    "this_process",
    "total_cost",
]
