"""The report of an evaluation as Markdown: for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from greenroom.evaluation.report import EvaluationReport
from greenroom.evaluation.report_texts import (
    SCORE_HEADINGS,
    about,
    cell_name,
    headline,
    interval_note,
    notes,
    score_rows,
    shown,
)
from greenroom.reports.markdown import escape
from greenroom.reports.texts import plural

_LONGEST = 300


def render_evaluation_markdown(report: EvaluationReport) -> str:
    """The report with its figures first and what did not pass below."""
    parts = [
        f"# {escape(report.evaluation.name)}",
        escape(about(report.evaluation)),
        f"**{escape(headline(report))}**",
        _table(SCORE_HEADINGS, score_rows(report.figures)),
        escape(interval_note(report.figures)),
        "\n".join(f"- {escape(note)}" for note in notes(report)),
    ]
    if report.gates:
        rows = [
            ("passed" if one.passed else "**FAILED**", f"`{one.gate.text}`", escape(one.reason))
            for one in report.gates
        ]
        parts += ["## Gates", _table(("", "Gate", "Figure"), rows, left=3)]
    if report.failures:
        parts += ["## What did not pass", _failures(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _failures(report: EvaluationReport) -> str:
    rows = [
        (
            cell_name(result.row, result.repeat, report.evaluation.repeats),
            escape(alias),
            escape(shown(score.compared), _LONGEST),
            escape(shown(score.against), _LONGEST),
            escape(score.reason, _LONGEST),
        )
        for result in report.failures
        for alias, score in result.scores.items()
        if score.passed is False
    ]
    table = _table(("Row", "Evaluator", "Compared", "Against", "Reason"), rows, left=5)
    more = report.failure_count - len(report.failures)
    return f"{table}\n\nand {plural(more, 'more result')}" if more else table


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table; the first columns are aligned to the left, the others to the right."""
    rules = ["---" if place < left else "---:" for place in range(len(headings))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (headings, rules, *rows))
