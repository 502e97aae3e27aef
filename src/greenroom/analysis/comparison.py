"""Which of two agents is better, by how much, and whether that can be told at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from greenroom.analysis.comparison_figures import (
    Comparison,
    Difference,
    FlippedTask,
    RunComparison,
    RunSide,
    Sensitivity,
)
from greenroom.analysis.figures import ErrorConvention
from greenroom.analysis.metrics import convention_metrics, success_counts
from greenroom.analysis.power import Counts, PowerAnalysis, observed_spread
from greenroom.analysis.tally import SOLVED, EpisodeLike, Tally, cost_of, tally
from greenroom.analysis.verdicts import sentence_of, verdict_of

DEEPEST_K = 4
SMALLEST_DIFFERENCE = 0.005
"""Differences that round to nothing are not worth asking what it takes to show them."""


@dataclass(frozen=True)
class ComparedRun:
    """A run to be compared: its name in the comparison, its plan and its episodes."""

    label: str
    episodes: Iterable[EpisodeLike]
    task_indices: Sequence[int]
    num_trials: int
    reasons: Mapping[int, str] = field(default_factory=dict[int, str])
    """Why it failed tasks, where that is known: a sentence by task."""
    over: bool = True


@dataclass(frozen=True)
class _Side:
    run: ComparedRun
    counted: Tally
    rewards: Mapping[int, Mapping[int, float]]
    figures: RunSide

    def counts(self, task_index: int) -> Counts:
        return success_counts(list(self.rewards[task_index].values()))

    @property
    def solved(self) -> dict[int, dict[int, bool]]:
        return {
            index: {trial: reward >= SOLVED for trial, reward in trials.items()}
            for index, trials in self.rewards.items()
        }

    @property
    def tasks(self) -> set[int]:
        return {index for index, trials in self.rewards.items() if trials}

    def average_cost(self, others: set[int]) -> float | None:
        common = self.tasks & others
        rows = [row for row in self.counted.played if row.task_index in common]
        cost = cost_of(rows)
        return None if cost is None else cost / len(rows)


@dataclass(frozen=True)
class _Settings:
    confidence: float
    resamples: int
    seed: int
    comparisons: int


def compare_runs(
    runs: Sequence[ComparedRun],
    *,
    convention: ErrorConvention = "errors_excluded",
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Compare each run with the first one, on the tasks that both have results of.

    A difference is called if both ways of judging pass^1 agree: the sign-flip test over tasks,
    after Holm's correction for the number of comparisons, and the paired bootstrap interval, which
    must leave out 0. Either alone keeps to its level; together they are never at odds in a report.
    """
    if len(runs) < 2:
        raise ValueError("a comparison needs at least two runs")
    from greenroom.analysis.paired import holm

    settings = _Settings(confidence, resamples, seed, len(runs) - 1)
    sides = [_side(run, convention, settings) for run in runs]
    baseline, others = sides[0], sides[1:]
    differences = [_differences(baseline, other, settings) for other in others]
    adjusted = holm([found[1].p_value for found in differences])
    return Comparison(
        confidence=confidence,
        convention=convention,
        runs=[side.figures for side in sides],
        comparisons=[
            _comparison(baseline, other, found, p_adjusted, settings)
            for other, found, p_adjusted in zip(others, differences, adjusted, strict=True)
        ],
    )


def _side(run: ComparedRun, convention: ErrorConvention, settings: _Settings) -> _Side:
    counted = tally(run.episodes, task_indices=run.task_indices, num_trials=run.num_trials)
    metrics = convention_metrics(
        counted,
        convention,
        confidence=settings.confidence,
        resamples=settings.resamples,
        seed=settings.seed,
        over=run.over,
    )
    played = counted.played
    cost = cost_of(played)
    return _Side(
        run=run,
        counted=counted,
        rewards=counted.rewards(convention, over=run.over),
        figures=RunSide(
            label=run.label,
            tasks=metrics.tasks,
            episodes=metrics.episodes,
            coverage=metrics.coverage,
            pass_hat_k=metrics.pass_hat_k,
            average_reward=metrics.average_reward,
            total_cost=cost,
            average_cost=None if cost is None else cost / len(played),
            average_seconds=sum(row.seconds for row in played) / len(played) if played else nan,
        ),
    )


def _differences(baseline: _Side, other: _Side, settings: _Settings) -> dict[int, Difference]:
    from greenroom.analysis.paired import difference_of

    pairs = _pairs(baseline, other)
    deepest = max((min(first[0], second[0]) for first, second in pairs), default=1)
    return {
        k: difference_of(
            pairs,
            k,
            confidence=settings.confidence,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        for k in range(1, min(DEEPEST_K, deepest) + 1)
    }


def _pairs(baseline: _Side, other: _Side) -> list[tuple[Counts, Counts]]:
    common = sorted(baseline.tasks & other.tasks)
    return [(baseline.counts(index), other.counts(index)) for index in common]


def _comparison(
    baseline: _Side,
    other: _Side,
    differences: dict[int, Difference],
    p_adjusted: float,
    settings: _Settings,
) -> RunComparison:
    from greenroom.analysis.paired import paired_trials

    first = differences[1]
    verdict = verdict_of(first.difference, p_adjusted, settings.confidence)
    sensitivity = _sensitivity(baseline, other, first.difference.value, settings)
    before, after = baseline.average_cost(other.tasks), other.average_cost(baseline.tasks)
    return RunComparison(
        label=other.run.label,
        baseline=baseline.run.label,
        tasks=first.tasks,
        only_baseline=sorted(baseline.tasks - other.tasks),
        only_run=sorted(other.tasks - baseline.tasks),
        differences=differences,
        trials=paired_trials(baseline.solved, other.solved),
        p_adjusted=p_adjusted,
        verdict=verdict,
        sentence=sentence_of(
            other.run.label,
            baseline.run.label,
            verdict,
            first,
            p_adjusted,
            sensitivity,
            confidence=settings.confidence,
            comparisons=settings.comparisons,
        ),
        sensitivity=sensitivity,
        flips=_flips(baseline, other),
        cost_difference=None if before is None or after is None else after - before,
    )


def _sensitivity(
    baseline: _Side, other: _Side, difference: float, settings: _Settings
) -> Sensitivity | None:
    pairs = _pairs(baseline, other)
    if not pairs:
        return None
    spread, trials = observed_spread(pairs)
    analysis = PowerAnalysis(spread, settings.confidence, settings.comparisons)
    worth_asking = abs(difference) >= SMALLEST_DIFFERENCE
    tasks = len(pairs)
    return Sensitivity(
        power=analysis.power,
        detectable=analysis.detectable_difference(tasks=tasks, trials=trials),
        power_for_tenth=analysis.power_to_detect(0.1, tasks=tasks, trials=trials),
        trials_needed=analysis.trials_needed(difference, tasks=tasks) if worth_asking else None,
        tasks_needed=analysis.tasks_needed(difference, trials=trials) if worth_asking else None,
        between_tasks=spread.between_tasks,
        within_tasks=spread.within_tasks,
        separable=spread.separable,
    )


def _flips(baseline: _Side, other: _Side) -> list[FlippedTask]:
    flips: list[FlippedTask] = []
    for index in sorted(baseline.tasks & other.tasks):
        before, after = _rate(baseline.counts(index)), _rate(other.counts(index))
        if (before - 0.5) * (after - 0.5) >= 0:
            continue
        gained = after > before
        failed = baseline if gained else other
        rows = [*baseline.counted.rows[index].values(), *other.counted.rows[index].values()]
        flips.append(
            FlippedTask(
                task_index=index,
                direction="gained" if gained else "lost",
                baseline_rate=before,
                baseline_trials=baseline.counts(index)[0],
                rate=after,
                trials=other.counts(index)[0],
                why=failed.run.reasons.get(index),
                instruction=next((row.instruction for row in rows if row.instruction), ""),
            )
        )
    return flips


def _rate(counts: Counts) -> float:
    trials, successes = counts
    return successes / trials
