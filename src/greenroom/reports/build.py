"""From the store to a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from greenroom.analysis.errors import break_down
from greenroom.analysis.evaluations import measure_results
from greenroom.analysis.figures import Estimate
from greenroom.analysis.gates import GateResult, check_gates, parse_gates
from greenroom.analysis.metrics import measure_run
from greenroom.analysis.slices import slice_run
from greenroom.analysis.tally import usage_by_purse
from greenroom.errors import UnknownName
from greenroom.reports.build_evaluation import evaluation_report
from greenroom.reports.build_run import run_report
from greenroom.reports.leaderboard import published_rows
from greenroom.reports.report import (
    EvaluatedRow,
    EvaluationData,
    EvaluationFacts,
    EvaluationReport,
    RunData,
    RunReport,
)
from greenroom.reports.sections import Report
from greenroom.store import EpisodeRecord, EvaluationRecord, RunRecord, Store
from greenroom.store.records import total_cost

ReportT = TypeVar("ReportT", bound=Report)


@overload
def build_report(
    store: Store,
    job: RunRecord,
    *,
    gates: Sequence[str] | None = None,
    strict: bool | None = None,
    by: Sequence[str] = (),
) -> RunReport: ...
@overload
def build_report(
    store: Store,
    job: EvaluationRecord,
    *,
    gates: Sequence[str] | None = None,
    strict: bool | None = None,
    by: Sequence[str] = (),
) -> EvaluationReport: ...
def build_report(
    store: Store,
    job: RunRecord | EvaluationRecord,
    *,
    gates: Sequence[str] | None = None,
    strict: bool | None = None,
    by: Sequence[str] = (),
) -> RunReport | EvaluationReport:
    """The report of a run or an evaluation, finished or not.

    Without `gates` and `strict` those count that it was begun with. `by` names what slices are made
    by: tag, kind or tool for a run, columns of the test set for an evaluation.
    """
    wanted: Sequence[str] = job.config.get("gates") or [] if gates is None else gates
    strictly = bool(job.config.get("strict")) if strict is None else strict
    if isinstance(job, RunRecord):
        report = run_report(_run_data(store, job, by))
        return _gated(report, wanted, report.metrics.named(), strict=strictly)
    report = evaluation_report(_evaluation_data(store, job, by))
    return _gated(report, wanted, report.figures.named(), strict=strictly)


def _gated(
    report: ReportT, texts: Sequence[str], figures: Mapping[str, Estimate], *, strict: bool
) -> ReportT:
    results: list[GateResult] = check_gates(parse_gates(texts, figures), figures, strict=strict)
    return report.model_copy(update={"gates": results}) if results else report


def _run_data(store: Store, run: RunRecord, by: Sequence[str]) -> RunData:
    episodes = list(store.runs.results(run.id))
    attempts = store.runs.attempts(run.id)
    wasted = usage_by_purse(attempt.usage for attempt in attempts)
    return RunData(
        run=run,
        metrics=measure_run(
            episodes,
            task_indices=run.task_indices,
            num_trials=run.num_trials,
            over=run.status != "running",
        ),
        errors=break_down(episodes),
        published=published_rows(run),
        episodes=episodes,
        attempts=len(attempts),
        attempts_cost=total_cost(wasted.values()),
        attempts_usage=wasted,
        agent_facts=_facts(episodes),
        agent_tallies=_tallies(episodes),
        slices={one: slice_run(episodes, one) for one in by},
    )


def _evaluation_data(
    store: Store, evaluation: EvaluationRecord, by: Sequence[str]
) -> EvaluationData:
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    columns = [column.name for column in version.columns]
    for column in by:
        if column not in columns:
            raise UnknownName("column", column, columns)
    attempts = [attempt.usage for attempt in store.evaluations.attempts(evaluation.id)]
    results = list(evaluated_rows(store, evaluation))
    return EvaluationData(
        evaluation=EvaluationFacts.model_validate(evaluation.model_dump()),
        figures=measure_results(
            results,
            evaluators={str(one["alias"]): str(one["name"]) for one in evaluation.evaluators},
            planned=evaluation.planned,
            wasted=attempts,
        ),
        results=results,
        attempts_usage=attempts,
        by=list(by),
    )


def evaluated_rows(store: Store, evaluation: EvaluationRecord) -> Iterator[EvaluatedRow]:
    """All results of an evaluation one after the other, each with its row of the test set."""
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    rows = enumerate(store.test_sets.rows(version))
    position, row = -1, dict[str, Any]()
    for result in store.evaluations.results(evaluation.id):
        while position < result.row:
            position, row = next(rows)
        yield EvaluatedRow.of(result, row)


def _facts(episodes: Iterable[EpisodeRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for episode in episodes:
        for label, value in episode.facts.items():
            values = found.setdefault(label, [])
            if value not in values:
                values.append(value)
    return found


def _tallies(episodes: Iterable[EpisodeRecord]) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for episode in episodes:
        for title, counts in episode.tallies.items():
            sums = found.setdefault(title, {})
            for label, count in counts.items():
                so_far = sums.get(label, 0.0)
                # A count that is unknown once is unknown in all.
                sums[label] = None if count is None or so_far is None else so_far + count
    return {title: sums for title, sums in found.items() if sums}
