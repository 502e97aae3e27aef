"""What is reported of an evaluation: its figures, its gates, and what did not pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenroom.evaluation.aggregates import EvaluationFigures, measure_evaluation
from greenroom.evaluation.gates import GateResult, check_gates, parse_gates
from greenroom.store import EvaluationRecord, ResultRecord, ResultSummary, Store

SHOWN_FAILURES = 5


@dataclass(frozen=True)
class EvaluationReport:
    """An evaluation with everything that is said of it."""

    evaluation: EvaluationRecord
    figures: EvaluationFigures
    gates: Sequence[GateResult] = ()
    failures: Sequence[ResultRecord] = field(default_factory=list[ResultRecord])
    """The first results that did not pass."""
    failure_count: int = 0
    """How many there are in all."""

    @property
    def holds(self) -> bool:
        """Whether all gates hold."""
        return all(gate.passed for gate in self.gates)


def report_evaluation(
    store: Store,
    evaluation: EvaluationRecord,
    *,
    gates: Sequence[str] | None = None,
    strict: bool | None = None,
    failures: int = SHOWN_FAILURES,
) -> EvaluationReport:
    """The report of an evaluation, finished or not.

    Without `gates` those count that it was begun with. `failures` is how many results to show that
    did not pass.
    """
    kept = store.evaluations
    figures = measure_evaluation(store, evaluation)
    texts = evaluation.config.get("gates", []) if gates is None else gates
    strictly = bool(evaluation.config.get("strict")) if strict is None else strict
    aliases = [one.alias for one in figures.evaluators]
    failed = [
        (summary.row, summary.repeat)
        for summary in kept.summaries(evaluation.id)
        if _did_not_pass(summary)
    ]
    found = [kept.result(evaluation.id, key) for key in failed[:failures]]
    return EvaluationReport(
        evaluation,
        figures,
        check_gates(parse_gates(texts, aliases), figures, strict=strictly),
        [record for record in found if record is not None],
        len(failed),
    )


def report_facts(report: EvaluationReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "evaluation": evaluation_facts(report.evaluation),
        "figures": report.figures.model_dump()
        | {"cost": report.figures.cost, "known_cost": report.figures.known_cost},
        "failures": report.failure_count,
        "gates": [
            {
                "gate": one.gate.text,
                "subject": one.subject,
                "passed": one.passed,
                "value": one.figure.value,
                "low": one.figure.low,
                "high": one.figure.high,
                "reason": one.reason,
            }
            for one in report.gates
        ],
    }


def evaluation_facts(evaluation: EvaluationRecord) -> dict[str, Any]:
    """What was evaluated, as JSON."""
    return evaluation.model_dump(mode="json") | {
        "test_set": f"{evaluation.test_set_name}@{evaluation.test_set_version}",
        "planned": evaluation.planned,
    }


def result_facts(result: ResultRecord) -> dict[str, Any]:
    """A result as JSON for people, who count rows and repeats from 1."""
    return result.model_dump(mode="json") | {"row": result.row + 1, "repeat": result.repeat + 1}


def exported_results(store: Store, evaluation: EvaluationRecord) -> Iterator[dict[str, Any]]:
    """All results as JSON, one after the other, each with the row that it belongs to."""
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    rows = enumerate(store.test_sets.rows(version))
    position, row = -1, dict[str, Any]()
    for result in store.evaluations.results(evaluation.id):
        while position < result.row:
            position, row = next(rows)
        yield {"inputs": row} | result_facts(result)


def _did_not_pass(summary: ResultSummary) -> bool:
    return any(score.passed is False for score in summary.scores.values())
