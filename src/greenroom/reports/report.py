"""The reports of runs, evaluations and comparisons: their sections, and the records behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, computed_field

from greenroom.analysis import compared, figures
from greenroom.analysis.evaluations import EvaluationFigures
from greenroom.analysis.figures import Immutable
from greenroom.analysis.slices import Slice
from greenroom.reports.sections import Report
from greenroom.store import EvaluationRecord, ResultRecord
from greenroom.store.records import EpisodeRecord, RunRecord, Usage


class PublishedRow(Immutable, frozen=True):
    """A published result that stands beside a run, and what differs between the two."""

    strategy: str
    pass_hat_k: dict[int, float]
    source: str
    differs: list[str]


class RunData(Immutable, frozen=True):
    """Everything that is known of a run: what its sections are built from."""

    run: RunRecord
    metrics: figures.RunMetrics
    errors: figures.ErrorBreakdown
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


class EvaluatedRow(ResultRecord):
    """A result with the row of the test set that it belongs to. Rows and repeats count from 1."""

    inputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    """The whole row, the expected output included."""

    @property
    def shown_outcome(self) -> str:
        """What became of it, over all evaluators: the name of an outcome."""
        if not self.has_result:
            return self.outcome
        return {True: "passed", False: "not_passed", None: "answered"}[self.solved]

    @classmethod
    def of(cls, record: ResultRecord, inputs: Mapping[str, Any]) -> EvaluatedRow:
        """A result as people count it."""
        fields: dict[str, Any] = dict(record)
        counted = {"row": record.row + 1, "repeat": record.repeat + 1, "inputs": dict(inputs)}
        return cls.model_validate(fields | counted)


class EvaluationFacts(EvaluationRecord):
    """An evaluation with what follows from it."""

    @computed_field
    @property
    def test_set(self) -> str:
        """The test set with its version."""
        return f"{self.test_set_name}@{self.test_set_version}"

    @computed_field
    @property
    def planned(self) -> int:
        """How many calls make up the whole evaluation."""
        return self.row_count * self.repeats


class EvaluationData(Immutable, frozen=True):
    """Everything that is known of an evaluation: what its sections are built from."""

    evaluation: EvaluationFacts
    figures: EvaluationFigures
    results: list[EvaluatedRow]
    attempts_usage: list[dict[str, Usage]] = Field(default_factory=list[dict[str, Usage]])
    """What attempts without an answer used."""
    by: list[str] = Field(default_factory=list[str])
    """The columns that slices are made by."""


class EvaluationReport(Report, EvaluationData, frozen=True):
    """The report of an evaluation. Its JSON is the format of `greenroom evals export`."""

    kind: Literal["greenroom.evaluation"] = "greenroom.evaluation"


class ComparisonReport(Report, frozen=True):
    """Runs, or evaluations, against the first of them."""

    kind: Literal["greenroom.comparison"] = "greenroom.comparison"
    confidence: float
    convention: figures.ErrorConvention | None = None
    """For runs: what becomes of episodes without a result."""
    runs: list[compared.RunSide] = Field(default_factory=list[compared.RunSide])
    """The baseline first; empty for evaluations."""
    evaluations: list[compared.EvaluationSide] = Field(
        default_factory=list[compared.EvaluationSide]
    )
    """The baseline first; empty for runs."""
    comparisons: list[compared.RunComparison] | list[compared.EvaluationComparison]
    """One for each further run or evaluation."""

    @property
    def regressed(self) -> list[str]:
        """Which are significantly worse than the baseline."""
        return [one.label for one in self.comparisons if one.verdict == "worse"]
