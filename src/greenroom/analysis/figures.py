"""The figures that analysis gives and reports show."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from greenroom.store.outcomes import FailureKind

ErrorConvention = Literal["errors_excluded", "errors_as_failures"]
"""What becomes of episodes without a result: left out, or counted as failures."""

Verdict = Literal["better", "worse", "no_difference_shown"]


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0


USUAL = Resampling()


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
    method: Literal["bootstrap", "exact", "none"]
    """How the interval was made; "none" where there is none, and low and high are NaN."""


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


# Comparisons


class Side(Immutable, frozen=True):
    """A run or an evaluation as it stands in a comparison, over all that it has itself."""

    label: str
    coverage: Number
    """The share of what was planned that counts."""
    average_cost: float | None
    """US dollars per episode or answered call; None if a price is unknown or nothing was bought."""


class RunSide(Side, frozen=True):
    """A run as it stands in a comparison, over all of its own tasks."""

    tasks: int
    episodes: int
    pass_hat_k: dict[int, Estimate]
    average_reward: Estimate
    total_cost: float | None
    average_seconds: Number


class EvaluationSide(Side, frozen=True):
    """An evaluation as it stands in a comparison, over all of its own rows."""

    rows: int
    results: int
    """Calls with an answer."""
    means: dict[str, Estimate]
    """The mean score by evaluator."""


class PairedFigure(Immutable, frozen=True):
    """A figure of both over the tasks or rows that both have."""

    baseline: Number
    value: Number
    difference: Estimate
    """The figure less the baseline's."""
    p_value: float
    """Of the sign-flip test over tasks or rows, before any correction."""


class PairedTrials(Immutable, frozen=True):
    """Trials of the same task and number in both runs, and McNemar's exact test of them."""

    both: int
    only_baseline: int
    """Pairs of which the baseline's trial succeeded and the run's did not."""
    only_run: int
    neither: int
    p_value: float


class Flip(Immutable, frozen=True):
    """What was mostly solved before and mostly is not now, or the other way."""

    baseline_rate: float
    rate: float


class Difference(PairedFigure, frozen=True):
    """pass^k of two runs over the tasks that both have at least k trials of."""

    k: int
    tasks: int


class FlippedTask(Flip, frozen=True):
    """A task that went from mostly solved to mostly failed, or the other way."""

    task_index: int
    direction: Literal["gained", "lost"]
    """Gained: the baseline mostly failed it, and the run mostly solved it."""
    baseline_trials: int
    trials: int
    why: str | None = None
    """Why the run that failed it did, where that was given."""
    instruction: str = ""


class FlippedRow(Flip, frozen=True):
    """A row that passed mostly before and does not now, or the other way."""

    row: int
    """From 1."""
    direction: str
    """broke or healed."""
    why: str = ""
    """The evaluator's reason for the verdict that is not a pass."""


class EvaluatorDifference(PairedFigure, frozen=True):
    """What one evaluator says of both."""

    alias: str
    rows: int
    """Rows with a score in both; all figures here are of these."""
    p_adjusted: float
    """After Holm's correction for all evaluators and comparisons made at once."""
    verdict: Verdict
    pairs: PairedTrials
    """Verdicts on the same row and repeat."""
    flips: list[FlippedRow]


class Sensitivity(Immutable, frozen=True):
    """What this comparison could find, and what it would take to call the difference seen."""

    power: float
    """The power that the other figures are for."""
    detectable: Number
    """The smallest true difference that is called with this power; NaN if none is."""
    power_for_tenth: float
    """The power with which a true difference of 0.10 is called."""
    trials_needed: int | None
    """Trials of each of these tasks that would call the difference seen; None if none would."""
    tasks_needed: int | None
    """Tasks like these, with the trials they have now, that would call the difference seen."""
    between_tasks: float
    """The variance of the true difference over tasks."""
    within_tasks: float
    """The variance that chance adds to the difference of one trial each."""
    separable: bool
    """False where the two cannot be told apart: tasks with one trial only."""


class Versus(Immutable, frozen=True):
    """A run or an evaluation against the baseline."""

    label: str
    baseline: str
    verdict: Verdict
    sentence: str
    """The verdict in plain words."""
    cost_difference: float | None
    """Average cost per episode or call, less the baseline's; None if either is not known."""


class RunComparison(Versus, frozen=True):
    """One run against the baseline. Its cost difference is of the tasks in common."""

    tasks: int
    """Tasks that both runs have results of; all figures here are of these."""
    only_baseline: list[int]
    """Tasks left out because only the baseline has results of them."""
    only_run: list[int]
    """Tasks left out because only the run has results of them."""
    differences: dict[int, Difference]
    """By k, from 1 to 4 at most."""
    trials: PairedTrials
    p_adjusted: float
    """The p-value of pass^1 after Holm's correction for all comparisons made at once."""
    sensitivity: Sensitivity | None
    """None where there are no tasks in common."""
    flips: list[FlippedTask]

    @property
    def left_out(self) -> int:
        """How many tasks could not be compared."""
        return len(self.only_baseline) + len(self.only_run)


class EvaluationComparison(Versus, frozen=True):
    """One evaluation against the baseline: worse if any evaluator shows that, else better so."""

    evaluators: list[EvaluatorDifference]
    only_baseline: int
    """Rows left out because only the baseline has an answer."""
    only_run: int
    """Rows left out because only the evaluation has an answer."""

    @property
    def left_out(self) -> int:
        """How many rows could not be compared."""
        return self.only_baseline + self.only_run


class Comparison(Immutable, frozen=True):
    """Runs against the first of them."""

    confidence: float
    convention: ErrorConvention
    runs: list[RunSide]
    """The baseline first."""
    comparisons: list[RunComparison]
    """One for each further run."""


class EvaluationComparisons(Immutable, frozen=True):
    """Evaluations against the first of them."""

    confidence: float
    evaluations: list[EvaluationSide]
    """The baseline first."""
    comparisons: list[EvaluationComparison]
    """One for each further evaluation."""
