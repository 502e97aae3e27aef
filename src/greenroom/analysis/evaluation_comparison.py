"""Which of two evaluations is better, paired by row, and whether that can be told at all.

How hard a row is cancels out in the difference, so each row is held against itself. Rows are the
units, as they are for intervals. Each evaluator gives a comparison of its own; p-values are
corrected for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from greenroom.analysis.comparison_figures import (
    EvaluationComparison,
    EvaluationComparisons,
    EvaluationSide,
    EvaluatorDifference,
    FlippedRow,
    Verdict,
)
from greenroom.analysis.evaluations import mean_of_rows
from greenroom.analysis.figures import Resampling
from greenroom.analysis.verdicts import difference_text, less, verdict_of, verdict_sentence
from greenroom.store import ResultRecord, ScoreRecord

_GRID = 1_000
"""Mean scores are compared to the third decimal: the exact test needs a common denominator."""


@dataclass(frozen=True)
class ComparedEvaluation:
    """An evaluation to be compared: its name in the comparison, its plan and its results."""

    label: str
    results: Sequence[ResultRecord]
    aliases: Sequence[str]
    planned: int
    average_cost: float | None = None

    def scored(self, alias: str) -> Iterator[tuple[ResultRecord, ScoreRecord]]:
        """The results that an evaluator looked at, with what it said."""
        for result in self.results:
            if alias in result.scores:
                yield result, result.scores[alias]

    def scores(self, alias: str) -> dict[int, list[float]]:
        """The scores of an evaluator by row."""
        found: dict[int, list[float]] = {}
        for result, score in self.scored(alias):
            if score.score is not None:
                found.setdefault(result.row, []).append(score.score)
        return found

    def verdicts(self, alias: str) -> dict[int, dict[int, bool]]:
        """The verdicts of an evaluator by row and repeat."""
        found: dict[int, dict[int, bool]] = {}
        for result, score in self.scored(alias):
            if score.passed is not None:
                found.setdefault(result.row, {})[result.repeat] = score.passed
        return found

    def reason(self, alias: str, row: int) -> str:
        """Why an evaluator did not pass a row."""
        failed = (s.reason for r, s in self.scored(alias) if r.row == row and s.passed is False)
        return next(failed, "")

    @property
    def answered(self) -> set[int]:
        """The rows with an answer."""
        return {result.row for result in self.results if result.has_result}


def compare_evaluations(
    compared: Sequence[ComparedEvaluation], *, confidence: float = 0.95
) -> EvaluationComparisons:
    """Compare each evaluation with the first one, on the rows that both have a score of."""
    from greenroom.analysis.paired import flipped, holm, paired_figures, paired_trials

    baseline, others = compared[0], compared[1:]
    common = [(one, alias) for one in others for alias in baseline.aliases if alias in one.aliases]
    found = [
        paired_figures(*_paired(baseline, one, alias), Resampling(confidence))
        for one, alias in common
    ]
    adjusted = holm([one.p_value for _, one in found])
    differences: dict[int, list[EvaluatorDifference]] = {id(one): [] for one in others}
    for (other, alias), (rows, one), p_adjusted in zip(common, found, adjusted, strict=True):
        before, after = baseline.verdicts(alias), other.verdicts(alias)
        differences[id(other)].append(
            EvaluatorDifference(
                **dict(one),
                alias=alias,
                rows=rows,
                p_adjusted=p_adjusted,
                verdict=verdict_of(one.difference, p_adjusted, confidence),
                pairs=paired_trials(before, after),
                flips=[
                    FlippedRow(
                        row=row + 1,
                        direction="broke" if now < then else "healed",
                        baseline_rate=then,
                        rate=now,
                        why=(other if now < then else baseline).reason(alias, row),
                    )
                    for row, then, now in flipped(before, after)
                ],
            )
        )
    return EvaluationComparisons(
        confidence=confidence,
        evaluations=[_side(one, confidence) for one in compared],
        comparisons=[
            _comparison(baseline, one, differences[id(one)], confidence) for one in others
        ],
    )


def _paired(
    baseline: ComparedEvaluation, other: ComparedEvaluation, alias: str
) -> tuple[list[float], list[float], list[Fraction]]:
    """The mean scores of the rows in common, before and after, and how far they lie apart."""
    before, after = baseline.scores(alias), other.scores(alias)
    common = sorted(before.keys() & after.keys())
    then, now = ([fmean(scores[row]) for row in common] for scores in (before, after))
    apart = [round((new - old) * _GRID) for old, new in zip(then, now, strict=True)]
    return then, now, [Fraction(one, _GRID) for one in apart]


def _comparison(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    differences: list[EvaluatorDifference],
    confidence: float,
) -> EvaluationComparison:
    verdicts = {one.verdict for one in differences}
    verdict: Verdict = "no_difference_shown"
    if verdicts & {"worse", "better"}:
        verdict = "worse" if "worse" in verdicts else "better"
    telling = [one for one in differences if one.verdict == verdict and one.rows]
    figures = "; ".join(
        difference_text(one.alias, one, one.p_adjusted, confidence) for one in telling
    )
    return EvaluationComparison(
        label=other.label,
        baseline=baseline.label,
        evaluators=differences,
        only_baseline=len(baseline.answered - other.answered),
        only_run=len(other.answered - baseline.answered),
        verdict=verdict,
        sentence=verdict_sentence(other.label, baseline.label, verdict, figures)
        if telling
        else f"{other.label} and {baseline.label} have no scores in common to be compared on.",
        cost_difference=less(other.average_cost, baseline.average_cost),
    )


def _side(one: ComparedEvaluation, confidence: float) -> EvaluationSide:
    answered = sum(result.has_result for result in one.results)
    return EvaluationSide(
        label=one.label,
        rows=len(one.answered),
        results=answered,
        coverage=answered / one.planned if one.planned else 0.0,
        means={alias: mean_of_rows(one.scores(alias), confidence) for alias in one.aliases},
        average_cost=one.average_cost,
    )
