"""The sections of an evaluation's report: a function for each, and the list of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from greenroom.analysis.evaluations import EvaluatorFigures, mean_of_rows
from greenroom.analysis.figures import Estimate
from greenroom.analysis.roles import column_roles
from greenroom.analysis.tally import usage_by_purse
from greenroom.messages import text_of
from greenroom.reports.plain import plain, without_secrets
from greenroom.reports.report import EvaluatedRow, EvaluationData, EvaluationReport
from greenroom.reports.sections import (
    AnySection,
    Cell,
    Column,
    Evidence,
    Fact,
    Facts,
    Failure,
    Failures,
    Figure,
    Figures,
    Grid,
    GridItem,
    KindCount,
    Row,
    Table,
    Text,
)
from greenroom.reports.shared_sections import (
    costs_table,
    estimate_figure,
    interval_cell,
    latency_table,
    outcome_table,
)
from greenroom.reports.texts import date_text, interval_note, known, one_line, percent, plural
from greenroom.store import EvaluationRecord, Usage, chat_of
from greenroom.util.raw_json import raw_text

_LONGEST = 300
_TRUTH = "what the workflow would reach over all rows of this kind"
_NO_ANSWER, _BROKEN = "no_answer", "broken"


def evaluation_report(data: EvaluationData) -> EvaluationReport:
    """The report of an evaluation: its sections from what is known of it."""
    fields = {name: getattr(data, name) for name in EvaluationData.model_fields}
    return EvaluationReport(
        **fields,
        name=data.evaluation.name,
        headline=headline(data),
        notes=list(notes(data)),
        facts=list(_facts(data)),
        sections=[section for build in SECTIONS for section in build(data)],
    )


def cell_name(row: int, repeat: int, repeats: int) -> str:
    """What a result is called by people, who count from 1."""
    return f"row {row}" if repeats == 1 else f"row {row}, repeat {repeat}"


def shown(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON."""
    return value if isinstance(value, str) else raw_text(value)


def question_of(row: Mapping[str, Any], evaluation: EvaluationRecord) -> str:
    """What the workflow was asked: the last message of a chat, or the row's inputs."""
    config = evaluation.config
    spoken = config.get("message") or config.get("said")
    wanted: list[str] = (
        [spoken]
        if spoken
        else config.get("inputs")
        or [name for name in column_roles(list(row)).inputs if name != config.get("expected")]
    )
    texts = {name: _asked(row[name]) for name in wanted if name in row}
    if len(texts) == 1:
        return one_line(next(iter(texts.values())), _LONGEST)
    return one_line("; ".join(f"{name}: {text}" for name, text in texts.items()), _LONGEST)


def _asked(value: Any) -> str:
    chat = chat_of(value)
    said = [text_of(message.get("content")) for message in chat or [] if message["role"] == "user"]
    return said[-1] if said else shown(value)


def headline(data: EvaluationData) -> str:
    """What passed, and how many calls were answered. A share of a subset never stands here."""
    figures = data.figures
    if not figures.with_result and not figures.errors:
        return "Nothing has been called yet."
    parts = [f"{figures.with_result:,} of {plural(figures.planned, 'call')} answered"]
    if figures.errors:
        parts.append(plural(figures.errors, "error"))
    if figures.missing:
        parts.append(f"{figures.missing:,} not made yet")
    answered = ", ".join(parts)
    judged = [one for one in figures.evaluators if one.judged == figures.planned]
    if not judged:
        return answered
    passed = ", ".join(f"{percent(one.passed.value)} pass {one.alias}" for one in judged)
    return f"{passed}; {answered}"


def notes(data: EvaluationData) -> Iterator[str]:
    """What has to be known to read the figures rightly: errors, and why scores are missing."""
    for text, count in data.figures.common_errors.items():
        yield f"{plural(count, 'call')} without an answer: {text}"
    for evaluator in data.figures.evaluators:
        without = [
            score.reason or "no reason is given"
            for result in data.results
            if (score := result.scores.get(evaluator.alias)) is not None and score.score is None
        ]
        for reason, count in Counter(without).most_common(2):
            yield f"{plural(count, 'result')} without a score by {evaluator.alias}: {reason}"


def _facts(data: EvaluationData) -> Iterator[Fact]:
    evaluation = data.evaluation
    kind = "Chat workflow" if evaluation.is_chat else "Workflow"
    times = f" x {evaluation.repeats}" if evaluation.repeats > 1 else ""
    rows = f"{plural(evaluation.row_count, 'row')}{times}"
    yield Fact(label=kind, value=evaluation.workflow)
    yield Fact(label="Test set", value=f"{evaluation.test_set}, {rows}")
    yield Fact(label="Evaluated", value=date_text(evaluation.created_at))
    yield Fact(label="Greenroom", value=evaluation.greenroom_version)
    if evaluation.status != "complete":
        yield Fact(label="Status", value=evaluation.status)


def figures(data: EvaluationData) -> Iterator[AnySection]:
    """The scores of every evaluator, and the figures beside them."""
    found = data.figures
    yield Figures(
        id="figures",
        title="Figures",
        figures=[
            *(figure for one in found.evaluators for figure in _evaluator_figures(one, data)),
            *_other_figures(data),
        ],
        confidence=found.confidence,
        units="rows",
        notes=[interval_note(found.confidence, _TRUTH)] if found.with_result else [],
    )


def _evaluator_figures(one: EvaluatorFigures, data: EvaluationData) -> Iterator[Figure]:
    results = one.scored + one.unscored + one.broken
    broken = f", {one.broken:,} broken" if one.broken else ""
    rows = {
        result.row
        for result in data.results
        if (score := result.scores.get(one.alias)) is not None and score.score is not None
    }
    partial = one.scored < data.figures.planned
    yield estimate_figure(
        f"{one.alias}.mean",
        one.alias,
        one.mean,
        f"mean score; {one.scored:,} of {results:,} scored{broken}",
        n=len(rows),
        partial=partial,
        prominent=True,
    )
    if one.judged and one.passed != one.mean:
        yield estimate_figure(
            f"{one.alias}.passed",
            f"{one.alias} passed",
            one.passed,
            f"of {plural(one.judged, 'verdict')}",
            n=len(rows),
            partial=one.judged < data.figures.planned,
            format="percent",
        )


def _other_figures(data: EvaluationData) -> Iterator[Figure]:
    found = data.figures
    yield Figure(
        key="calls",
        label="Calls answered",
        value=found.with_result,
        format="count",
        meaning=f"of {found.planned:,} planned",
    )
    call = found.latency.get("call")
    if call is not None:
        for name, estimate in (("p50", call.p50), ("p95", call.p95)):
            share = "half" if name == "p50" else "95 %"
            yield estimate_figure(
                f"latency_{name}",
                f"Latency, {name}",
                estimate,
                f"{share} of the calls take no longer",
                n=found.rows,
                format="seconds",
            )
    if found.purses:
        yield Figure(
            key="cost",
            label="Cost",
            value=found.cost,
            format="money",
            unknown=f"{found.known_cost:.4f} US dollars or more" if found.known_cost else "unknown",
            meaning="in all" if found.cost is not None else "results do not tell what they cost",
        )
        passed = sum(outcome_of(result) == "passed" for result in data.results)
        if found.cost and passed:
            yield Figure(
                key="cost_per_passed",
                label="Cost per pass",
                value=found.cost / passed,
                format="money",
                meaning="all that was spent, by results that pass",
            )


def outcome_of(result: EvaluatedRow) -> str:
    """What became of a result, over all evaluators."""
    if not result.has_result:
        return "infrastructure_error"
    return {True: "passed", False: "not_passed", None: "answered"}[result.solved]


def outcomes(data: EvaluationData) -> Iterator[AnySection]:
    """How often each outcome occurred."""
    counts = Counter(outcome_of(result) for result in data.results)
    counts["missing"] = data.figures.missing
    yield from outcome_table(counts, "Results")


def cells(data: EvaluationData) -> Iterator[AnySection]:
    """Rows x repeats, and a row of figures for each."""
    by_row: dict[int, list[EvaluatedRow]] = {}
    for result in data.results:
        by_row.setdefault(result.row, []).append(result)
    evaluation = data.evaluation
    if not by_row:
        return
    aliases = [one.alias for one in data.figures.evaluators]
    yield Grid(
        id="cells",
        title="Rows",
        item="row",
        trial="repeat",
        trials=[str(repeat + 1) for repeat in range(evaluation.repeats)],
        columns=[
            Column(label="Question"),
            *(Column(label=alias, format="decimal", digits=2) for alias in aliases),
            Column(label="Seconds", format="seconds", wide=True),
        ],
        items=[
            GridItem(
                key=row - 1,
                label=str(row),
                outcomes=[
                    next((outcome_of(one) for one in found if one.repeat == repeat + 1), None)
                    for repeat in range(evaluation.repeats)
                ],
                score=_mean(_score(one, alias) for one in found for alias in aliases),
                cells=[
                    question_of(found[0].inputs, evaluation),
                    *(_mean(_score(one, alias) for one in found) for alias in aliases),
                    _mean(one.seconds for one in found if one.has_result),
                ],
            )
            for row, found in by_row.items()
        ],
    )


def _score(result: EvaluatedRow, alias: str) -> float | None:
    score = result.scores.get(alias)
    return None if score is None else score.score


def _mean(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def failures(data: EvaluationData) -> Iterator[AnySection]:
    """What did not pass, by evaluator, with the question and what was compared with what."""
    yield failure_section(data.results, data.evaluation)


def failure_section(results: Iterable[EvaluatedRow], evaluation: EvaluationRecord) -> Failures:
    """The section from results."""
    found = [one for result in results for one in _failures_of(result, evaluation)]
    counts = Counter(one.kind for one in found)
    labels = {
        _NO_ANSWER: ("No answer", "the workflow gave no answer: no score"),
        _BROKEN: ("Evaluator broke", "the evaluator itself did not work: no score"),
    }
    return Failures(
        id="failures",
        title="What did not pass",
        kinds=[
            KindCount(kind=kind, label=label, meaning=meaning, count=count)
            for kind, count in counts.most_common()
            for label, meaning in [labels.get(kind, (kind, "not passed by this evaluator"))]
        ],
        failures=found,
        total=len(found),
        noun="result",
    )


def _failures_of(result: EvaluatedRow, evaluation: EvaluationRecord) -> Iterator[Failure]:
    def failure(kind: str, sentence: str, *evidence: Evidence) -> Failure:
        return Failure(
            item=result.row - 1,
            trial=result.repeat - 1,
            label=cell_name(result.row, result.repeat, evaluation.repeats),
            kind=kind,
            sentence=sentence,
            subject=question_of(result.inputs, evaluation),
            evidence=list(evidence),
        )

    if not result.has_result:
        yield failure(_NO_ANSWER, result.error or "the reason was not recorded")
    for alias, score in result.scores.items():
        if score.broken:
            yield failure(_BROKEN, f"{alias}: {score.reason}")
        elif score.passed is False:
            yield failure(
                alias,
                score.reason or f"score {score.score:g}",
                Evidence(label="compared", text=shown(score.compared)),
                Evidence(label="against", text=shown(score.against)),
            )


def slices(data: EvaluationData) -> Iterator[AnySection]:
    """The mean scores for each value of the columns that were asked for."""
    aliases = [one.alias for one in data.figures.evaluators]
    for column in data.by:
        groups: dict[str, list[EvaluatedRow]] = {}
        for result in data.results:
            value = result.inputs.get(column)
            groups.setdefault("(none)" if value in (None, "") else shown(value), []).append(result)
        yield Table(
            id=f"slices-{column}",
            title=f"By {column}",
            columns=[
                Column(label=column),
                Column(label="Rows", format="count"),
                Column(label="Results", format="count"),
                *(
                    one
                    for alias in aliases
                    for one in (
                        Column(label=alias, format="decimal"),
                        Column(label="Interval", format="decimal", digits=2, interval=True),
                    )
                ),
            ],
            rows=[
                Row(
                    cells=[
                        one_line(group, 80),
                        len({one.row for one in found}),
                        len(found),
                        *(
                            cell
                            for alias in aliases
                            for cell in _estimate_cells(_slice_mean(found, alias))
                        ),
                    ]
                )
                for group, found in sorted(groups.items())
            ],
            sort=[0, 1, 2],
        )


def _slice_mean(results: Iterable[EvaluatedRow], alias: str) -> Estimate:
    by_row: dict[int, list[float]] = {}
    for result in results:
        score = _score(result, alias)
        if score is not None:
            by_row.setdefault(result.row, []).append(score)
    return mean_of_rows(by_row)


def _estimate_cells(estimate: Estimate) -> list[Cell]:
    return [known(estimate.value), interval_cell(estimate)]


def costs(data: EvaluationData) -> Iterator[AnySection]:
    """Tokens and money by purse, and what calls without an answer cost."""
    spent = usage_by_purse(one.usage for one in data.results if one.has_result)
    failed = [one.usage for one in data.results if not one.has_result]
    wasted = usage_by_purse([*failed, *data.attempts_usage])
    whole = Usage.total([*spent.values(), *wasted.values()])
    if whole.prompt_tokens or whole.completion_tokens or whole.cached_calls or whole.cost:
        attempts = len(failed) + len(data.attempts_usage)
        yield from costs_table(spent, wasted, attempts, agent="Workflow")


def latency(data: EvaluationData) -> Iterator[AnySection]:
    """How long calls of the workflow and of models took."""
    yield from latency_table(data.figures.latency)


def provenance(data: EvaluationData) -> Iterator[AnySection]:
    """What it takes to do the same again."""
    evaluation = data.evaluation
    facts = [
        ("Name", evaluation.name),
        ("Id", evaluation.id),
        ("Status", evaluation.status),
        ("Workflow", evaluation.workflow),
        ("Test set", evaluation.test_set),
        ("Rows", f"{evaluation.row_count:,}"),
        ("Repeats", str(evaluation.repeats)),
        ("Evaluators", ", ".join(str(spec["alias"]) for spec in evaluation.evaluators)),
        ("Seed", str(evaluation.config.get("seed", "unknown"))),
        ("Judge", str(evaluation.config.get("judge_model") or "none")),
    ]
    yield Facts(
        id="provenance",
        title="Provenance",
        facts=[Fact(label=label, value=value) for label, value in facts],
        detail=True,
    )
    settings = {"configuration": evaluation.config, "evaluators": evaluation.evaluators}
    text = json.dumps(plain(without_secrets(settings)), indent=2, ensure_ascii=False)
    yield Text(id="configuration", title="Configuration", text=text, detail=True)


SECTIONS: tuple[Callable[[EvaluationData], Iterable[AnySection]], ...] = (
    figures,
    outcomes,
    cells,
    failures,
    slices,
    costs,
    latency,
    provenance,
)
"""The sections in the order in which they are read."""
