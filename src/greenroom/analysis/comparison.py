"""Which of two runs is better, by how much, and whether that can be told at all.

How hard a task is cancels out in the difference: each is compared with itself. Tasks are the units,
as they are for intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan, sqrt
from statistics import fmean

from greenroom.analysis import compared, verdicts
from greenroom.analysis.figures import CONFIDENCE, ErrorConvention
from greenroom.analysis.metrics import convention_metrics
from greenroom.analysis.power import Counts, PowerAnalysis, observed_spread
from greenroom.analysis.tally import (
    SOLVED,
    EpisodeLike,
    Tally,
    instruction_of,
    reward_of,
    tally,
)

DEEPEST_K = 4
WORTH_FINDING = 0.05
"""The difference in pass^1 that a comparison is planned for, unless another one is given."""
EQUAL_WITHIN = 0.05
"""The margin within which two count as equal, unless another one is given."""
_FEW_ERRORS = 5


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
    asks_no_model: bool = False
    """The agent spends nothing."""
    tells_itself: bool = False
    """Nobody but the agent counts what it spends."""

    def counted(self) -> Tally:
        """Its episodes by task and trial."""
        return tally(
            self.episodes,
            task_indices=self.task_indices,
            num_trials=self.num_trials,
            asks_no_model=self.asks_no_model,
            tells_itself=self.tells_itself,
        )


@dataclass(frozen=True)
class _Side:
    run: ComparedRun
    counted: Tally
    solved: Mapping[int, Mapping[int, bool]]
    """By task and trial; tasks without a trial that counts are left out."""
    figures: compared.RunSide

    def counts(self, task_index: int) -> Counts:
        trials = self.solved.get(task_index, {}).values()
        return len(trials), sum(trials)

    def broken(self, task_index: int) -> int:
        """How many trials of a task were played and have no result that counts."""
        return len(self.counted.rows.get(task_index, {}).keys() - self.solved.get(task_index, {}))

    def counts_if(self, task_index: int, *, solved: bool) -> Counts:
        """The counts if all trials without a result had been solved, or had failed."""
        trials, successes = self.counts(task_index)
        broken = self.broken(task_index)
        return trials + broken, successes + broken * solved

    def average_cost(self, tasks: set[int]) -> float | None:
        played = [one for one in self.counted.played if one.task_index in tasks]
        return _average_cost(self.counted, played)


def compare_runs(
    runs: Sequence[ComparedRun],
    *,
    convention: ErrorConvention = "errors_excluded",
    detect: float = WORTH_FINDING,
    margin: float = EQUAL_WITHIN,
    confidence: float = CONFIDENCE,
) -> compared.Comparison:
    """Compare each run with the first one, on the tasks that both have results of.

    A difference is called if both ways of judging pass^1 agree: the sign-flip test over tasks,
    after Holm's correction for the number of comparisons, and the paired interval, which must leave
    out 0. Either alone keeps to its level; together they are never at odds in a report. If trials
    have no result, the call has to hold whatever these would have come to: hard episodes may break
    more often. The same goes for runs that are equal within `margin`.
    What it would take to find more is worked out for a true difference of `detect`, and not for the
    one seen, which is chance where the agents are equal.
    """
    if len(runs) < 2:
        raise ValueError("a comparison needs at least two runs")
    from greenroom.analysis.paired import difference_of, holm

    baseline, *others = [_side(run, convention, confidence) for run in runs]
    found: list[_Found] = []
    for other in others:
        common = sorted(baseline.solved.keys() & other.solved.keys())
        pairs = [(baseline.counts(index), other.counts(index)) for index in common]
        deepest = max((min(first[0], second[0]) for first, second in pairs), default=1)
        ks = range(1, min(DEEPEST_K, deepest) + 1)
        differences = {k: difference_of(pairs, k, confidence, len(others)) for k in ks}
        at_worst, at_best = differences[1], differences[1]
        if _broken(baseline, other):
            at_worst, at_best = (
                difference_of(_pairs_if(baseline, other, best=best), 1, confidence, len(others))
                for best in (False, True)
            )
        sensitivity = _sensitivity(pairs, detect, confidence, len(others))
        found.append(_Found(other, sensitivity, differences, at_worst, at_best))
    adjusted = holm([one.differences[1].p_value for one in found])
    surely = holm([one.least_sure for one in found])
    return compared.Comparison(
        confidence=confidence,
        convention=convention,
        detect=detect,
        margin=margin,
        runs=[side.figures for side in (baseline, *others)],
        comparisons=[
            _comparison(baseline, one, p_adjusted, sure, margin, confidence, len(others))
            for one, p_adjusted, sure in zip(found, adjusted, surely, strict=True)
        ],
    )


@dataclass(frozen=True)
class _Found:
    """What is found of a run: its differences from the baseline, and how far they may be off."""

    side: _Side
    sensitivity: compared.Sensitivity | None
    differences: dict[int, compared.Difference]
    at_worst: compared.Difference
    """pass^1 if all trials without a result had gone against the run."""
    at_best: compared.Difference
    """pass^1 if they had gone for it."""

    @property
    def nearest(self) -> compared.Difference:
        """The difference with the trials without a result against what is seen."""
        return self.at_worst if self.differences[1].difference.value > 0 else self.at_best

    @property
    def least_sure(self) -> float:
        """The p-value that is left if trials without a result go against the difference seen."""
        seen, nearest = self.differences[1], self.nearest
        same_way = seen.difference.value * nearest.difference.value > 0
        return max(seen.p_value, nearest.p_value) if same_way else 1.0


def _broken(baseline: _Side, other: _Side) -> int:
    """How many trials of tasks that both have played have no result that counts."""
    common = baseline.counted.rows.keys() & other.counted.rows.keys()
    return sum(side.broken(index) for side in (baseline, other) for index in common)


def _pairs_if(baseline: _Side, other: _Side, *, best: bool) -> list[tuple[Counts, Counts]]:
    """The counts of all tasks that both have played, with each trial without a result decided."""
    common = baseline.counted.rows.keys() & other.counted.rows.keys()
    pairs = [
        (baseline.counts_if(index, solved=not best), other.counts_if(index, solved=best))
        for index in sorted(common)
    ]
    return [pair for pair in pairs if pair[0][0] and pair[1][0]]


def _side(run: ComparedRun, convention: ErrorConvention, confidence: float) -> _Side:
    counted = run.counted()
    metrics = convention_metrics(counted, convention, over=run.over, confidence=confidence)
    played = counted.played
    with_result = sum(reward_of(one) is not None for one in played)
    shared = ("tasks", "episodes", "pass_hat_k", "pass_tasks", "average_reward")
    return _Side(
        run=run,
        counted=counted,
        solved={
            index: {trial: reward >= SOLVED for trial, reward in trials.items()}
            for index, trials in counted.rewards(convention, over=run.over).items()
            if trials
        },
        figures=compared.RunSide(
            **{name: getattr(metrics, name) for name in shared},
            label=run.label,
            planned=counted.planned,
            with_result=with_result,
            coverage=with_result / counted.planned if counted.planned else nan,
            total_cost=counted.cost(played),
            average_cost=_average_cost(counted, played),
            average_seconds=fmean(one.seconds for one in played) if played else nan,
        ),
    )


def uneven_errors(run: ComparedRun, beside: ComparedRun) -> tuple[float, float] | None:
    """How often another run solves the tasks that episodes without a result are of, and all tasks.

    None if that is no more than chance, or if there are only few such episodes. The other run says
    how hard a task is, since this one's failures may be what is missing.
    """
    counted, other = run.counted(), beside.counted()
    kept = counted.rewards("errors_excluded", over=run.over)
    rates = {
        index: fmean(reward >= SOLVED for reward in rewards.values())
        for index, rewards in other.rewards("errors_excluded", over=beside.over).items()
        if rewards and index in kept
    }
    planned = {i: len(counted.rows[i]) + run.over * counted.missing(i) for i in rates}
    lacking = {index: planned[index] - len(kept[index]) for index in rates}
    total, broken = sum(planned.values()), sum(lacking.values())
    if broken < _FEW_ERRORS or broken == total:
        return None
    everywhere = sum(planned[index] * rate for index, rate in rates.items()) / total
    there = sum(lacking[index] * rate for index, rate in rates.items()) / broken
    squares = sum(planned[index] * (rate - everywhere) ** 2 for index, rate in rates.items())
    error = sqrt(squares / total / broken * (1 - broken / total))
    return (there, everywhere) if abs(there - everywhere) > 1.96 * error else None


def _average_cost(counted: Tally, played: Sequence[EpisodeLike]) -> float | None:
    cost = counted.cost(played)
    return None if cost is None else cost / len(played)


def _comparison(
    baseline: _Side,
    found: _Found,
    p_adjusted: float,
    sure: float,
    margin: float,
    confidence: float,
    comparisons: int,
) -> compared.RunComparison:
    from greenroom.analysis.paired import paired_trials

    other, differences = found.side, found.differences
    first = differences[1]
    before, after = baseline.solved.keys(), other.solved.keys()
    common = before & after
    within = max(first.within, found.at_worst.within, found.at_best.within)
    seen = verdicts.verdict_of(first, p_adjusted, margin, confidence)
    nearest = found.nearest.model_copy(update={"within": within})
    verdict = verdicts.verdict_of(nearest, sure, margin, confidence)
    told = compared.RunComparison(
        label=other.run.label,
        baseline=baseline.run.label,
        tasks=first.tasks,
        only_baseline=sorted(before - after),
        only_run=sorted(after - before),
        differences=differences,
        trials=paired_trials(baseline.solved, other.solved),
        p_adjusted=p_adjusted,
        confidence=confidence,
        comparisons=comparisons,
        verdict=verdict,
        undone=seen if seen != verdict and seen != "no_difference_shown" else None,
        broken=_broken(baseline, other),
        margin=margin,
        sentence="",
        sensitivity=found.sensitivity,
        flips=list(_flips(baseline, other)),
        cost_difference=verdicts.less(other.average_cost(common), baseline.average_cost(common)),
    )
    return told.model_copy(update={"sentence": verdicts.sentence_of(told)})


def _sensitivity(
    pairs: list[tuple[Counts, Counts]], detect: float, confidence: float, comparisons: int
) -> compared.Sensitivity | None:
    if not pairs:
        return None
    spread, trials = observed_spread(pairs)
    analysis = PowerAnalysis(spread, confidence, comparisons)
    tasks = len(pairs)
    return compared.Sensitivity(
        power=analysis.power,
        detectable=analysis.detectable_difference(tasks=tasks, trials=trials),
        detect=detect,
        power_to_detect=analysis.power_to_detect(detect, tasks=tasks, trials=trials),
        trials_needed=analysis.trials_needed(detect, tasks=tasks),
        tasks_needed=analysis.tasks_needed(detect, trials=trials),
        trials=trials,
        more_trials_suffice=analysis.more_trials_suffice(detect, tasks=tasks),
        between_tasks=spread.between_tasks,
        within_tasks=spread.within_tasks,
        separable=spread.separable,
    )


def _flips(baseline: _Side, other: _Side) -> Iterator[compared.FlippedTask]:
    from greenroom.analysis.paired import flipped

    for index, before, after in flipped(baseline.solved, other.solved):
        gained = after > before
        played = (baseline.counted.rows[index], other.counted.rows[index])
        yield compared.FlippedTask(
            task_index=index,
            direction="gained" if gained else "lost",
            baseline_rate=before,
            baseline_trials=baseline.counts(index)[0],
            rate=after,
            trials=other.counts(index)[0],
            why=(baseline if gained else other).run.reasons.get(index),
            instruction=instruction_of(one for trials in played for one in trials.values()),
        )
