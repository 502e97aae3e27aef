"""From the store to a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

from greenroom.analysis.counts import counted_episodes
from greenroom.analysis.evaluations import measure_results
from greenroom.analysis.gates import check_gates, parse_gates
from greenroom.errors import InputError, UnknownName
from greenroom.reports.build_evaluation import counted_results, evaluation_report
from greenroom.reports.build_run import run_report
from greenroom.reports.exclusions import of_run, without_tasks
from greenroom.reports.judge_checks import checks_of_evaluators
from greenroom.reports.report import (
    EvaluatedRow,
    EvaluationData,
    EvaluationFacts,
    EvaluationReport,
    RunData,
    RunReport,
    StoredEpisodes,
    StoredResults,
)
from greenroom.reports.run_tally import counted_run
from greenroom.reports.user_audit import audit_rows, audit_run
from greenroom.store import EvaluationRecord, RunRecord, Store, TestSetVersion
from greenroom.store.tallies import Tallies, add_tallies
from greenroom.util.raw_json import plain


class Wanted(TypedDict, total=False):
    """What is wanted of a report."""

    gates: Sequence[str] | None
    """What has to hold; None for what the run or evaluation was begun with."""
    strict: bool | None
    """Gates look at the plain figures; None for what the run or evaluation was begun with."""
    audit: bool
    """Whether the simulated users are audited: every conversation is read."""
    by: Sequence[str]
    """What slices are made by: tag, kind or tool for a run, columns for an evaluation."""
    without: Sequence[int | str]
    """Tasks of a run to leave out: places, or files that name some."""


@overload
def build_report(store: Store, job: RunRecord, **wanted: Unpack[Wanted]) -> RunReport: ...
@overload
def build_report(
    store: Store, job: EvaluationRecord, **wanted: Unpack[Wanted]
) -> EvaluationReport: ...
def build_report(
    store: Store, job: RunRecord | EvaluationRecord, **wanted: Unpack[Wanted]
) -> RunReport | EvaluationReport:
    """The report of a run or an evaluation, finished or not."""
    gates, strict, by = wanted.get("gates"), wanted.get("strict"), wanted.get("by", ())
    without = wanted.get("without", ())
    if isinstance(job, RunRecord):
        job = without_tasks(job, without)
        data = counted_run(counted_episodes(store, job.id), job).data(store, job, by)
        if wanted.get("audit"):
            data = data.model_copy(update={"user_audit": audit_run(store, job)})
    else:
        _refuse_tasks(without)
        data = _evaluation_data(store, job, by)
        if wanted.get("audit"):
            audit = audit_rows(evaluated_rows(store, job), job.config.get("user_persona"))
            data = data.model_copy(update={"user_audit": audit})
    return report_of(data, gates=gates, strict=strict)


@overload
def report_of(
    data: RunData, *, gates: Sequence[str] | None = None, strict: bool | None = None
) -> RunReport: ...
@overload
def report_of(
    data: EvaluationData, *, gates: Sequence[str] | None = None, strict: bool | None = None
) -> EvaluationReport: ...
def report_of(
    data: RunData | EvaluationData,
    *,
    gates: Sequence[str] | None = None,
    strict: bool | None = None,
) -> RunReport | EvaluationReport:
    """The report from everything that is known of a run or an evaluation; see `Wanted`."""
    if isinstance(data, RunData):
        job, report, figures = data.run, run_report(data), data.metrics.named()
    else:
        job, report, figures = data.evaluation, evaluation_report(data), data.figures.named()
    texts: Sequence[str] = job.config.get("gates") or [] if gates is None else gates
    strictly = bool(job.config.get("strict")) if strict is None else strict
    results = check_gates(parse_gates(texts, figures), figures, strict=strictly)
    return report.model_copy(update={"gates": results}) if results else report


def records_report(
    store: Store, job: RunRecord | EvaluationRecord, without: Sequence[int | str] = ()
) -> RunReport | EvaluationReport:
    """Only the records, for forms that hold nothing else: nothing is measured."""
    if isinstance(job, RunRecord):
        run = without_tasks(job, without)
        episodes = StoredEpisodes(lambda: of_run(run, store.runs.results(run.id)))
        return RunReport.model_construct(run=run, name=run.name, episodes=episodes, gates=[])
    _refuse_tasks(without)
    results = StoredResults(lambda: evaluated_rows(store, job))
    return EvaluationReport.model_construct(name=job.name, results=results, gates=[])


def _refuse_tasks(without: Sequence[int | str]) -> None:
    if without:
        raise InputError("Evaluations have rows, not tasks: --exclude-tasks is for runs.")


def _evaluation_data(
    store: Store, evaluation: EvaluationRecord, by: Sequence[str]
) -> EvaluationData:
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    check_columns(version, by)
    attempts = [attempt.usage for attempt in store.evaluations.attempts(evaluation.id)]
    results = counted_results(lambda: evaluated_rows(store, evaluation), evaluation, by)
    return EvaluationData(
        evaluation=EvaluationFacts.model_validate(evaluation.model_dump()),
        figures=measure_results(
            results.counted,
            evaluators={str(one["alias"]): str(one["name"]) for one in evaluation.evaluators},
            planned=evaluation.planned,
            wasted=attempts,
        ),
        results=results,
        attempts_usage=attempts,
        by=list(by),
        user_tallies=_summed(one.user_tallies for one in results.counted),
        judges=checks_of_evaluators(store, evaluation),
    )


def _summed(told: Iterable[Mapping[str, Mapping[str, float | None]]]) -> Tallies:
    sums: Tallies = {}
    for tallies in told:
        add_tallies(sums, tallies)
    return sums


def check_columns(version: TestSetVersion, names: Iterable[str]) -> None:
    """Raise UnknownName for names that are not columns of the test set."""
    columns = [column.name for column in version.columns]
    for name in names:
        if name not in columns:
            raise UnknownName("column", name, columns)


def evaluated_rows(store: Store, evaluation: EvaluationRecord) -> Iterator[EvaluatedRow]:
    """All results of an evaluation one after the other, each with its row of the test set."""
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    rows = enumerate(store.test_sets.rows(version))
    position, row = -1, dict[str, Any]()
    for result in store.evaluations.results(evaluation.id):
        while position < result.row:
            position, found = next(rows)
            row = plain(found)  # no form of a report takes half of a surrogate pair as a key
        yield EvaluatedRow.of(result, row)
