"""The store: runs, evaluations, judgings and test sets, kept for good."""

from __future__ import annotations

from greenroom.store.columns import ColumnKind, ColumnRecord, chat_of, decoded, kind_of
from greenroom.store.database import StoreError, StoreOutage, database_url, open_engine
from greenroom.store.evaluation_pages import (
    ResultFilter,
    cell_filter,
    evaluated_rows,
    shown_outcomes,
)
from greenroom.store.evaluation_records import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreRecord,
    ScoreSummary,
    TestSetVersion,
)
from greenroom.store.job_pages import CellFilter, JobPages
from greenroom.store.job_rows import Attempt, JobKind, Standing
from greenroom.store.jobs import Jobs
from greenroom.store.judging_records import (
    FaultAuthor,
    FaultKind,
    JudgementRecord,
    JudgementSummary,
    JudgingRecord,
)
from greenroom.store.kinds import Evaluations, Judgings, Regradings, Runs
from greenroom.store.leases import LeaseOwner, this_process
from greenroom.store.migrations import backup, schema_version
from greenroom.store.note_records import (
    MarkedCell,
    MarkRecord,
    NoteFilter,
    NoteRecord,
    NoteSubject,
    Verdict,
)
from greenroom.store.note_rows import UnknownNote
from greenroom.store.notes import Notes
from greenroom.store.outages import Patience
from greenroom.store.outcomes import NO_RESULT, OUTCOMES, Outcome, outcome_info, outcome_of
from greenroom.store.records import (
    CellKey,
    CellRecord,
    EpisodeRecord,
    EpisodeSummary,
    ExcludedTask,
    JobRecord,
    JobStatus,
    RewindPoint,
    RunRecord,
    TaskSetRecord,
    Usage,
    total_cost,
)
from greenroom.store.regrading_records import Flip, GradeRecord, GradeSummary, RegradingRecord
from greenroom.store.store import Store, open_store
from greenroom.store.test_sets import Row, TestSets
from greenroom.store.trajectory_records import (
    ActionCheckRecord,
    ActionRecord,
    AssertionRecord,
    DifferenceRecord,
    JudgedRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
    UserCallRecord,
)

__all__ = [
    "NO_RESULT",
    "OUTCOMES",
    "ActionCheckRecord",
    "ActionRecord",
    "AssertionRecord",
    "Attempt",
    "CellFilter",
    "CellKey",
    "CellRecord",
    "ColumnKind",
    "ColumnRecord",
    "DifferenceRecord",
    "EpisodeRecord",
    "EpisodeSummary",
    "EvaluationRecord",
    "Evaluations",
    "ExcludedTask",
    "FaultAuthor",
    "FaultKind",
    "Flip",
    "GradeRecord",
    "GradeSummary",
    "JobKind",
    "JobPages",
    "JobRecord",
    "JobStatus",
    "Jobs",
    "JudgedRecord",
    "JudgementRecord",
    "JudgementSummary",
    "JudgingRecord",
    "Judgings",
    "LeaseOwner",
    "MarkRecord",
    "MarkedCell",
    "NoteFilter",
    "NoteRecord",
    "NoteSubject",
    "Notes",
    "Outcome",
    "Patience",
    "RegradingRecord",
    "Regradings",
    "ResultFilter",
    "ResultRecord",
    "ResultSummary",
    "RewardRecord",
    "RewindPoint",
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
    "TaskSetRecord",
    "TestSetVersion",
    "TestSets",
    "UnknownNote",
    "Usage",
    "UserCallRecord",
    "Verdict",
    "backup",
    "cell_filter",
    "chat_of",
    "database_url",
    "decoded",
    "evaluated_rows",
    "kind_of",
    "open_engine",
    "open_store",
    "outcome_info",
    "outcome_of",
    "schema_version",
    "shown_outcomes",
    "this_process",
    "total_cost",
]
