"""The figures of an evaluation's report, from what is counted of its results."""

from __future__ import annotations

from collections import Counter

from greenroom.analysis.evaluations import measure_results
from greenroom.analysis.gates import check_gates, parse_gates
from greenroom.reports.build import evaluated_rows
from greenroom.reports.build_evaluation import evaluation_report
from greenroom.reports.evaluation_words import unscored_reasons
from greenroom.reports.report import (
    EvaluationData,
    EvaluationFacts,
    EvaluationReport,
    StoredResults,
)
from greenroom.store import EvaluationRecord, ResultFilter, Store, cell_filter

_MOST_REASONS = 500


def build_figures(store: Store, evaluation: EvaluationRecord) -> EvaluationReport:
    """The report without its rows, its failures and the latency of models.

    It is several times quicker than the whole, because no result is read in full.
    """
    counted = list(store.evaluations.summaries(evaluation.id))
    attempts = [attempt.usage for attempt in store.evaluations.attempts(evaluation.id)]
    figures = measure_results(
        counted,
        evaluators={str(one["alias"]): str(one["name"]) for one in evaluation.evaluators},
        planned=evaluation.planned,
        wasted=attempts,
    )
    data = EvaluationData(
        evaluation=EvaluationFacts.model_validate(evaluation.model_dump()),
        figures=figures,
        results=StoredResults(lambda: evaluated_rows(store, evaluation), counted),
        attempts_usage=attempts,
    )
    unscored = {
        one.alias: _why_unscored(store, evaluation, one.alias)
        for one in figures.evaluators
        if one.unscored or one.broken
    }
    report = evaluation_report(data, unscored)
    named = figures.named()
    texts: list[str] = evaluation.config.get("gates") or []
    strict = bool(evaluation.config.get("strict"))
    gates = check_gates(parse_gates(texts, named), named, strict=strict)
    return report.model_copy(update={"gates": gates})


def _why_unscored(store: Store, evaluation: EvaluationRecord, alias: str) -> Counter[str]:
    wanted = cell_filter(store.engine, evaluation, ResultFilter(unscored_by=alias))
    pages = store.evaluations.pages
    return unscored_reasons(pages.records(evaluation.id, limit=_MOST_REASONS, wanted=wanted), alias)
