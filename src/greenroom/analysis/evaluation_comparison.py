"""Which of two evaluations is better, paired by row, and whether that can be told at all.

How hard a row is cancels out in the difference, so each row is held against itself. Rows are the
units, as they are for intervals. Each evaluator gives a comparison of its own; p-values are
corrected for all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from greenroom.analysis.comparison_figures import PairedTrials, Verdict
from greenroom.analysis.evaluations import mean_of_rows
from greenroom.analysis.figures import Estimate, Figures
from greenroom.analysis.verdicts import difference_text, verdict_of
from greenroom.store import ResultRecord

_GRID = 1_000
"""Mean scores are compared to the third decimal: the exact test needs a common denominator."""


class EvaluationSide(Figures):
    """An evaluation as it stands in a comparison, over all of its own rows."""

    label: str
    rows: int
    results: int
    """Calls with an answer."""
    coverage: float
    """The share of planned calls with an answer."""
    means: dict[str, Estimate]
    """The mean score by evaluator."""
    average_cost: float | None
    """US dollars per answered call; None if a price is not known, or nothing was bought."""


class FlippedRow(Figures):
    """A row that passed mostly before and does not now, or the other way."""

    row: int
    """From 1."""
    direction: str
    """broke or healed."""
    baseline_rate: float
    rate: float
    why: str = ""
    """The evaluator's reason for the verdict that is not a pass."""


class EvaluatorDifference(Figures):
    """What one evaluator says of both."""

    alias: str
    rows: int
    """Rows with a score in both; all figures here are of these."""
    baseline: float
    value: float
    difference: Estimate
    """The evaluation's mean score less the baseline's."""
    p_value: float
    """Of the sign-flip test over rows, before any correction."""
    p_adjusted: float
    """After Holm's correction for all evaluators and comparisons made at once."""
    verdict: Verdict
    pairs: PairedTrials
    """Verdicts on the same row and repeat."""
    flips: list[FlippedRow]


class EvaluationComparison(Figures):
    """One evaluation against the baseline."""

    label: str
    baseline: str
    evaluators: list[EvaluatorDifference]
    only_baseline: int
    """Rows left out because only the baseline has an answer."""
    only_run: int
    """Rows left out because only the evaluation has an answer."""
    verdict: Verdict
    """Worse if any evaluator shows that; else better if any does."""
    sentence: str
    cost_difference: float | None
    """Average cost per call, the evaluation's less the baseline's."""


class EvaluationComparisons(Figures):
    """Evaluations against the first of them."""

    confidence: float
    evaluations: list[EvaluationSide]
    """The baseline first."""
    comparisons: list[EvaluationComparison]
    """One for each further evaluation."""


@dataclass(frozen=True)
class ComparedEvaluation:
    """An evaluation to be compared: its name in the comparison, its plan and its results."""

    label: str
    results: Sequence[ResultRecord]
    aliases: Sequence[str]
    planned: int
    average_cost: float | None = None

    def scores(self, alias: str) -> dict[int, list[float]]:
        """The scores of an evaluator by row."""
        found: dict[int, list[float]] = {}
        for result in self.results:
            score = result.scores.get(alias)
            if score is not None and score.score is not None:
                found.setdefault(result.row, []).append(score.score)
        return found

    def verdicts(self, alias: str) -> dict[int, dict[int, bool]]:
        """The verdicts of an evaluator by row and repeat."""
        found: dict[int, dict[int, bool]] = {}
        for result in self.results:
            score = result.scores.get(alias)
            if score is not None and score.passed is not None:
                found.setdefault(result.row, {})[result.repeat] = score.passed
        return found

    def reason(self, alias: str, row: int) -> str:
        """Why an evaluator did not pass a row."""
        for result in self.results:
            score = result.scores.get(alias)
            if result.row == row and score is not None and score.passed is False:
                return score.reason
        return ""

    @property
    def answered(self) -> set[int]:
        """The rows with an answer."""
        return {result.row for result in self.results if result.has_result}


def compare_evaluations(
    compared: Sequence[ComparedEvaluation], *, confidence: float = 0.95
) -> EvaluationComparisons:
    """Compare each evaluation with the first one, on the rows that both have a score of."""
    from greenroom.analysis.paired import holm

    baseline, others = compared[0], compared[1:]
    found = [
        (other, alias, _Difference.of(baseline, other, alias, confidence))
        for other in others
        for alias in baseline.aliases
        if alias in other.aliases
    ]
    adjusted = holm([one.p_value for _, _, one in found])
    differences = [
        (other, _evaluator_difference(baseline, other, alias, one, p_adjusted, confidence))
        for (other, alias, one), p_adjusted in zip(found, adjusted, strict=True)
    ]
    return EvaluationComparisons(
        confidence=confidence,
        evaluations=[_side(one, confidence) for one in compared],
        comparisons=[
            _comparison(
                baseline, other, [one for whose, one in differences if whose is other], confidence
            )
            for other in others
        ],
    )


@dataclass(frozen=True)
class _Difference:
    rows: int
    baseline: float
    value: float
    difference: Estimate
    p_value: float

    @staticmethod
    def of(
        baseline: ComparedEvaluation, other: ComparedEvaluation, alias: str, confidence: float
    ) -> _Difference:
        from greenroom.analysis.paired import difference_interval, sign_flip_p_value

        before, after = baseline.scores(alias), other.scores(alias)
        common = sorted(before.keys() & after.keys())
        pairs = [(_mean(before[row]), _mean(after[row])) for row in common]
        apart = [Fraction(round((now - then) * _GRID), _GRID) for then, now in pairs]
        return _Difference(
            rows=len(common),
            baseline=_mean([then for then, _ in pairs]),
            value=_mean([now for _, now in pairs]),
            difference=difference_interval(apart, confidence=confidence),
            p_value=sign_flip_p_value(apart),
        )


def _evaluator_difference(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    alias: str,
    found: _Difference,
    p_adjusted: float,
    confidence: float,
) -> EvaluatorDifference:
    from greenroom.analysis.paired import paired_trials

    before, after = baseline.verdicts(alias), other.verdicts(alias)
    return EvaluatorDifference(
        alias=alias,
        rows=found.rows,
        baseline=found.baseline,
        value=found.value,
        difference=found.difference,
        p_value=found.p_value,
        p_adjusted=p_adjusted,
        verdict=verdict_of(found.difference, p_adjusted, confidence),
        pairs=paired_trials(before, after),
        flips=list(_flips(baseline, other, alias, before, after)),
    )


def _flips(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    alias: str,
    before: Mapping[int, Mapping[int, bool]],
    after: Mapping[int, Mapping[int, bool]],
) -> list[FlippedRow]:
    flips: list[FlippedRow] = []
    for row in sorted(before.keys() & after.keys()):
        then, now = (_mean([float(v) for v in one[row].values()]) for one in (before, after))
        if (then - 0.5) * (now - 0.5) < 0:
            broke = now < then
            flips.append(
                FlippedRow(
                    row=row + 1,
                    direction="broke" if broke else "healed",
                    baseline_rate=then,
                    rate=now,
                    why=(other if broke else baseline).reason(alias, row),
                )
            )
    return flips


def _comparison(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    differences: list[EvaluatorDifference],
    confidence: float,
) -> EvaluationComparison:
    verdicts = {one.verdict for one in differences}
    verdict: Verdict = (
        "worse"
        if "worse" in verdicts
        else "better"
        if "better" in verdicts
        else "no_difference_shown"
    )
    before, after = baseline.average_cost, other.average_cost
    return EvaluationComparison(
        label=other.label,
        baseline=baseline.label,
        evaluators=differences,
        only_baseline=len(baseline.answered - other.answered),
        only_run=len(other.answered - baseline.answered),
        verdict=verdict,
        sentence=_sentence(baseline, other, verdict, differences, confidence),
        cost_difference=None if before is None or after is None else after - before,
    )


def _sentence(
    baseline: ComparedEvaluation,
    other: ComparedEvaluation,
    verdict: Verdict,
    differences: Sequence[EvaluatorDifference],
    confidence: float,
) -> str:
    telling = [one for one in differences if one.verdict == verdict and one.rows]
    if not telling:
        return f"{other.label} and {baseline.label} have no scores in common to be compared on."
    figures = "; ".join(
        difference_text(
            one.alias, one.value, one.baseline, one.difference, one.p_adjusted, confidence
        )
        for one in telling
    )
    if verdict != "no_difference_shown":
        return f"{other.label} is {verdict} than {baseline.label}: {figures}."
    return f"No difference shown between {other.label} and {baseline.label}: {figures}."


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


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
