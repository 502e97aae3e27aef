"""The figures that analysis gives and reports show."""

from __future__ import annotations

from math import nan
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from greenroom.store.outcomes import FailureKind

ErrorConvention = Literal["errors_excluded", "errors_as_failures"]
"""What becomes of episodes without a result: left out, or counted as failures."""


CONFIDENCE = 0.95
"""Of all intervals, unless another one is asked for."""


Number = Annotated[float, BeforeValidator(lambda value: nan if value is None else value)]
"""A figure that may be NaN, which is null in JSON."""


class Immutable(BaseModel, frozen=True):
    """Figures, and the parts of reports, are never changed once they are made."""

    model_config = ConfigDict(extra="ignore", ser_json_inf_nan="null", defer_build=True)


class Estimate(Immutable, frozen=True):
    """A figure with its interval; NaN where there is nothing to judge by."""

    value: Number
    low: Number
    high: Number
    method: Literal["estimated", "exact", "none"]
    """How the interval was made; "none" where there is none, and low and high are NaN."""
    cautious: bool = False
    """The interval is on the safe side: it holds the truth more often than it says."""


NOTHING = Estimate(value=nan, low=nan, high=nan, method="none")


def without_interval(value: float | None) -> Estimate:
    """A figure of which nothing more is known; None is not known at all."""
    return Estimate(value=nan if value is None else value, low=nan, high=nan, method="none")


class Latency(Immutable, frozen=True):
    """How long something took, in seconds."""

    n: int
    """How many values there are."""
    mean: Number
    p50: Estimate
    p90: Estimate
    p95: Estimate
    p99: Estimate


RUN_NAMES = ("reward", "overall", "coverage", "errors", "cost")
LATENCY_NAMES = ("latency_p50", "latency_p90", "latency_p95", "latency_p99", "latency_mean")


def named_latency(span: Latency | None) -> dict[str, Estimate]:
    """The figures of a span by the names that gates use."""
    if span is None:
        return dict.fromkeys(LATENCY_NAMES, NOTHING)
    found = (span.p50, span.p90, span.p95, span.p99, without_interval(span.mean))
    return dict(zip(LATENCY_NAMES, found, strict=True))


class ConventionMetrics(Immutable, frozen=True):
    """The figures of a run under one convention for episodes without a result."""

    convention: ErrorConvention
    coverage: Number
    """The share of the planned episodes that count here."""
    tasks: int
    episodes: int
    pass_hat_k: dict[int, Estimate]
    """pass^k for k = 1 to the number of trials that tasks have."""
    pass_tasks: dict[int, int] = Field(default_factory=dict[int, int])
    """How many tasks are behind each pass^k: those with at least k trials."""
    average_reward: Estimate
    overall_score: Estimate
    """The mean of pass^1 to pass^4; NaN with fewer than 4 trials."""


class TurnPoint(Immutable, frozen=True):
    """A point of the turn curve: the share of episodes solved at, and by, a turn."""

    turn: int
    solved_at: float
    solved_by: float


class TaskFigures(Immutable, frozen=True):
    """How one task went."""

    task_index: int
    trials: int
    """Trials with a result."""
    successes: int
    errors: int
    """Trials that ended in an infrastructure error."""
    missing: int
    """Planned trials that were not played."""
    average_reward: Number
    outcomes: dict[int, str]
    """The outcome of each trial that was played, by trial."""
    mean_steps: Number
    mean_turns: Number
    cost: float | None
    instruction: str = ""


def run_figure_names(num_trials: int) -> list[str]:
    """The names that gates of a run may use."""
    return [*(f"pass^{k}" for k in range(1, num_trials + 1)), *RUN_NAMES, *LATENCY_NAMES]


class RunMetrics(Immutable, frozen=True):
    """Everything that is counted and estimated of a run."""

    confidence: float
    planned: int
    with_result: int
    errors: int
    missing: int
    duplicates: int
    """Rows beyond the first of the same task and trial; they are not counted."""
    outcomes: dict[str, int]
    conventions: dict[ErrorConvention, ConventionMetrics]
    turn_curve: list[TurnPoint]
    steps_to_success: Estimate
    """The mean number of steps of solved episodes."""
    mean_steps: Number
    seconds: float
    """Of all episodes together."""
    total_cost: float | None
    average_cost: float | None
    costs_are_told: bool = True
    """Whether what the agent spends is counted; if not, the costs are unknown."""
    tokens: dict[str, int]
    """Tokens by purse."""
    tasks: list[TaskFigures]
    latency: dict[str, Latency] = Field(default_factory=dict[str, Latency])
    """By what took so long: turn, episode, and the model calls of each purse, as model.agent."""

    def named(self) -> dict[str, Estimate]:
        """The figures by the names that gates use."""
        main = self.main
        return {
            **{f"pass^{k}": estimate for k, estimate in main.pass_hat_k.items()},
            "reward": main.average_reward,
            "overall": main.overall_score,
            "coverage": without_interval(main.coverage),
            "errors": without_interval(self.errors + self.missing),
            "cost": without_interval(self.total_cost),
            **named_latency(self.latency.get("turn")),
        }

    @property
    def main(self) -> ConventionMetrics:
        """The figures with errors left out: what the agent did."""
        return self.conventions["errors_excluded"]


class Diagnosis(Immutable, frozen=True):
    """Why an episode failed: the kind that weighs most, all that apply, and the evidence."""

    task_index: int
    trial: int
    kind: FailureKind
    kinds: list[FailureKind]
    explanation: str
    """One sentence for people."""
    expected: dict[str, Any] | None = None
    """The ground-truth action concerned, as {name, kwargs}."""
    actual: dict[str, Any] | None = None
    """The agent's action concerned, as {name, kwargs}."""
    arguments: list[str] = Field(default_factory=list[str])
    """The arguments that differ, for wrong arguments."""
    differences: list[str] = Field(default_factory=list[str])
    """The database's differences, a line each."""


class ErrorBreakdown(Immutable, frozen=True):
    """The failures of a run by kind, and each of them explained."""

    failures: int
    by_kind: dict[FailureKind, int]
    """How many episodes have this as the kind that weighs most."""
    diagnoses: list[Diagnosis]
