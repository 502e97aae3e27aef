"""From the store to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypedDict, Unpack, overload

from greenroom.analysis.errors import break_down
from greenroom.analysis.evaluations import measure_results
from greenroom.analysis.gates import check_gates, parse_gates
from greenroom.analysis.metrics import RepeatTally, measure_run
from greenroom.analysis.slices import slice_run
from greenroom.analysis.tally import usage_by_purse
from greenroom.analysis.tools import ToolTally
from greenroom.errors import UnknownName
from greenroom.reports import shared_sections as shared
from greenroom.reports.build_evaluation import counted_results, evaluation_report
from greenroom.reports.build_run import run_report
from greenroom.reports.leaderboard import published_rows
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
from greenroom.store import EpisodeRecord, EvaluationRecord, RunRecord, Store, TestSetVersion
from greenroom.store.records import EpisodeSummary, total_cost
from greenroom.util.raw_json import plain


class Wanted(TypedDict, total=False):
    """What is wanted of a report."""

    gates: Sequence[str] | None
    """What has to hold; None for what the run or evaluation was begun with."""
    strict: bool | None
    """Gates look at the plain figures; None for what the run or evaluation was begun with."""
    by: Sequence[str]
    """What slices are made by: tag, kind or tool for a run, columns for an evaluation."""


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
    gates, strict = wanted.get("gates"), wanted.get("strict")
    texts: Sequence[str] = job.config.get("gates") or [] if gates is None else gates
    by = wanted.get("by", ())
    if isinstance(job, RunRecord):
        report = run_report(_run_data(store, job, by))
        figures = report.metrics.named()
    else:
        report = evaluation_report(_evaluation_data(store, job, by))
        figures = report.figures.named()
    strictly = bool(job.config.get("strict")) if strict is None else strict
    results = check_gates(parse_gates(texts, figures), figures, strict=strictly)
    return report.model_copy(update={"gates": results}) if results else report


def records_report(store: Store, job: RunRecord | EvaluationRecord) -> RunReport | EvaluationReport:
    """Only the records, for forms that hold nothing else: nothing is measured."""
    if isinstance(job, RunRecord):
        episodes = StoredEpisodes(lambda: store.runs.results(job.id))
        return RunReport.model_construct(run=job, name=job.name, episodes=episodes, gates=[])
    results = StoredResults(lambda: evaluated_rows(store, job))
    return EvaluationReport.model_construct(name=job.name, results=results, gates=[])


def _run_data(store: Store, run: RunRecord, by: Sequence[str]) -> RunData:
    counted: list[EpisodeSummary] = []
    tools, repeats, crashes = ToolTally(), RepeatTally(), Counter[str]()
    facts: dict[tuple[str, str], None] = {}
    tallies: dict[str, dict[str, float | None]] = {}

    def counting() -> Iterator[EpisodeRecord]:
        # One pass over the records: what is kept of each is small.
        for episode in store.runs.results(run.id):
            counted.append(EpisodeSummary.of(episode))
            tools.add(episode)
            repeats.add(episode)
            crashes.update([episode.error or "unknown"] if episode.outcome == "crashed" else [])
            facts.update(dict.fromkeys(episode.facts.items()))
            _add_tallies(tallies, episode)
            yield episode

    errors = break_down(counting(), shared.MOST_FAILURES)
    episodes = StoredEpisodes(lambda: store.runs.results(run.id), counted, tools.figures())
    attempts = store.runs.attempts(run.id)
    wasted = usage_by_purse(attempt.usage for attempt in attempts)
    return RunData(
        run=run,
        metrics=measure_run(
            counted,
            task_indices=run.task_indices,
            num_trials=run.num_trials,
            over=run.status != "running",
            asks_no_model=run.reads_script,
        ),
        errors=errors,
        published=published_rows(run),
        episodes=episodes,
        identical_tasks=repeats.identical_tasks,
        crashes=crashes,
        attempts=len(attempts),
        attempts_cost=total_cost(wasted.values()),
        attempts_usage=wasted,
        agent_facts=_by_label(facts),
        agent_tallies={title: sums for title, sums in tallies.items() if sums},
        slices={one: slice_run(episodes, one) for one in by},
    )


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
    )


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


def _by_label(facts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label, value in facts:
        found.setdefault(label, []).append(value)
    return found


def _add_tallies(found: dict[str, dict[str, float | None]], episode: EpisodeRecord) -> None:
    for title, counts in episode.tallies.items():
        sums = found.setdefault(title, {})
        for label, count in counts.items():
            so_far = sums.get(label, 0.0)
            # A count that is unknown once is unknown in all.
            sums[label] = None if count is None or so_far is None else so_far + count
