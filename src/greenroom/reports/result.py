"""One result of an evaluation in full, on a console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from greenroom.messages import text_of
from greenroom.reports.evaluation_words import cell_name, value_text
from greenroom.reports.texts import one_line, plural

if TYPE_CHECKING:
    from rich.console import Console

    from greenroom.reports.report import EvaluatedRow
    from greenroom.store import EvaluationRecord

_VERDICTS = {True: "passed", False: "not passed", None: "no verdict"}


def print_result(evaluation: EvaluationRecord, result: EvaluatedRow, console: Console) -> None:
    """Print what went in, what came out, and what was compared with what."""
    title = cell_name(result.row, result.repeat, evaluation.repeats)
    _say(console, f"{evaluation.name}, {title}", "bold")
    for name, value in result.inputs.items():
        _block(console, name, value_text(value))
    if result.conversation is not None:
        _say(console, "Conversation", "bold")
        for message in result.conversation:
            _block(console, str(message.get("role")), _words(message), indent=4)
    if result.has_result:
        _block(console, "Output", value_text(result.outputs))
    else:
        _block(console, "Error", result.error or "")
    for alias, score in result.scores.items():
        number = "no score" if score.score is None else f"{score.score:g}"
        _say(console, f"{alias}: {number}, {_VERDICTS[score.passed]}", "bold")
        _block(console, "compared", value_text(score.compared), indent=4)
        _block(console, "against", value_text(score.against), indent=4)
        if score.reason:
            _block(console, "reason", score.reason, indent=4)
    _say(console, f"{result.seconds:.3f} s, {plural(result.attempts, 'attempt')}", "dim")


def _words(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    words = text_of(message.get("content"))
    return f"{words} [calls {value_text(calls)}]".strip() if calls else words


def _block(console: Console, name: str, text: str, *, indent: int = 0) -> None:
    """A name with a text of any number of lines, never read as markup."""
    lines = text.splitlines() or [""]
    _say(console, f"{name}: {lines[0]}", indent=indent)
    for line in lines[1:]:
        _say(console, line, indent=indent + 4)


def _say(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    line = " " * indent + one_line(text)
    console.print(Text(line.encode("utf-8", "replace").decode(), style), soft_wrap=True)
