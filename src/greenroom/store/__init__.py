"""The store: runs and their episodes, kept for good."""

from __future__ import annotations

from greenroom.store.records import (
    ActionRecord,
    DifferenceRecord,
    EpisodeRecord,
    Outcome,
    RewardRecord,
    RunRecord,
    RunStatus,
    StepRecord,
    TaskRecord,
    Usage,
)

__all__ = [
    "ActionRecord",
    "DifferenceRecord",
    "EpisodeRecord",
    "Outcome",
    "RewardRecord",
    "RunRecord",
    "RunStatus",
    "StepRecord",
    "TaskRecord",
    "Usage",
]
