"""The figures of comparisons: runs or evaluations against the first of them."""

from __future__ import annotations

from typing import Literal

from greenroom.analysis.figures import ErrorConvention, Estimate, Immutable, Number

Verdict = Literal["better", "worse", "equivalent", "no_difference_shown"]
"""Equivalent: no difference is called, and one as large as the margin is ruled out."""


class Side(Immutable, frozen=True):
    """A run or an evaluation as it stands in a comparison, over all that it has itself."""

    label: str
    coverage: Number
    """The share of what was planned that has a result."""
    average_cost: float | None
    """US dollars per episode or answered call; None if a price is unknown or nothing was bought."""


class RunSide(Side, frozen=True):
    """A run as it stands in a comparison, over all of its own tasks."""

    tasks: int
    episodes: int
    """Episodes that count."""
    planned: int
    with_result: int
    pass_hat_k: dict[int, Estimate]
    pass_tasks: dict[int, int]
    """How many tasks are behind each pass^k."""
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
    within: Number
    """The smallest margin within which the two are shown to be equal."""


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
    """What this comparison could find, and what it would take to find a difference worth finding.

    The difference seen plays no part: where the agents are equal it is chance, and says nothing
    about how much is worth doing.
    """

    power: float
    """The power that the numbers of tasks and trials are for."""
    detectable: Number
    """The smallest true difference that is called with this power; NaN if none is."""
    detect: float
    """The difference worth finding."""
    power_to_detect: float
    """The power with which a true difference of that size is called by this comparison."""
    trials_needed: int | None
    """Trials of each of these tasks that would call it; None if none would, or none can tell."""
    tasks_needed: int | None
    """Tasks like these, with the trials they have now, that would call it."""
    trials: float
    """Trials of a task now; the harmonic mean where tasks differ."""
    more_trials_suffice: bool
    """False only if it is sure that no number of trials of these tasks would call it."""
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
    confidence: float
    comparisons: int
    """How many comparisons are made at once."""
    margin: float
    broken: int
    """Episodes of both that were played and have no result that counts."""
    undone: Verdict | None
    """The verdict without these, where they might undo it."""
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
    detect: float
    """The difference worth finding."""
    margin: float
    """The margin within which two count as equal."""
    runs: list[RunSide]
    """The baseline first."""
    comparisons: list[RunComparison]
    """One for each further run."""


class EvaluationComparisons(Immutable, frozen=True):
    """Evaluations against the first of them."""

    confidence: float
    margin: float
    """The margin within which two count as equal."""
    evaluations: list[EvaluationSide]
    """The baseline first."""
    comparisons: list[EvaluationComparison]
    """One for each further evaluation."""
