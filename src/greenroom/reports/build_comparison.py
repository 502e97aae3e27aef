"""Comparisons of runs and of evaluations: read from the store, and their sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.comparison_figures import (
    Comparison,
    PairedTrials,
    RunComparison,
    RunSide,
)
from greenroom.analysis.errors import diagnose
from greenroom.analysis.evaluation_comparison import (
    ComparedEvaluation,
    EvaluationComparison,
    compare_evaluations,
)
from greenroom.analysis.figures import ErrorConvention
from greenroom.analysis.verdicts import p_text
from greenroom.errors import InputError
from greenroom.reports.report import ComparisonReport
from greenroom.reports.sections import (
    AnySection,
    Cell,
    Chart,
    Facts,
    Point,
    Row,
    Series,
    Table,
)
from greenroom.reports.shared_sections import col, estimate_points, facts_of, interval_cell
from greenroom.reports.texts import known, money, percent, plural
from greenroom.store import EvaluationRecord, RunRecord, Store
from greenroom.store.records import total_cost

_SHOWN_FLIPS = 10
_MOST_KS = 4


def compare_stored(
    store: Store,
    jobs: Sequence[RunRecord] | Sequence[EvaluationRecord],
    *,
    convention: ErrorConvention = "errors_excluded",
) -> ComparisonReport:
    """Compare stored runs, or stored evaluations, with the first of them.

    Raises an InputError if they are not of the same tasks or rows.
    """
    _check_same_set(store, jobs)
    runs = [job for job in jobs if isinstance(job, RunRecord)]
    evaluations = [job for job in jobs if isinstance(job, EvaluationRecord)]
    if evaluations:
        return _evaluations_report(store, evaluations)
    compared = [_compared_run(store, run) for run in runs]
    comparison = compare_runs(compared, convention=convention)
    other: ErrorConvention = (
        "errors_as_failures" if convention == "errors_excluded" else "errors_excluded"
    )
    report = ComparisonReport(
        name=" and ".join(run.name for run in runs),
        headline=" ".join(one.sentence for one in comparison.comparisons),
        notes=list(_coverage_notes(comparison, lambda: compare_runs(compared, convention=other))),
        confidence=comparison.confidence,
        convention=comparison.convention,
        runs=comparison.runs,
        comparisons=comparison.comparisons,
    )
    return _with_sections(report, runs)


def _check_same_set(store: Store, jobs: Sequence[RunRecord | EvaluationRecord]) -> None:
    """Refuse what was not played or evaluated on the same tasks or rows."""
    marks = [_set_of(store, job) for job in jobs]
    for job, (mark, words) in zip(jobs[1:], marks[1:], strict=True):
        if mark != marks[0][0]:
            raise InputError(
                f"'{jobs[0].name}' was {marks[0][1]}, '{job.name}' {words}: their "
                f"{'tasks' if 'played' in words else 'rows'} cannot be paired."
            )


def _set_of(store: Store, job: RunRecord | EvaluationRecord) -> tuple[str, str]:
    """What tells a set of tasks or rows from others, and the same in words."""
    if isinstance(job, RunRecord):
        place = f"{job.env} {job.task_split} of {job.pack['name']} {job.pack['version']}"
        return place, f"played on {place}"
    version = store.test_sets.find(job.test_set_id, job.test_set_version)
    return version.content_hash, f"evaluated on {version}"


def _compared_run(store: Store, run: RunRecord) -> ComparedRun:
    reasons: dict[int, str] = {}
    episodes = list(store.runs.results(run.id))
    for episode in episodes:
        diagnosis = diagnose(episode)
        if diagnosis is not None:
            reasons.setdefault(episode.task_index, diagnosis.explanation)
    return ComparedRun(
        label=run.name,
        episodes=episodes,
        task_indices=run.task_indices,
        num_trials=run.num_trials,
        over=run.status != "running",
        reasons=reasons,
    )


def _coverage_notes(comparison: Comparison, otherwise: Callable[[], Comparison]) -> Iterator[str]:
    """What episodes without a result mean for the verdicts."""
    lacking = [side for side in comparison.runs if side.coverage < 1]
    for side in lacking:
        yield f"Only {percent(side.coverage)} of what was planned counts in {side.label}."
    if lacking:
        excluded = comparison.convention == "errors_excluded"
        how = "counted as failures" if excluded else "left out"
        for one, other in zip(comparison.comparisons, otherwise().comparisons, strict=True):
            if one.verdict != other.verdict:
                yield f"With episodes without a result {how}: {other.sentence}"


def _evaluations_report(store: Store, evaluations: list[EvaluationRecord]) -> ComparisonReport:
    compared = [_compared_evaluation(store, one) for one in evaluations]
    found = compare_evaluations(compared)
    notes = [
        f"Only {percent(side.coverage)} of the planned calls were answered in {side.label}."
        for side in found.evaluations
        if side.coverage < 1
    ]
    report = ComparisonReport(
        name=" and ".join(one.name for one in evaluations),
        headline=" ".join(one.sentence for one in found.comparisons),
        notes=notes,
        confidence=found.confidence,
        evaluations=found.evaluations,
        comparisons=found.comparisons,
    )
    return _with_sections(report, evaluations)


def _compared_evaluation(store: Store, evaluation: EvaluationRecord) -> ComparedEvaluation:
    results = list(store.evaluations.results(evaluation.id))
    answered = [one for one in results if one.has_result]
    cost = total_cost(usage for one in answered for usage in one.usage.values())
    return ComparedEvaluation(
        label=evaluation.name,
        results=results,
        aliases=[str(spec["alias"]) for spec in evaluation.evaluators],
        planned=evaluation.planned,
        average_cost=None if cost is None else cost / len(answered),
    )


def _with_sections(
    report: ComparisonReport, jobs: Sequence[RunRecord | EvaluationRecord]
) -> ComparisonReport:
    sections = [section for build in SECTIONS for section in build(report)]
    return report.model_copy(update={"sections": [*sections, _provenance(jobs)]})


# Sections


def sides(report: ComparisonReport) -> Iterator[AnySection]:
    """What is compared, each over all of its own tasks or rows."""
    ks = sorted({k for side in report.runs for k in side.pass_hat_k if k <= _MOST_KS})
    aliases = list(dict.fromkeys(alias for side in report.evaluations for alias in side.means))
    names = [f"pass^{k}" for k in ks] or aliases
    estimates = [[side.pass_hat_k.get(k) for k in ks] for side in report.runs] or [
        [side.means.get(alias) for alias in aliases] for side in report.evaluations
    ]
    both = report.runs or report.evaluations
    costs = any(side.average_cost is not None for side in both)
    rows: list[Row] = []
    for side, found in zip(both, estimates, strict=True):
        counted = (
            (side.tasks, side.episodes) if isinstance(side, RunSide) else (side.rows, side.results)
        )
        cells: list[Cell] = [side.label, *counted, known(side.coverage)]
        for estimate in found:
            cells += [known(estimate.value), interval_cell(estimate)] if estimate else [None, None]
        if costs:
            cells.append("unknown" if side.average_cost is None else side.average_cost)
        rows.append(Row(cells=cells))
    of_runs = bool(report.runs)
    yield Table(
        id="sides",
        title="Runs" if of_runs else "Evaluations",
        columns=[
            col("Run" if of_runs else "Evaluation"),
            col("Tasks" if of_runs else "Rows", "count"),
            col("Episodes" if of_runs else "Answers", "count"),
            col("Coverage", "percent"),
            *(
                column
                for name in names
                for column in (
                    col(name, "decimal"),
                    col("Interval", "decimal", 2, interval=True, wide=True),
                )
            ),
            *([col("Cost each", "money")] if costs else []),
        ],
        rows=rows,
    )


def differences(report: ComparisonReport) -> Iterator[AnySection]:
    """How far the figures lie apart over what both have, and how sure that is."""
    rows: list[Row] = []
    for one in report.comparisons:
        found = (
            [(f"pass^{k}", d, d.tasks, d.p_value) for k, d in one.differences.items()]
            if isinstance(one, RunComparison)
            else [(d.alias, d, d.rows, d.p_value) for d in one.evaluators]
        )
        rows += [
            Row(
                cells=[
                    one.label,
                    name,
                    n,
                    known(d.baseline),
                    known(d.value),
                    known(d.difference.value),
                    interval_cell(d.difference),
                    p_text(p_value),
                ]
            )
            for name, d, n, p_value in found
        ]
    yield Table(
        id="differences",
        title=f"Against {report.comparisons[0].baseline}",
        columns=[
            col(""),
            col("Figure"),
            col("Tasks" if report.runs else "Rows", "count"),
            col("Before", "decimal"),
            col("Now", "decimal"),
            col("Difference", "signed"),
            col("Interval", "signed", 2, interval=True),
            col("p", "decimal"),
        ],
        rows=rows,
        notes=list(_difference_notes(report)),
    )


def _difference_notes(report: ComparisonReport) -> Iterator[str]:
    yield f"Intervals hold with {percent(report.confidence)} confidence."
    for one in report.comparisons:
        if isinstance(one, RunComparison):
            yield _pairs("trials", "solved", one, one.trials)
            left_out = one.left_out
        else:
            for evaluator in one.evaluators:
                if evaluator.pairs.both or evaluator.pairs.neither or evaluator.flips:
                    passed = f"passed by {evaluator.alias}"
                    yield _pairs("verdicts", passed, one, evaluator.pairs)
            left_out = one.only_baseline + one.only_run
        if left_out:
            noun = plural(left_out, "task" if report.runs else "row")
            yield f"{noun} could not be compared: only one of the two has results there."
        if one.cost_difference is not None:
            sign = "-" if one.cost_difference < 0 else "+"
            what = "episode" if report.runs else "call"
            yield f"{one.label}: {sign}{money(abs(one.cost_difference))} per {what}."


def _pairs(
    noun: str, verb: str, one: RunComparison | EvaluationComparison, pairs: PairedTrials
) -> str:
    return (
        f"Paired {noun}: {pairs.only_run} {verb} only in {one.label}, {pairs.only_baseline} only "
        f"in {one.baseline}, {pairs.both} in both, {pairs.neither} in neither (McNemar's exact "
        f"test: {p_text(pairs.p_value)})."
    )


def flips(report: ComparisonReport) -> Iterator[AnySection]:
    """Which tasks or rows broke, and which healed."""
    for one in report.comparisons:
        rows = list(_flipped(one))
        if not rows:
            continue
        broke = len({str(row.cells[0]) for row in rows if row.cells[1] == "broke"})
        healed = len({str(row.cells[0]) for row in rows if row.cells[1] == "healed"})
        yield Table(
            id=f"flips-{one.label}",
            title=f"{one.label}: {broke} broke, {healed} healed",
            columns=[
                col("Task" if report.runs else "Row", "count"),
                col(""),
                col("Before", "percent"),
                col("Now", "percent"),
                col("Why it failed"),
                col("What the user wants" if report.runs else "Evaluator", wide=True),
            ],
            rows=rows,
            shown=_SHOWN_FLIPS,
            sort=[0, 1, 2, 3],
        )


def _flipped(one: RunComparison | EvaluationComparison) -> Iterator[Row]:
    """The rows of flips, what broke first."""
    if isinstance(one, RunComparison):
        words = {"lost": "broke", "gained": "healed"}
        for flip in sorted(one.flips, key=lambda flip: flip.direction != "lost"):
            how, rates = words[flip.direction], (flip.baseline_rate, flip.rate)
            yield Row(cells=[flip.task_index, how, *rates, flip.why or "", flip.instruction])
        return
    found = [(flip, d.alias) for d in one.evaluators for flip in d.flips]
    for flip, alias in sorted(found, key=lambda item: item[0].direction != "broke"):
        rates = (flip.baseline_rate, flip.rate)
        yield Row(cells=[flip.row, flip.direction, *rates, flip.why, alias])


def reliability(report: ComparisonReport) -> Iterator[AnySection]:
    """pass^k of every run, or the mean scores of every evaluation, side by side."""
    if report.runs:
        series = [
            Series(
                name=side.label,
                points=estimate_points(side.pass_hat_k, _MOST_KS),
            )
            for side in report.runs
        ]
        x, y = "Tries in a row", "Tasks solved every time"
    else:
        series = [
            Series(
                name=side.label,
                points=[
                    Point(x=place, y=e.value, low=known(e.low), high=known(e.high), label=alias)
                    for place, (alias, e) in enumerate(side.means.items(), start=1)
                    if known(e.value) is not None
                ],
            )
            for side in report.evaluations
        ]
        x, y = "Evaluator", "Mean score"
    yield Chart(
        id="reliability",
        title="Side by side",
        style="bars",
        x=col(x, "count"),
        y=col(y, "percent"),
        series=series,
        detail=True,
    )


def cost_against_quality(report: ComparisonReport) -> Iterator[AnySection]:
    """What each costs, against how good it is."""
    best = {
        **{side.label: side.pass_hat_k.get(1) for side in report.runs},
        **{side.label: next(iter(side.means.values()), None) for side in report.evaluations},
    }
    series = [
        Series(
            name=side.label,
            points=[
                Point(
                    x=side.average_cost,
                    y=figure.value,
                    low=known(figure.low),
                    high=known(figure.high),
                    label=side.label,
                )
            ],
        )
        for side in report.runs or report.evaluations
        if side.average_cost is not None
        and (figure := best[side.label]) is not None
        and known(figure.value) is not None
    ]
    if series:
        yield Chart(
            id="cost-quality",
            title="Cost against quality",
            style="scatter",
            x=col("Cost each", "money"),
            y=col("pass^1" if report.runs else "Mean score", "percent"),
            series=series,
            detail=True,
        )


def _provenance(jobs: Sequence[RunRecord | EvaluationRecord]) -> Facts:
    pairs: list[tuple[str, str]] = []
    for job in jobs:
        if isinstance(job, RunRecord):
            what = f"{job.agent_strategy} ({job.config.get('model') or 'no model'})"
            on = f"{job.env} {job.task_split} of {job.pack.get('name')} {job.pack.get('version')}"
        else:
            what, on = job.workflow, f"{job.test_set_name}@{job.test_set_version}"
        seed = job.config.get("seed", "unknown")
        pairs.append((job.name, f"{what} on {on}; seed {seed}; Greenroom {job.greenroom_version}"))
    return Facts(id="provenance", title="Provenance", facts=facts_of(pairs), detail=True)


SECTIONS: tuple[Callable[[ComparisonReport], Iterable[AnySection]], ...] = (
    sides,
    differences,
    flips,
    reliability,
    cost_against_quality,
)
"""The sections in the order in which they are read."""
