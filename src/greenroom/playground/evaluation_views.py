"""From stored evaluations and results to what pages read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from shlex import quote
from typing import Any

from greenroom.analysis.roles import column_roles, row_expected
from greenroom.messages import is_message, messages_of
from greenroom.playground.evaluation_jobs import EvaluationJobs
from greenroom.playground.evaluation_models import (
    Evaluation,
    EvaluationItem,
    Result,
    ResultItem,
    ShownScore,
    UsedEvaluator,
)
from greenroom.playground.previews import preview
from greenroom.playground.runs_routes import OutcomeCount, outcome_words
from greenroom.reports.evaluation_words import cell_name, input_names, question_of, value_text
from greenroom.reports.report import shown_outcome
from greenroom.store import (
    EvaluationRecord,
    ResultRecord,
    Standing,
    Store,
    Usage,
    chat_of,
    decoded,
    shown_outcomes,
)
from greenroom.store.records import known_cost
from greenroom.util.json_values import cleaned

_IN_ADDRESSES = re.compile(r"[\w.-]+", re.ASCII)
_TAKEN = ("compare", "new", ".", "..")
"""Names that addresses of other pages have."""
_LONGEST_ERROR = 2_000


def key_of(evaluation: EvaluationRecord) -> str:
    """What an evaluation is called in addresses."""
    name = evaluation.name
    return name if _IN_ADDRESSES.fullmatch(name) and name not in _TAKEN else evaluation.id


def evaluation_item(standing: Standing[EvaluationRecord], jobs: EvaluationJobs) -> EvaluationItem:
    """An evaluation as lists have it."""
    found = standing.job
    here = jobs.is_running(found.id) and found.status != "complete"
    return EvaluationItem(
        id=found.id,
        key=key_of(found),
        name=found.name,
        workflow=found.workflow,
        is_chat=found.is_chat,
        test_set=found.test_set_name,
        version=found.test_set_version,
        evaluators=[str(one["alias"]) for one in found.evaluators],
        # Its lease is taken a moment after it was started.
        status="running" if here else found.status,
        here=here,
        planned=found.planned,
        finished=standing.finished,
        mean=standing.mean,
        rows=found.row_count,
        repeats=found.repeats,
        created_at=found.created_at.isoformat(),
    )


def evaluation_of(
    store: Store, standing: Standing[EvaluationRecord], jobs: EvaluationJobs
) -> Evaluation:
    """An evaluation with all that its page says at once."""
    found, item = standing.job, evaluation_item(standing, jobs)
    counts = shown_outcomes(store.engine, found.id)
    name = quote(found.name)
    interrupted = item.status == "interrupted"
    return Evaluation(
        **dict(item),
        used=[UsedEvaluator.model_validate(cleaned(one)) for one in found.evaluators],
        outcomes=[OutcomeCount(**dict(outcome_words(one)), count=n) for one, n in counts.items()],
        problem=jobs.problem(found.id) if interrupted else None,
        resume=f"{store.evaluations.kind.resume} {name}" if interrupted else None,
        export=f"greenroom evals report {name} -o report.html",
        config=cleaned(found.config),
        greenroom_version=found.greenroom_version,
    )


def result_item(
    evaluation: EvaluationRecord, record: ResultRecord, row: Mapping[str, Any]
) -> ResultItem:
    """A result as tables have it."""
    cut = False

    def shortened(value: Any) -> Any:
        nonlocal cut
        short, was_cut = preview(value)
        cut |= was_cut
        return short

    names = input_names(row, evaluation)
    scores = [
        ShownScore(
            alias=alias,
            score=one.score,
            passed=one.passed,
            broken=one.broken,
            reason=shortened(one.reason),
            compared=shortened(one.compared),
            against=shortened(one.against),
        )
        for alias, one in record.scores.items()
    ]
    return ResultItem(
        item=record.row,
        trial=record.repeat,
        label=cell_name(record.row + 1, record.repeat + 1, evaluation.repeats),
        outcome=outcome_words(shown_outcome(record)),
        error=None if record.error is None else cleaned(record.error)[:_LONGEST_ERROR],
        question=cleaned(question_of(row, evaluation)),
        inputs={cleaned(name): shortened(row[name]) for name in names if name in row},
        expected=shortened(_expected(evaluation, row)),
        outputs=shortened(record.outputs),
        scores=scores,
        seconds=record.seconds,
        cost=known_cost(record.usage.values()),
        cut=cut,
    )


def whole_result(
    evaluation: EvaluationRecord, record: ResultRecord, row: dict[str, Any], trials: list[int]
) -> Result:
    """A result with everything that is known of it."""
    names = input_names(row, evaluation)
    used = Usage.total(record.usage.values())
    whole = {
        "inputs": {name: row[name] for name in names if name in row},
        "expected": _expected(evaluation, row),
        "outputs": record.outputs,
        "error": record.error,
        "scores": [{"alias": alias, **dict(one)} for alias, one in record.scores.items()],
        "row": row,
        "tool_calls": record.tool_calls,
        "messages": messages_of_result(evaluation, record, row),
    }
    item = result_item(evaluation, record, row)
    return Result.model_validate(
        {
            **dict(item),
            **cleaned(whole),
            "cut": False,
            "attempts": record.attempts,
            "started_at": record.started_at.isoformat(),
            "trace_id": record.trace_id,
            "prompt_tokens": used.prompt_tokens,
            "completion_tokens": used.completion_tokens,
            "trials": trials,
        }
    )


def messages_of_result(
    evaluation: EvaluationRecord, record: ResultRecord, row: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    """The conversation of a result: what was sent, and what came back."""
    if record.conversation is not None:
        return record.conversation
    if not evaluation.is_chat:
        return None
    sent = _sent(evaluation, row)
    if record.outputs is None:
        return sent
    said = messages_of(record.outputs)
    if said is None:
        return [*sent, {"role": "assistant", "content": value_text(record.outputs)}]
    # Some workflows answer with the whole history.
    return said if said[: len(sent)] == sent else [*sent, *said]


def _sent(evaluation: EvaluationRecord, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    spoken = evaluation.config.get("message")
    names: list[str] = [spoken] if spoken else input_names(row, evaluation)
    values = [row[name] for name in names if row.get(name) not in (None, "")]
    for value in values:
        found = decoded(value)
        if is_message(found):
            return [found]
        if (chat := chat_of(found)) is not None:
            return chat
    text = value_text(values[0]) if len(values) == 1 else question_of(row, evaluation)
    return [{"role": "user", "content": text}]


def _expected(evaluation: EvaluationRecord, row: Mapping[str, Any]) -> Any:
    column = evaluation.config.get("expected")
    known = column if column in row else None
    return row_expected(row, column_roles(list(row), expected=known))
