"""Two evaluations row by row: what broke, what healed, what stayed the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from greenroom.analysis.compared import EvaluationComparison
from greenroom.playground.evaluation_models import Change, ComparedRow, EvaluatorChange, ScoreChange
from greenroom.playground.evaluation_views import result_item
from greenroom.reports import ComparisonReport, compare_stored
from greenroom.reports.evaluation_words import question_of
from greenroom.reports.texts import percent
from greenroom.store import EvaluationRecord, ResultRecord, Store, evaluated_rows
from greenroom.util.json_values import cleaned

SHOWN_REPEATS = 3
"""So many repeats of a row stand side by side."""


@dataclass(frozen=True)
class RowComparison:
    """What a comparison of two evaluations says of each row."""

    report: ComparisonReport
    flips: dict[int, list[EvaluatorChange]]
    """By row, from 0: only those with a change."""
    scores: dict[int, list[ScoreChange]]
    """By row: only those that changed."""
    common: Sequence[int]
    """The rows that both have an answer of."""
    left_out: int

    @property
    def compared(self) -> EvaluationComparison:
        """The one comparison of the report."""
        found = self.report.comparisons[0]
        assert isinstance(found, EvaluationComparison)
        return found

    def change_of(self, row: int) -> Change:
        """What became of a row: one evaluator that no longer passes it is enough to break it."""
        changes = {one.change for one in self.flips.get(row, ())}
        return "broke" if "broke" in changes else "healed" if changes else "same"

    @cached_property
    def by_change(self) -> dict[Change, list[int]]:
        """The rows by what became of them."""
        found: dict[Change, list[int]] = {"broke": [], "healed": [], "same": []}
        for row in self.common:
            found[self.change_of(row)].append(row)
        return found

    def rows(self, change: Change | None, after: int | None, limit: int) -> Sequence[int]:
        """Some rows, by position."""
        wanted = self.common if change is None else self.by_change[change]
        start = 0 if after is None else bisect_right(wanted, after)
        return wanted[start : start + limit]


def compare_rows(store: Store, before: EvaluationRecord, now: EvaluationRecord) -> RowComparison:
    """Compare two evaluations; an InputError says why if they cannot be paired."""
    report = compare_stored(store, [before, now], reasons=False)
    answered = [{row for row, _ in store.evaluations.finished(one.id)} for one in (before, now)]
    found = RowComparison(
        # Its flips have a list of their own.
        report=report.model_copy(
            update={"sections": [one for one in report.sections if not one.id.startswith("flips")]}
        ),
        flips={},
        scores=_score_changes(store, before, now),
        common=sorted(answered[0] & answered[1]),
        left_out=len(answered[0] ^ answered[1]),
    )
    for evaluator in found.compared.evaluators:
        for flip in evaluator.flips:
            found.flips.setdefault(flip.row - 1, []).append(
                EvaluatorChange(
                    alias=evaluator.alias,
                    change="broke" if flip.direction == "broke" else "healed",
                    before=percent(flip.baseline_rate),
                    now=percent(flip.rate),
                )
            )
    return found


def _score_changes(
    store: Store, before: EvaluationRecord, now: EvaluationRecord
) -> dict[int, list[ScoreChange]]:
    """The mean scores of rows that changed, of the evaluators that both have."""
    means = [_mean_scores(store, one) for one in (before, now)]
    found: dict[int, list[ScoreChange]] = {}
    for row, alias in sorted(means[0].keys() & means[1].keys()):
        old, new = (side[row, alias] for side in means)
        if old != new:
            found.setdefault(row, []).append(ScoreChange(alias=alias, before=old, now=new))
    return found


def _mean_scores(store: Store, evaluation: EvaluationRecord) -> dict[tuple[int, str], float | None]:
    """By row and evaluator; null where an evaluator gave none."""
    scores: dict[tuple[int, str], list[float]] = {}
    for result in store.evaluations.summaries(evaluation.id):
        for alias, one in result.scores.items():
            listed = scores.setdefault((result.row, alias), [])
            if one.score is not None:
                listed.append(one.score)
    return {key: fmean(listed) if listed else None for key, listed in scores.items()}


def compared_rows(
    store: Store,
    pair: tuple[EvaluationRecord, EvaluationRecord],
    comparison: RowComparison,
    rows: Sequence[int],
) -> list[ComparedRow]:
    """Rows with the results of both evaluations."""
    contents = evaluated_rows(store.engine, pair[0], rows)
    sides = [_results(store, one, rows) for one in pair]
    return [
        ComparedRow(
            item=row,
            label=f"row {row + 1}",
            question=cleaned(question_of(contents[row], pair[0])),
            change=comparison.change_of(row),
            evaluators=comparison.flips.get(row, []),
            scores=comparison.scores.get(row, []),
            before=[result_item(pair[0], one, contents[row]) for one in sides[0].get(row, ())],
            now=[result_item(pair[1], one, contents[row]) for one in sides[1].get(row, ())],
        )
        for row in rows
    ]


def _results(
    store: Store, evaluation: EvaluationRecord, rows: Sequence[int]
) -> dict[int, list[ResultRecord]]:
    repeats = range(min(SHOWN_REPEATS, evaluation.repeats))
    keys = [(row, repeat) for row in rows for repeat in repeats]
    found: dict[int, list[ResultRecord]] = {}
    for record in store.evaluations.pages.records_of(evaluation.id, keys).values():
        found.setdefault(record.row, []).append(record)
    return found
