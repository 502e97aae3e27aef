"""The figures of a comparison of runs: all that a report of it shows."""

from __future__ import annotations

from typing import Literal

from greenroom.analysis.figures import ErrorConvention, Estimate, Figures

Verdict = Literal["better", "worse", "no_difference_shown"]


class RunSide(Figures):
    """A run as it stands in a comparison, over all of its own tasks."""

    label: str
    tasks: int
    episodes: int
    coverage: float
    pass_hat_k: dict[int, Estimate]
    average_reward: Estimate
    total_cost: float | None
    average_cost: float | None
    """US dollars per episode; None if a price is not known, or nothing was bought."""
    average_seconds: float


class Difference(Figures):
    """pass^k of two runs over the tasks that both have at least k trials of."""

    k: int
    tasks: int
    baseline: float
    value: float
    difference: Estimate
    """The run's figure less the baseline's."""
    p_value: float
    """Of the sign-flip test over tasks, before any correction."""


class PairedTrials(Figures):
    """Trials of the same task and number in both runs, and McNemar's exact test of them."""

    both: int
    only_baseline: int
    """Pairs of which the baseline's trial succeeded and the run's did not."""
    only_run: int
    neither: int
    p_value: float


class Sensitivity(Figures):
    """What this comparison could find, and what it would take to call the difference seen."""

    power: float
    """The power that the other figures are for."""
    detectable: float
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


class FlippedTask(Figures):
    """A task that went from mostly solved to mostly failed, or the other way."""

    task_index: int
    direction: Literal["gained", "lost"]
    """Gained: the baseline mostly failed it, and the run mostly solved it."""
    baseline_rate: float
    baseline_trials: int
    rate: float
    trials: int
    why: str | None = None
    """Why the run that failed it did, where that was given."""
    instruction: str = ""


class RunComparison(Figures):
    """One run against the baseline."""

    label: str
    baseline: str
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
    verdict: Verdict
    sentence: str
    """The verdict in plain words."""
    sensitivity: Sensitivity | None
    """None where there are no tasks in common."""
    flips: list[FlippedTask]
    cost_difference: float | None
    """Average cost per episode of the tasks in common, the run's less the baseline's.

    None if either is not known.
    """

    @property
    def left_out(self) -> int:
        """How many tasks could not be compared."""
        return len(self.only_baseline) + len(self.only_run)


class Comparison(Figures):
    """Runs against the first of them."""

    confidence: float
    convention: ErrorConvention
    runs: list[RunSide]
    """The baseline first."""
    comparisons: list[RunComparison]
    """One for each further run."""
