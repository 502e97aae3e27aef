"""The report of an evaluation on a console, and one result in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from greenroom.evaluation.report import EvaluationReport
from greenroom.evaluation.report_texts import (
    SCORE_HEADINGS,
    about,
    cell_name,
    headline,
    notes,
    score_rows,
    shown,
)
from greenroom.messages import text_of
from greenroom.reports.texts import one_line, plural
from greenroom.store import EvaluationRecord, ResultRecord

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST = 160
_SYMBOLS = {True: "passed", False: "not passed", None: "no verdict"}


def print_evaluation(report: EvaluationReport, console: Console) -> None:
    """Print a report: what it is about, scores, time and money, gates, what did not pass."""
    _say(console, report.evaluation.name, "bold")
    _say(console, about(report.evaluation))
    _say(console, headline(report), "bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(SCORE_HEADINGS):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in score_rows(report.figures):
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    for note in notes(report):
        _say(console, note)
    for gate in report.gates:
        _say(console, f"Gate {gate}", "" if gate.passed else "bold red")
    _print_failures(report, console)


def print_result(
    evaluation: EvaluationRecord,
    row: Mapping[str, Any],
    result: ResultRecord,
    console: Console,
) -> None:
    """Print one result in full: what went in, what came out, what was compared with what."""
    title = cell_name(result.row, result.repeat, evaluation.repeats)
    _say(console, f"{evaluation.name}, {title}", "bold")
    for name, value in row.items():
        _block(console, name, shown(value))
    if result.conversation is not None:
        _say(console, "Conversation", "bold")
        for message in result.conversation:
            _block(console, str(message.get("role")), _words(message), indent=4)
    if not result.has_result:
        _block(console, "Error", result.error or "")
    else:
        _block(console, "Output", shown(result.outputs))
    for alias, score in result.scores.items():
        number = "no score" if score.score is None else f"{score.score:g}"
        _say(console, f"{alias}: {number}, {_SYMBOLS[score.passed]}", "bold")
        _block(console, "compared", shown(score.compared), indent=4)
        _block(console, "against", shown(score.against), indent=4)
        if score.reason:
            _block(console, "reason", score.reason, indent=4)
    _say(console, f"{result.seconds:.3f} s, {plural(result.attempts, 'attempt')}", "dim")


def _print_failures(report: EvaluationReport, console: Console) -> None:
    if not report.failures:
        return
    _say(console, "What did not pass", "bold")
    for result in report.failures:
        name = cell_name(result.row, result.repeat, report.evaluation.repeats)
        for alias, score in result.scores.items():
            if score.passed is False:
                compared, against = (
                    one_line(shown(value), _LONGEST) for value in (score.compared, score.against)
                )
                _say(console, f"{name}, {alias}: {one_line(score.reason, _LONGEST)}")
                _say(console, f"compared {compared}", "dim", indent=4)
                _say(console, f"against  {against}", "dim", indent=4)
    more = report.failure_count - len(report.failures)
    if more:
        _say(console, f"... and {plural(more, 'more result')}", "dim")


def _words(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    words = text_of(message.get("content"))
    return f"{words} [calls {shown(calls)}]".strip() if calls else words


def _block(console: Console, name: str, text: str, *, indent: int = 0) -> None:
    """A name with a text of any number of lines, never read as markup."""
    lines = text.splitlines() or [""]
    _say(console, f"{name}: {lines[0]}", indent=indent)
    for line in lines[1:]:
        _say(console, line, indent=indent + 4)


def _say(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    console.print(Text(" " * indent + one_line(text), style), soft_wrap=True)
