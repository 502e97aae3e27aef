"""The store: runs and their episodes, kept for good."""

from __future__ import annotations

from greenroom.store.database import StoreError, database_url, open_engine
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
from greenroom.store.store import EpisodeKey, Store, open_store

__all__ = [
    "ActionRecord",
    "DifferenceRecord",
    "EpisodeKey",
    "EpisodeRecord",
    "EpisodeSummary",
    "LeaseOwner",
    "Outcome",
    "RewardRecord",
    "RunRecord",
    "RunStatus",
    "StepRecord",
    "Store",
    "StoreError",
    "TaskRecord",
    "Usage",
    "backup",
    "database_url",
    "open_engine",
    "open_store",
    "schema_version",
    "this_process",
]
