"""A report: everything that is known of a run, in one documented and versioned model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from greenroom.analysis.figures import ErrorBreakdown, RunMetrics
from greenroom.store.records import EpisodeRecord, RunRecord

REPORT_VERSION = 1


class PublishedRow(BaseModel):
    """A published result that stands beside a run, and what differs between the two."""

    model_config = ConfigDict(frozen=True)

    strategy: str
    pass_hat_k: dict[int, float]
    source: str
    differs: list[str]


class Report(BaseModel):
    """The full result of a run. Its JSON is the format of `greenroom runs export --format json`."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")

    kind: Literal["greenroom.run"] = "greenroom.run"
    version: int = REPORT_VERSION
    run: RunRecord
    metrics: RunMetrics
    errors: ErrorBreakdown
    published: list[PublishedRow]
    episodes: list[EpisodeRecord]
    attempts: int = 0
    """Attempts that came to nothing: broken or interrupted, and played again."""
    attempts_cost: float | None = None
    """What these cost; None if a price is not known, or nothing was bought."""
    agent_facts: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    """What the agent said of itself, such as a version; several values where it changed."""
    agent_tallies: dict[str, dict[str, float | None]] = Field(
        default_factory=dict[str, dict[str, float | None]]
    )
    """What the agent counted beyond the usual, over all episodes; None where it is not known."""
