"""The reports of runs, evaluations and comparisons: their sections, and the records behind them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from greenroom.analysis.figures import ErrorBreakdown, RunMetrics
from greenroom.analysis.slices import Slice
from greenroom.reports.sections import Part, Report
from greenroom.store.records import EpisodeRecord, RunRecord, Usage


class PublishedRow(Part, frozen=True):
    """A published result that stands beside a run, and what differs between the two."""

    strategy: str
    pass_hat_k: dict[int, float]
    source: str
    differs: list[str]


class RunData(Part, frozen=True):
    """Everything that is known of a run: what its sections are built from."""

    run: RunRecord
    metrics: RunMetrics
    errors: ErrorBreakdown
    published: list[PublishedRow]
    episodes: list[EpisodeRecord]
    attempts: int = 0
    """Attempts that came to nothing: broken or interrupted, and played again."""
    attempts_cost: float | None = None
    """What these cost; None if a price is not known, or nothing was bought."""
    attempts_usage: dict[str, Usage] = Field(default_factory=dict[str, Usage])
    """What these used, by purse."""
    agent_facts: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    """What the agent said of itself, such as a version; several values where it changed."""
    agent_tallies: dict[str, dict[str, float | None]] = Field(
        default_factory=dict[str, dict[str, float | None]]
    )
    """What the agent counted beyond the usual, over all episodes; None where it is not known."""
    slices: dict[str, list[Slice]] = Field(default_factory=dict[str, list[Slice]])
    """By what they were asked for."""


class RunReport(Report, RunData, frozen=True):
    """The report of a run. Its JSON is the format of `greenroom runs export --format json`."""

    kind: Literal["greenroom.run"] = "greenroom.run"
