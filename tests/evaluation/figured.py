"""Results and figures that are made up, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from greenroom.analysis.evaluations import EvaluationFigures, measure_results
from greenroom.analysis.gates import GateResult
from greenroom.reports.build_evaluation import evaluation_report
from greenroom.reports.report import (
    EvaluatedRow,
    EvaluationData,
    EvaluationFacts,
    EvaluationReport,
)
from greenroom.store import (
    EvaluationRecord,
    ResultRecord,
    ResultSummary,
    ScoreRecord,
    ScoreSummary,
    Usage,
)

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)


def summary(
    row: int,
    *scores: float | None,
    repeat: int = 0,
    error: str | None = None,
    seconds: float = 0.1,
    cost: float | None = 0.0,
    passed: bool | None = None,
    broken: bool = False,
) -> ResultSummary:
    """A result with the scores of evaluators a, b, c and so on."""
    found = {
        alias: ScoreSummary(
            score, passed if score is None or passed is not None else score >= 0.5, broken
        )
        for alias, score in zip("abcdef", scores, strict=False)
    }
    return ResultSummary(
        row=row,
        repeat=repeat,
        outcome="answered" if error is None else "infrastructure_error",
        seconds=seconds,
        cost=cost,
        usage={"agent": Usage(calls=1, cost=cost)},
        error=error,
        scores=found if error is None else {},
    )


def measured(
    summaries: Sequence[ResultSummary],
    *,
    evaluators: str = "a",
    planned: int | None = None,
    wasted: Sequence[Mapping[str, Usage]] = (),
) -> EvaluationFigures:
    """The figures of results."""
    return measure_results(
        summaries,
        evaluators=dict.fromkeys(evaluators, "exact_match"),
        planned=len(summaries) if planned is None else planned,
        wasted=wasted,
    )


def shares(right: int, wrong: int) -> list[ResultSummary]:
    """So many rows that pass, and so many that do not."""
    return [summary(row, 1.0 if row < right else 0.0) for row in range(right + wrong)]


def evaluation(
    *, aliases: Sequence[str] = ("a",), rows: int = 3, repeats: int = 1, name: str = "demo"
) -> EvaluationRecord:
    return EvaluationRecord(
        id="e1",
        name=name,
        created_at=NOW,
        greenroom_version="0",
        workflow="app.py:demo",
        test_set_id="t1",
        test_set_name="rows",
        test_set_version=1,
        evaluators=[{"name": "exact_match", "alias": alias, "settings": {}} for alias in aliases],
        row_count=rows,
        repeats=repeats,
    )


def reported(
    results: Sequence[ResultRecord] = (),
    *,
    figures: EvaluationFigures | None = None,
    gates: Sequence[GateResult] = (),
    **facts: Any,
) -> EvaluationReport:
    """The report of an evaluation with these results."""
    facts.setdefault(
        "aliases", list(dict.fromkeys(a for one in results for a in one.scores)) or "a"
    )
    record = evaluation(**facts)
    rows = [EvaluatedRow.of(one, {"q": f"question {one.row + 1}"}) for one in results]
    data = EvaluationData(
        evaluation=EvaluationFacts.model_validate(record.model_dump()),
        figures=figures
        or measure_results(
            rows,
            evaluators={str(spec["alias"]): "exact_match" for spec in record.evaluators},
            planned=record.planned,
        ),
        results=rows,
    )
    return evaluation_report(data).model_copy(update={"gates": list(gates)})


def result(
    row: int, error: str | None = None, repeat: int = 0, **scores: ScoreRecord
) -> ResultRecord:
    return ResultRecord(
        row=row,
        repeat=repeat,
        outcome="answered" if error is None else "infrastructure_error",
        outputs="out",
        scores=scores,
        error=error,
        started_at=NOW,
        seconds=0.25,
    )
