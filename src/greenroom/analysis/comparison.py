"""Which of two agents is better, by how much, and whether that can be told at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from statistics import fmean

from greenroom.analysis.comparison_figures import (
    Comparison,
    Difference,
    FlippedTask,
    RunComparison,
    RunSide,
    Sensitivity,
)
from greenroom.analysis.figures import USUAL, ErrorConvention, Resampling
from greenroom.analysis.metrics import convention_metrics
from greenroom.analysis.power import Counts, PowerAnalysis, observed_spread
from greenroom.analysis.tally import SOLVED, EpisodeLike, Tally, cost_of, instruction_of, tally
from greenroom.analysis.verdicts import less, sentence_of, verdict_of

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
    solved: Mapping[int, Mapping[int, bool]]
    """By task and trial; tasks without a trial that counts are left out."""
    figures: RunSide

    def counts(self, task_index: int) -> Counts:
        trials = self.solved[task_index].values()
        return len(trials), sum(trials)

    def average_cost(self, tasks: set[int]) -> float | None:
        return _average_cost([one for one in self.counted.played if one.task_index in tasks])


def compare_runs(
    runs: Sequence[ComparedRun],
    *,
    convention: ErrorConvention = "errors_excluded",
    how: Resampling = USUAL,
) -> Comparison:
    """Compare each run with the first one, on the tasks that both have results of.

    A difference is called if both ways of judging pass^1 agree: the sign-flip test over tasks,
    after Holm's correction for the number of comparisons, and the paired bootstrap interval, which
    must leave out 0. Either alone keeps to its level; together they are never at odds in a report.
    """
    if len(runs) < 2:
        raise ValueError("a comparison needs at least two runs")
    from greenroom.analysis.paired import difference_of, holm

    baseline, *others = [_side(run, convention, how) for run in runs]
    found: list[tuple[_Side, list[tuple[Counts, Counts]], dict[int, Difference]]] = []
    for other in others:
        common = sorted(baseline.solved.keys() & other.solved.keys())
        pairs = [(baseline.counts(index), other.counts(index)) for index in common]
        deepest = max((min(first[0], second[0]) for first, second in pairs), default=1)
        ks = range(1, min(DEEPEST_K, deepest) + 1)
        found.append((other, pairs, {k: difference_of(pairs, k, how) for k in ks}))
    adjusted = holm([differences[1].p_value for _, _, differences in found])
    return Comparison(
        confidence=how.confidence,
        convention=convention,
        runs=[side.figures for side in (baseline, *others)],
        comparisons=[
            _comparison(baseline, *one, p_adjusted, how.confidence, len(others))
            for one, p_adjusted in zip(found, adjusted, strict=True)
        ],
    )


def _side(run: ComparedRun, convention: ErrorConvention, how: Resampling) -> _Side:
    counted = tally(run.episodes, task_indices=run.task_indices, num_trials=run.num_trials)
    metrics = convention_metrics(counted, convention, over=run.over, how=how)
    played = counted.played
    shared = ("tasks", "episodes", "coverage", "pass_hat_k", "average_reward")
    return _Side(
        run=run,
        counted=counted,
        solved={
            index: {trial: reward >= SOLVED for trial, reward in trials.items()}
            for index, trials in counted.rewards(convention, over=run.over).items()
            if trials
        },
        figures=RunSide(
            **{name: getattr(metrics, name) for name in shared},
            label=run.label,
            total_cost=cost_of(played),
            average_cost=_average_cost(played),
            average_seconds=fmean(one.seconds for one in played) if played else nan,
        ),
    )


def _average_cost(played: Sequence[EpisodeLike]) -> float | None:
    cost = cost_of(played)
    return None if cost is None else cost / len(played)


def _comparison(
    baseline: _Side,
    other: _Side,
    pairs: list[tuple[Counts, Counts]],
    differences: dict[int, Difference],
    p_adjusted: float,
    confidence: float,
    comparisons: int,
) -> RunComparison:
    from greenroom.analysis.paired import paired_trials

    first = differences[1]
    verdict = verdict_of(first.difference, p_adjusted, confidence)
    sensitivity = _sensitivity(pairs, first.difference.value, confidence, comparisons)
    before, after = baseline.solved.keys(), other.solved.keys()
    common = before & after
    return RunComparison(
        label=other.run.label,
        baseline=baseline.run.label,
        tasks=first.tasks,
        only_baseline=sorted(before - after),
        only_run=sorted(after - before),
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
            confidence=confidence,
            comparisons=comparisons,
        ),
        sensitivity=sensitivity,
        flips=list(_flips(baseline, other)),
        cost_difference=less(other.average_cost(common), baseline.average_cost(common)),
    )


def _sensitivity(
    pairs: list[tuple[Counts, Counts]], difference: float, confidence: float, comparisons: int
) -> Sensitivity | None:
    if not pairs:
        return None
    spread, trials = observed_spread(pairs)
    analysis = PowerAnalysis(spread, confidence, comparisons)
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


def _flips(baseline: _Side, other: _Side) -> Iterator[FlippedTask]:
    from greenroom.analysis.paired import flipped

    for index, before, after in flipped(baseline.solved, other.solved):
        gained = after > before
        played = (baseline.counted.rows[index], other.counted.rows[index])
        yield FlippedTask(
            task_index=index,
            direction="gained" if gained else "lost",
            baseline_rate=before,
            baseline_trials=baseline.counts(index)[0],
            rate=after,
            trials=other.counts(index)[0],
            why=(baseline if gained else other).run.reasons.get(index),
            instruction=instruction_of(one for trials in played for one in trials.values()),
        )
