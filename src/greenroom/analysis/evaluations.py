"""The figures of an evaluation: scores with intervals, and apart from them errors, time and money.

Repeats of a row resemble each other, so rows are the units: ten rows that were each given four
times are ten rows, not forty. What has no score is counted and left out; it is never a 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import computed_field

from greenroom.analysis import figures
from greenroom.analysis.latency import Spans, add_model_seconds, add_seconds, latencies
from greenroom.store import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreRecord,
    ScoreSummary,
    Store,
    Usage,
)
from greenroom.store.records import AnyUsage

_SHOWN_ERRORS = 5

ByRow = Mapping[int, Sequence[float]]
"""The scores of each row's repeats."""


class EvaluatorFigures(figures.Immutable, frozen=True):
    """How one evaluator scored the results."""

    alias: str
    name: str
    scored: int
    """Results with a score."""
    unscored: int
    """Results without one: there was nothing to compare, say."""
    broken: int
    """Results without one because the evaluator itself did not work."""
    mean: figures.Estimate
    """Of the scores."""
    judged: int
    """Results of which it was said whether they passed."""
    passed: figures.Estimate
    """The share of these that passed."""


class PurseFigures(figures.Immutable, frozen=True):
    """What one purse paid for."""

    calls: int
    tokens: int
    cost: float
    """US dollars, as far as they are known."""
    unpriced: int
    """Results whose cost is not known."""


class EvaluationFigures(figures.Immutable, frozen=True):
    """Everything that is counted and estimated of an evaluation."""

    confidence: float
    planned: int
    with_result: int
    rows: int
    """Rows with a result."""
    errors: int
    """Calls without an answer; they have no score."""
    crashed: int = 0
    """Calls in which the workflow raised an error; they score 0."""
    missing: int
    """Calls that were planned and not made yet."""
    common_errors: dict[str, int]
    """The most frequent errors, with how often each occurred."""
    evaluators: list[EvaluatorFigures]
    latency: dict[str, figures.Latency]
    """By what took so long: call is the workflow's time for a row, and model.judge, for one, a
    model call of that purse."""
    purses: dict[str, PurseFigures]
    """By who paid: agent is the workflow."""

    @computed_field
    @property
    def cost(self) -> float | None:
        """US dollars in all; None if the cost of any result is not known."""
        known = all(purse.unpriced == 0 for purse in self.purses.values())
        return self.known_cost if known else None

    @computed_field
    @property
    def known_cost(self) -> float:
        """US dollars in all, as far as they are known."""
        return sum(purse.cost for purse in self.purses.values())

    def named(self) -> dict[str, figures.Estimate]:
        """The figures by the names that gates use."""
        return {
            **{
                f"{one.alias}.{what}": figure
                for one in self.evaluators
                for what, figure in (
                    ("mean", one.mean),
                    ("passed", one.passed),
                    ("unscored", figures.without_interval(one.unscored + one.broken)),
                )
            },
            **figures.named_latency(self.latency.get("call")),
            "cost": figures.without_interval(self.cost),
            "coverage": figures.without_interval(
                self.with_result / self.planned if self.planned else None
            ),
            "errors": figures.without_interval(self.errors + self.missing),
        }


def gate_names(aliases: Iterable[str]) -> list[str]:
    """The names of the figures that an evaluation with these evaluators has."""
    of_each = [f"{alias}.{what}" for alias in aliases for what in ("mean", "passed", "unscored")]
    return [*of_each, *figures.LATENCY_NAMES, "cost", "coverage", "errors"]


def measure_evaluation(store: Store, evaluation: EvaluationRecord) -> EvaluationFigures:
    """The figures of an evaluation that is kept, finished or not."""
    kept = store.evaluations
    return measure_results(
        kept.summaries(evaluation.id),
        evaluators={str(one["alias"]): str(one["name"]) for one in evaluation.evaluators},
        planned=evaluation.planned,
        wasted=[attempt.usage for attempt in kept.attempts(evaluation.id)],
    )


def measure_results(
    summaries: Iterable[ResultRecord | ResultSummary],
    *,
    evaluators: Mapping[str, str],
    planned: int,
    wasted: Iterable[Mapping[str, Usage]] = (),
    confidence: float = figures.CONFIDENCE,
) -> EvaluationFigures:
    """The figures of results; `evaluators` are names by alias.

    `wasted` is what attempts used that came to nothing: it was paid for, too.
    """
    scores = {alias: _Scores() for alias in evaluators}
    spans: Spans = {"call": {}}
    errors, crashed = Counter[str](), 0
    purses = defaultdict[str, _Purse](_Purse)
    for summary in summaries:
        _spend(purses, summary.usage, is_result=summary.has_result)
        if not summary.has_result:
            errors[summary.error or "unknown"] += 1
            continue
        crashed += summary.outcome == "crashed"
        add_seconds(spans, "call", summary.row, [summary.seconds])
        add_model_seconds(spans, summary.row, summary.model_seconds)
        for alias, kept in scores.items():
            # A row without the score names evaluators of its own, and this one is not among them.
            if (score := summary.scores.get(alias)) is not None:
                kept.add(summary.row, score)
    for usage in wasted:
        _spend(purses, usage, is_result=False)
    results = _size(spans["call"])
    return EvaluationFigures(
        confidence=confidence,
        planned=planned,
        with_result=results,
        rows=len(spans["call"]),
        errors=errors.total(),
        crashed=crashed,
        missing=max(planned - results - errors.total(), 0),
        common_errors=dict(errors.most_common(_SHOWN_ERRORS)),
        evaluators=[
            scores[alias].measured(alias, name, confidence) for alias, name in evaluators.items()
        ],
        latency=latencies(spans, confidence),
        purses={name: PurseFigures(**vars(one)) for name, one in sorted(purses.items())},
    )


@dataclass
class _Purse:
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0


@dataclass
class _Scores:
    """What one evaluator gave, row by row."""

    scores: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    passed: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    unscored: int = 0
    broken: int = 0

    def add(self, row: int, score: ScoreRecord | ScoreSummary) -> None:
        if score.score is None:
            self.broken += score.broken
            self.unscored += not score.broken
        else:
            self.scores.setdefault(row, []).append(score.score)
        if score.passed is not None:
            self.passed.setdefault(row, []).append(float(score.passed))

    def measured(self, alias: str, name: str, confidence: float) -> EvaluatorFigures:
        return EvaluatorFigures(
            alias=alias,
            name=name,
            scored=_size(self.scores),
            unscored=self.unscored,
            broken=self.broken,
            mean=mean_of_rows(self.scores, confidence),
            judged=_size(self.passed),
            passed=mean_of_rows(self.passed, confidence),
        )


def _spend(purses: dict[str, _Purse], usage: Mapping[str, AnyUsage], *, is_result: bool) -> None:
    for name, used in usage.items():
        purse = purses[name]
        purse.calls += used.calls
        purse.tokens += used.tokens
        purse.cost += used.cost or 0.0
        purse.unpriced += is_result and used.cost is None


def scores_by_row(
    results: Iterable[ResultRecord | ResultSummary], alias: str
) -> dict[int, list[float]]:
    """The scores of an evaluator by row."""
    found: dict[int, list[float]] = {}
    for result in results:
        score = result.scores.get(alias)
        if score is not None and score.score is not None:
            found.setdefault(result.row, []).append(score.score)
    return found


def mean_of_rows(scores: ByRow, confidence: float = figures.CONFIDENCE) -> figures.Estimate:
    """The mean of all scores with its interval; rows are the units that chance has drawn."""
    # Numbers are only needed here: a command that counts nothing does not wait for numpy.
    from greenroom.analysis.intervals import average_reward

    return average_reward(scores, confidence)


def _size(by_row: ByRow) -> int:
    return sum(map(len, by_row.values()))
