"""What reports of evaluations say in words, so that every form of them says the same."""

from __future__ import annotations

from typing import Any

from greenroom.analysis.figures import Estimate
from greenroom.evaluation.aggregates import EvaluationFigures, EvaluatorFigures
from greenroom.evaluation.report import EvaluationReport
from greenroom.reports.texts import NOTHING, decimal, interval, money, percent, plural
from greenroom.store import EvaluationRecord
from greenroom.util.raw_json import raw_text

SCORE_HEADINGS = ("Evaluator", "Mean", "Interval", "Passed", "Interval", "Scored")
PURSES = {"agent": "workflow", "user": "simulated users", "judge": "judges"}


def cell_name(row: int, repeat: int, repeats: int) -> str:
    """What a result is called by people, who count from 1."""
    return f"row {row + 1}" if repeats == 1 else f"row {row + 1}, repeat {repeat + 1}"


def about(evaluation: EvaluationRecord) -> str:
    """What was evaluated, in a line."""
    kind = "chat workflow" if evaluation.is_chat else "workflow"
    version = f"{evaluation.test_set_name}@{evaluation.test_set_version}"
    times = f" x {evaluation.repeats}" if evaluation.repeats > 1 else ""
    rows = plural(evaluation.row_count, "row")
    return f"{kind[:1].upper()}{kind[1:]} {evaluation.workflow} on {version}, {rows}{times}"


def headline(report: EvaluationReport) -> str:
    """How far it has got, and how many calls were answered."""
    figures = report.figures
    if not figures.with_result and not figures.errors:
        return "Nothing has been called yet."
    answered = f"{figures.with_result:,} of {plural(figures.planned, 'call')} answered"
    parts = [answered]
    if figures.errors:
        parts.append(plural(figures.errors, "error"))
    if figures.missing:
        parts.append(f"{figures.missing:,} not made yet")
    return ", ".join(parts)


def score_rows(figures: EvaluationFigures) -> list[tuple[str, ...]]:
    """The rows of the table of scores."""
    return [_score_row(one) for one in figures.evaluators]


def _score_row(one: EvaluatorFigures) -> tuple[str, ...]:
    results = one.scored + one.unscored + one.broken
    broken = f", {one.broken:,} broken" if one.broken else ""
    return (
        one.alias,
        decimal(one.mean.value),
        interval(one.mean) or NOTHING,
        percent(one.passed.value),
        interval(one.passed, as_percent=True) or NOTHING,
        f"{one.scored:,} of {results:,}{broken}",
    )


def notes(report: EvaluationReport) -> list[str]:
    """Time, money and errors, a line each."""
    figures = report.figures
    said: list[str] = []
    if figures.with_result:
        said.append(f"Latency: {_latency(figures)}")
    if figures.purses:
        said.append(f"Cost: {_costs(figures)}")
    said += [
        f"{plural(count, 'call')} without an answer: {text}"
        for text, count in figures.common_errors.items()
    ]
    return said


def interval_note(figures: EvaluationFigures) -> str:
    """What the intervals mean, in a line."""
    level = f"{100 * figures.confidence:g}"
    return (
        f"Intervals: of 100 such ranges, {level} hold what the workflow would reach over all rows "
        "of this kind."
    )


def _latency(figures: EvaluationFigures) -> str:
    parts = [f"{name} {_seconds(one)}" for name, one in figures.latency.items()]
    return f"{', '.join(parts)}, mean {figures.latency_mean:.3f} s"


def _seconds(one: Estimate) -> str:
    return f"{one.value:.3f} s"


def _costs(figures: EvaluationFigures) -> str:
    parts: list[str] = []
    for name, purse in figures.purses.items():
        known = money(purse.cost)
        if purse.unpriced:
            known = f"{known} and what is not told" if purse.cost else "not told"
        tokens = f", {purse.tokens:,} tokens" if purse.tokens else ""
        parts.append(f"{PURSES.get(name, name)} {known} ({plural(purse.calls, 'call')}{tokens})")
    return "; ".join(parts)


def shown(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON."""
    return value if isinstance(value, str) else raw_text(value)
