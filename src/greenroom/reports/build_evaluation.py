"""The sections of an evaluation's report: a function for each, and the list of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from greenroom.analysis.errors import first_trials
from greenroom.analysis.evaluations import EvaluatorFigures, mean_of_rows, scores_by_row
from greenroom.analysis.tally import usage_by_purse
from greenroom.reports import evaluation_words as words
from greenroom.reports import sections
from greenroom.reports import shared_sections as shared
from greenroom.reports.evaluation_words import cell_name, question_of, value_text
from greenroom.reports.judge_checks import check_words, short_words
from greenroom.reports.report import (
    EvaluatedRow,
    EvaluationData,
    EvaluationReport,
    StoredResults,
    shown_outcome,
    stored,
)
from greenroom.reports.sections import AnySection, columns
from greenroom.reports.texts import date_text, interval_note, one_line, plural
from greenroom.reports.user_audit import audit_sections
from greenroom.reports.users import user_facts
from greenroom.store import EvaluationRecord, ResultSummary, Usage
from greenroom.store.evaluation_records import score_of

_TRUTH = "what the workflow would reach over all rows of this kind"
_ITEM_FIELDS = set(sections.GridItem.model_fields)
_NO_ANSWER, _BROKEN = "no_answer", "broken"
_KINDS = {
    _NO_ANSWER: ("No answer", "the workflow gave no answer: no score"),
    _BROKEN: ("Evaluator broke", "the evaluator itself did not work: no score"),
}


def evaluation_report(
    data: EvaluationData, unscored: Mapping[str, Counter[str]] | None = None
) -> EvaluationReport:
    """The report of an evaluation: its sections from what is known of it.

    `unscored` says why evaluators gave no score, where the results do not; then only the sections
    of figures are built.
    """
    counted = _kept(data).counted
    sections_of = FIGURES
    if unscored is None:
        sections_of = SECTIONS
        aliases = [one.alias for one in data.figures.evaluators]
        unscored = {alias: words.unscored_reasons(counted, alias) for alias in aliases}
    return EvaluationReport(
        **shared.report_fields(EvaluationData, data, sections_of),
        name=data.evaluation.name,
        headline=words.headline(data),
        notes=[*words.notes(data.figures, counted, unscored), *_judge_notes(data)],
        facts=shared.facts_of(_facts(data)),
    )


def _judge_notes(data: EvaluationData) -> Iterator[str]:
    """How far each judge can be trusted."""
    for alias, check in data.judges.items():
        hint = f"{alias} (with its settings)"
        yield from (f"{alias}: {words}" for words in check_words(check, hint))


def counted_results(
    read: Callable[[], Iterator[EvaluatedRow]], evaluation: EvaluationRecord, by: Sequence[str] = ()
) -> StoredResults:
    """Results with what is counted of each, in one pass over them; `by` are columns of slices."""
    counted: list[ResultSummary] = []

    def counting() -> Iterator[EvaluatedRow]:
        for result in read():
            groups = [_group(result.inputs.get(column)) for column in by]
            question = question_of(result.inputs, evaluation)
            counted.append(ResultSummary.of(result, question, groups))
            yield result

    failed = failure_section(counting(), evaluation, shared.MOST_FAILURES)
    return StoredResults(read, counted, failed)


def _kept(data: EvaluationData) -> StoredResults:
    kept = stored(data.results)
    if kept is None:
        return counted_results(lambda: iter(data.results), data.evaluation, data.by)
    return kept


def _group(value: Any) -> str:
    return "(none)" if value in (None, "") else value_text(value)


def _facts(data: EvaluationData) -> Iterator[tuple[str, str]]:
    evaluation = data.evaluation
    kind = "Chat workflow" if evaluation.is_chat else "Workflow"
    times = f" x {evaluation.repeats}" if evaluation.repeats > 1 else ""
    rows = f"{plural(evaluation.row_count, 'row')}{times}"
    yield kind, evaluation.workflow
    yield from user_facts(evaluation.config)
    yield "Test set", f"{evaluation.test_set}, {rows}"
    yield "Evaluated", date_text(evaluation.created_at)
    yield "Greenroom", evaluation.greenroom_version
    if evaluation.status != "complete":
        yield "Status", evaluation.status


def figures(data: EvaluationData) -> Iterator[AnySection]:
    """The scores of every evaluator, and the figures beside them."""
    found = data.figures
    cautious = any(one.mean.cautious or one.passed.cautious for one in found.evaluators)
    note = interval_note(found.confidence, _TRUTH, cautious=cautious)
    yield sections.Figures(
        id="figures",
        title="Figures",
        figures=[
            *(figure for one in found.evaluators for figure in _evaluator_figures(one, data)),
            *_other_figures(data),
        ],
        confidence=found.confidence,
        units="rows",
        notes=[note] if found.with_result else [],
    )


def _evaluator_figures(one: EvaluatorFigures, data: EvaluationData) -> Iterator[sections.Figure]:
    planned = data.figures.planned
    rows = scores_by_row(_kept(data).counted, one.alias)
    broken = f", {one.broken:,} broken" if one.broken else ""
    scored = f"{one.scored:,} of {one.scored + one.unscored + one.broken:,} scored{broken}"
    meaning = f"mean score; {scored}"
    if one.alias in data.judges:
        meaning += f"; {short_words(data.judges[one.alias])}"
    of: dict[str, Any] = {"n": len(rows), "partial": one.scored < planned}
    yield shared.fig(f"{one.alias}.mean", one.alias, one.mean, meaning, **of, prominent=True)
    if one.judged and one.passed != one.mean:
        label, meaning = f"{one.alias} passed", f"of {plural(one.judged, 'verdict')}"
        of["partial"] = one.judged < planned
        yield shared.fig(f"{one.alias}.passed", label, one.passed, meaning, "percent", **of)


def _other_figures(data: EvaluationData) -> Iterator[sections.Figure]:
    found = data.figures
    planned = f"of {found.planned:,} planned"
    answered = found.with_result - found.crashed
    yield shared.fig("calls", "Calls answered", answered, planned, "count")
    call = found.latency.get("call")
    # Recorded outputs may come without the time that they took.
    if call is not None and (call.p95.value or not data.evaluation.config.get("outputs")):
        for name, share, estimate in (("p50", "half", call.p50), ("p95", "95 %", call.p95)):
            meaning = f"{share} of the calls take no longer"
            label = f"Latency, {name}"
            yield shared.fig(f"latency_{name}", label, estimate, meaning, "seconds", n=found.rows)
    if found.purses:
        counted = _kept(data).counted
        usages = [*(one.usage for one in counted), *data.attempts_usage]
        cost = shared.cost_figure(usages, data.evaluation.config, agent="workflow")
        yield cost
        passed = sum(shown_outcome(result) == "passed" for result in counted)
        if cost.value and passed:
            meaning = "all that was spent, by results that pass"
            yield shared.fig(
                "cost_per_passed", "Cost per pass", cost.value / passed, meaning, "money"
            )


def outcomes(data: EvaluationData) -> Iterator[AnySection]:
    """How often each outcome occurred."""
    counts = Counter(shown_outcome(result) for result in _kept(data).counted)
    counts["missing"] = data.figures.missing
    yield from shared.outcome_table(counts, "Results")


def cells(data: EvaluationData) -> Iterator[AnySection]:
    """Rows x repeats, and a row of figures for each."""
    by_row: dict[int, list[ResultSummary]] = {}
    for result in _kept(data).counted:
        by_row.setdefault(result.row, []).append(result)
    evaluation = data.evaluation
    if not by_row:
        return
    aliases = [one.alias for one in data.figures.evaluators]
    yield sections.Grid(
        id="cells",
        title="Rows",
        item="row",
        trial="repeat",
        trials=[str(repeat + 1) for repeat in range(evaluation.repeats)],
        columns=columns(
            "Question",
            *(sections.Column(label=alias, format="decimal", digits=2) for alias in aliases),
            "Seconds:seconds:wide",
        ),
        items=[
            # There may be many rows: one set of given fields is enough for all.
            sections.GridItem.model_construct(
                _ITEM_FIELDS,
                key=row - 1,
                label=str(row),
                outcomes=[
                    next((shown_outcome(one) for one in found if one.repeat == repeat + 1), None)
                    for repeat in range(evaluation.repeats)
                ],
                score=_mean(score_of(one, alias) for one in found for alias in aliases),
                cells=[
                    found[0].question,
                    *(_mean(score_of(one, alias) for one in found) for alias in aliases),
                    _mean(one.seconds for one in found if one.has_result),
                ],
            )
            for row, found in by_row.items()
        ],
    )


def _mean(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def failures(data: EvaluationData) -> Iterator[AnySection]:
    """What did not pass, by evaluator, with the question and what was compared with what."""
    yield _kept(data).beside or failure_section(data.results, data.evaluation)


def failure_section(
    results: Iterable[EvaluatedRow], evaluation: EvaluationRecord, most: int | None = None
) -> sections.Failures:
    """The section from results. All are counted; `most` is how many are explained at most."""
    counts = Counter[str]()

    def counting() -> Iterator[sections.FailedCell]:
        for result in results:
            for one in _failures_of(result, evaluation):
                counts[one.kind] += 1
                yield one

    found = first_trials(counting(), most, lambda one: (one.item, one.trial))
    return sections.Failures(
        id="failures",
        title="What did not pass",
        kinds=shared.kind_counts(
            counts.most_common(),
            lambda kind: _KINDS.get(kind, (kind, "not passed by this evaluator")),
        ),
        failures=found,
        total=counts.total(),
        noun="result",
    )


def _failures_of(
    result: EvaluatedRow, evaluation: EvaluationRecord
) -> Iterator[sections.FailedCell]:
    if result.has_result and not any(
        one.broken or one.passed is False for one in result.scores.values()
    ):
        return
    failed = partial(
        sections.FailedCell,
        item=result.row - 1,
        trial=result.repeat - 1,
        label=cell_name(result.row, result.repeat, evaluation.repeats),
        subject=question_of(result.inputs, evaluation),
    )
    if not result.has_result:
        yield failed(kind=_NO_ANSWER, sentence=result.error or "the reason was not recorded")
    for alias, score in result.scores.items():
        if score.broken:
            yield failed(kind=_BROKEN, sentence=f"{alias}: {score.reason}")
        elif score.passed is False:
            held = [("compared", score.compared), ("against", score.against)]
            if result.outcome == "crashed":
                held = [("error", result.error)]
            yield failed(
                kind=alias,
                sentence=score.reason or f"score {score.score:g}",
                evidence=[sections.Evidence(label=k, text=value_text(v)) for k, v in held],
            )


def slices(data: EvaluationData) -> Iterator[AnySection]:
    """The mean scores for each value of the columns that were asked for."""
    aliases = [one.alias for one in data.figures.evaluators]
    for place, column in enumerate(data.by):
        groups: dict[str, list[ResultSummary]] = {}
        for result in _kept(data).counted:
            groups.setdefault(result.groups[place], []).append(result)
        rows: list[list[sections.Cell]] = []
        for group, found in sorted(groups.items()):
            cells = [one_line(group, 80), len({one.row for one in found}), len(found)]
            means = (mean_of_rows(scores_by_row(found, alias)) for alias in aliases)
            rows.append([*cells, *(cell for mean in means for cell in shared.estimate_cells(mean))])
        counts = columns("Rows:count", "Results:count")
        yield shared.table(
            f"slices-{column}",
            f"By {column}",
            (sections.Column(label=column), *counts, *shared.estimate_columns(aliases)),
            rows,
            sort=3,
        )


def costs(data: EvaluationData) -> Iterator[AnySection]:
    """Tokens and money by purse, and what calls without an answer cost."""
    counted = _kept(data).counted
    spent = usage_by_purse(one.usage for one in counted if one.has_result)
    failed = [one.usage for one in counted if not one.has_result]
    wasted = usage_by_purse([*failed, *data.attempts_usage])
    whole = Usage.total([*spent.values(), *wasted.values()])
    if whole.tokens or whole.cached_calls or whole.cost or whole.lost_calls:
        attempts = len(failed) + len(data.attempts_usage)
        yield from shared.costs_table(spent, wasted, attempts, agent="Workflow")


def latency(data: EvaluationData) -> Iterator[AnySection]:
    """How long calls of the workflow and of models took."""
    yield from shared.latency_table(data.figures.latency)


def user(data: EvaluationData) -> Iterator[AnySection]:
    """What the simulated users counted."""
    yield from shared.users_tallies(data.user_tallies)


def provenance(data: EvaluationData) -> Iterator[AnySection]:
    """What it takes to do the same again."""
    evaluation = data.evaluation
    yield shared.provenance(
        evaluation,
        ("Workflow", evaluation.workflow),
        ("Test set", evaluation.test_set),
        ("Rows", f"{evaluation.row_count:,}"),
        ("Repeats", str(evaluation.repeats)),
        ("Evaluators", ", ".join(str(spec["alias"]) for spec in evaluation.evaluators)),
    )
    yield shared.setup_text(
        {"configuration": evaluation.config, "evaluators": evaluation.evaluators}
    )


def user_audit(data: EvaluationData) -> Iterator[AnySection]:
    """What the simulated users did wrong, where that was asked for."""
    yield from audit_sections(data.user_audit, "row")


FIGURES: tuple[shared.Builder[EvaluationData], ...] = (
    figures,
    outcomes,
    costs,
    latency,
    provenance,
)
"""The sections that need no more than what is counted of results."""

SECTIONS: tuple[shared.Builder[EvaluationData], ...] = (
    figures,
    outcomes,
    cells,
    failures,
    user_audit,
    slices,
    costs,
    latency,
    user,
    provenance,
)
"""The sections in the order in which they are read."""
