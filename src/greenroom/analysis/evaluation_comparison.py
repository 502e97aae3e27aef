"""Which of two evaluations is better, evaluator by evaluator, and whether that can be told.

Each row is compared with itself, and rows are the units. Each evaluator gives a comparison of its
own, and p-values are corrected for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from greenroom.analysis import compared, verdicts
from greenroom.analysis.comparison import EQUAL_WITHIN
from greenroom.analysis.evaluations import mean_of_rows, scores_by_row
from greenroom.analysis.figures import CONFIDENCE
from greenroom.store import ResultRecord, ResultSummary, ScoreRecord, ScoreSummary


@dataclass(frozen=True)
class ComparedEvaluation:
    """An evaluation to be compared: its name in the comparison, its plan and its results."""

    label: str
    results: Sequence[ResultRecord | ResultSummary]
    aliases: Sequence[str]
    planned: int
    average_cost: float | None = None

    def scored(
        self, alias: str
    ) -> Iterator[tuple[ResultRecord | ResultSummary, ScoreRecord | ScoreSummary]]:
        """The results that an evaluator looked at, with what it said."""
        for result in self.results:
            if alias in result.scores:
                yield result, result.scores[alias]

    def verdicts(self, alias: str) -> dict[int, dict[int, bool]]:
        """The verdicts of an evaluator by row and repeat."""
        found: dict[int, dict[int, bool]] = {}
        for result, score in self.scored(alias):
            if score.passed is not None:
                found.setdefault(result.row, {})[result.repeat] = score.passed
        return found

    def reasons(self, alias: str) -> dict[int, str]:
        """Why an evaluator did not pass rows: what it said first of each."""
        found: dict[int, str] = {}
        for result, score in self.scored(alias):
            if score.passed is False:
                found.setdefault(result.row, score.reason)
        return found

    @property
    def answered(self) -> set[int]:
        """The rows with an answer."""
        return {result.row for result in self.results if result.has_result}


def compare_evaluations(
    evaluations: Sequence[ComparedEvaluation],
    *,
    margin: float = EQUAL_WITHIN,
    confidence: float = CONFIDENCE,
) -> compared.EvaluationComparisons:
    """Compare each evaluation with the first one, on the rows that both have a score of."""
    from greenroom.analysis.paired import flipped, holm, paired_figures, paired_trials

    baseline, others = evaluations[0], evaluations[1:]
    common = [(one, alias) for one in others for alias in baseline.aliases if alias in one.aliases]
    found = [
        (paired_figures(then, now, confidence, len(common)), len(then))
        for one, alias in common
        for then, now in [_paired(baseline, one, alias)]
    ]
    adjusted = holm([one.p_value for one, _ in found])
    differences: dict[int, list[compared.EvaluatorDifference]] = {id(one): [] for one in others}
    for (other, alias), (one, rows), p_adjusted in zip(common, found, adjusted, strict=True):
        before, after = baseline.verdicts(alias), other.verdicts(alias)
        broke, healed = other.reasons(alias), baseline.reasons(alias)
        differences[id(other)].append(
            compared.EvaluatorDifference(
                **dict(one),
                alias=alias,
                rows=rows,
                p_adjusted=p_adjusted,
                verdict=verdicts.verdict_of(one, p_adjusted, margin, confidence),
                pairs=paired_trials(before, after),
                flips=[
                    compared.FlippedRow(
                        row=row + 1,
                        direction="broke" if now < then else "healed",
                        baseline_rate=then,
                        rate=now,
                        why=(broke if now < then else healed).get(row, ""),
                    )
                    for row, then, now in flipped(before, after)
                ],
            )
        )
    return compared.EvaluationComparisons(
        confidence=confidence,
        margin=margin,
        evaluations=[_evaluation_side(one, confidence) for one in evaluations],
        comparisons=[
            _evaluation_comparison(baseline, one, differences[id(one)], margin, confidence)
            for one in others
        ],
    )


def _paired(
    baseline: ComparedEvaluation, other: ComparedEvaluation, alias: str
) -> tuple[list[float], list[float]]:
    """The mean scores of the rows in common, before and after."""
    before, after = (scores_by_row(one.results, alias) for one in (baseline, other))
    common = sorted(before.keys() & after.keys())
    then, now = ([fmean(scores[row]) for row in common] for scores in (before, after))
    return then, now


def _evaluation_comparison(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    differences: list[compared.EvaluatorDifference],
    margin: float,
    confidence: float,
) -> compared.EvaluationComparison:
    called = {one.verdict for one in differences}
    verdict: compared.Verdict = "no_difference_shown"
    if called & {"worse", "better"}:
        verdict = "worse" if "worse" in called else "better"
    elif called == {"equivalent"}:
        verdict = "equivalent"
    shown = called & {verdict} or called
    telling = [one for one in differences if one.verdict in shown and one.rows]
    told = "; ".join(
        verdicts.difference_text(one.alias, one, one.p_adjusted, confidence) for one in telling
    )
    return compared.EvaluationComparison(
        label=other.label,
        baseline=baseline.label,
        evaluators=differences,
        only_baseline=len(baseline.answered - other.answered),
        only_run=len(other.answered - baseline.answered),
        verdict=verdict,
        sentence=verdicts.verdict_sentence(other.label, baseline.label, verdict, told, margin)
        if telling
        else f"{other.label} and {baseline.label} have no scores in common to be compared on.",
        cost_difference=verdicts.less(other.average_cost, baseline.average_cost),
    )


def _evaluation_side(one: ComparedEvaluation, confidence: float) -> compared.EvaluationSide:
    answered = sum(result.has_result for result in one.results)
    return compared.EvaluationSide(
        label=one.label,
        rows=len(one.answered),
        results=answered,
        coverage=answered / one.planned if one.planned else 0.0,
        means={
            alias: mean_of_rows(scores_by_row(one.results, alias), confidence)
            for alias in one.aliases
        },
        average_cost=one.average_cost,
    )
