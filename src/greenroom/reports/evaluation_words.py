"""What reports of evaluations say in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from greenroom.analysis.evaluations import EvaluationFigures
from greenroom.analysis.roles import column_roles
from greenroom.messages import text_of
from greenroom.reports.report import EvaluationData
from greenroom.reports.texts import one_line, percent, plural
from greenroom.store import EvaluationRecord, ResultRecord, ResultSummary, chat_of
from greenroom.util.raw_json import raw_text

_LONGEST = 300


def cell_name(row: int, repeat: int, repeats: int) -> str:
    """What a result is called by people, who count from 1."""
    return f"row {row}" if repeats == 1 else f"row {row}, repeat {repeat}"


def value_text(value: Any) -> str:
    """A value as text: texts as they are, anything else as JSON."""
    return value if isinstance(value, str) else raw_text(value)


def question_of(row: Mapping[str, Any], evaluation: EvaluationRecord) -> str:
    """What the workflow was asked: the last message of a chat, or the row's inputs."""
    config = evaluation.config
    spoken = config.get("message") or config.get("said")
    wanted = [spoken] if spoken else input_names(row, evaluation)
    texts = {name: _asked(row[name]) for name in wanted if name in row}
    if len(texts) == 1:
        return one_line(next(iter(texts.values())), _LONGEST)
    return one_line("; ".join(f"{name}: {text}" for name, text in texts.items()), _LONGEST)


def input_names(row: Mapping[str, Any], evaluation: EvaluationRecord) -> list[str]:
    """The columns of a row that the workflow was given."""
    config = evaluation.config
    kept = [config.get("expected"), config.get("outputs")]
    kept += [spec["settings"].get("expected") for spec in evaluation.evaluators]
    inputs = config.get("input_columns") or config.get("inputs")
    return inputs or [one for one in _inputs_of(tuple(row)) if one not in kept]


@lru_cache(maxsize=256)
def _inputs_of(columns: tuple[str, ...]) -> tuple[str, ...]:
    return column_roles(columns).inputs


def _asked(value: Any) -> str:
    chat = chat_of(value)
    said = [text_of(message.get("content")) for message in chat or [] if message["role"] == "user"]
    return said[-1] if said else value_text(value)


def headline(data: EvaluationData) -> str:
    """What passed, and how many calls were answered. A share of a subset never stands here."""
    figures = data.figures
    if not figures.with_result and not figures.errors:
        return "Nothing has been called yet."
    answers = figures.with_result - figures.crashed
    parts = [f"{answers:,} of {plural(figures.planned, 'call')} answered"]
    if figures.crashed:
        parts.append(f"{figures.crashed:,} crashed")
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


def notes(
    figures: EvaluationFigures,
    counted: Sequence[ResultSummary],
    unscored: Mapping[str, Counter[str]],
) -> Iterator[str]:
    """What has to be known to read the figures rightly: errors, and why scores are missing."""
    for text, count in figures.common_errors.items():
        yield f"{plural(count, 'call')} without an answer: {text}"
    raised = Counter(one.error for one in counted if one.outcome == "crashed")
    for text, count in raised.most_common(2):
        yield f"The workflow raised an error in {plural(count, 'call')}, which score 0: {text}"
    for evaluator in figures.evaluators:
        reasons = unscored.get(evaluator.alias, Counter())
        for reason, count in reasons.most_common(2):
            yield f"{plural(count, 'result')} without a score by {evaluator.alias}: {reason}"
        if (more := evaluator.unscored + evaluator.broken - reasons.total()) > 0:
            yield f"{plural(more, 'more result')} without a score by {evaluator.alias}."


def unscored_reasons(results: Iterable[ResultRecord | ResultSummary], alias: str) -> Counter[str]:
    """Why an evaluator gave no score, with how often it did so."""
    return Counter(
        score.reason or "no reason is given"
        for result in results
        if (score := result.scores.get(alias)) is not None and score.score is None
    )
