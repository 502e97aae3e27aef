"""One cell of an evaluation: a row is given to the workflow, and what comes back is scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import anyio
import anyio.to_thread

from greenroom.domains.environment import SimulatedUser
from greenroom.errors import InputError, redacted
from greenroom.evaluation.context import EvaluationContext
from greenroom.evaluation.evaluators import Case, Evaluator, Score
from greenroom.evaluation.row_calls import RowCall
from greenroom.evaluation.simulated import Talk
from greenroom.models import BudgetExhausted, Completion, Ledger
from greenroom.store import CellKey, ResultRecord, ScoreRecord, outcome_of, total_cost
from greenroom.store.tallies import Tallies, tallies_of
from greenroom.tracing import Span, names, spans
from greenroom.trials import Attempted, cell_seed
from greenroom.trials.traced import usage_attributes
from greenroom.util.attempt_logs import log_error
from greenroom.util.raw_json import DEEPEST, plain
from greenroom.workflows.call.chat_session import new_session
from greenroom.workflows.calls import Answer, Call, CallError, WorkflowUnavailable
from greenroom.workflows.declare.outputs import NotJson, json_value

_FORBIDDEN = (401, 403)
_REFUSED = range(400, 500)
_CRASHED = ScoreRecord(score=0.0, passed=False, reason="the workflow raised an error")


@dataclass(frozen=True)
class RowCell:
    """A row of the test set that is to be given to the workflow once."""

    position: int
    repeat: int
    row: Mapping[str, Any]

    @property
    def key(self) -> CellKey:
        """What it is kept under."""
        return self.position, self.repeat


async def attempt_cell(
    context: EvaluationContext, cell: RowCell, ledger: Ledger, number: int
) -> Attempted[ResultRecord]:
    """Call the workflow with a row and score its answer.

    Whatever breaks on the way becomes the record's error. Only an InputError and an exhausted
    budget are raised. The ledger holds what it used in any case.
    """
    if spans.active is None:
        return await _attempt(context, cell, ledger, number)
    attributes = {names.ROW: cell.position, names.REPEAT: cell.repeat, names.ATTEMPT: number}
    with spans.opened(
        "row", attributes, apart=True, inherited={names.CONVERSATION: uuid4().hex}
    ) as span:
        attempted = await _attempt(context, cell, ledger, number)
        record = attempted.record
        span.set({names.OUTCOME: record.outcome, **usage_attributes(record.usage)})
        if not record.has_result or record.outcome == "crashed":
            span.fail(record.outcome)
        for alias, score in record.scores.items():
            _tell_score(span, alias, score)
        return attempted


def _tell_score(span: Span, alias: str, score: ScoreRecord) -> None:
    label = None if score.passed is None else "pass" if score.passed else "fail"
    span.event(
        names.EVALUATION_RESULT,
        {
            names.EVALUATION_NAME: alias,
            names.SCORE: score.score,
            names.SCORE_LABEL: label,
            names.EXPLANATION: score.reason,
        },
    )


async def _attempt(
    context: EvaluationContext, cell: RowCell, ledger: Ledger, number: int
) -> Attempted[ResultRecord]:
    started_at = datetime.now(UTC)
    call = context.rows.call(cell.row, cell.position)
    evaluators = context.evaluators_of(cell.row, cell.position)
    meter = _Meter(ledger)
    try:
        said = await _called(context, cell, call, meter)
    except (InputError, BudgetExhausted):
        raise
    except Exception as error:
        log_error(error)
        outcome = outcome_of(None, error)
        crashed = outcome == "crashed"
        record = ResultRecord(
            row=cell.position,
            repeat=cell.repeat,
            outcome=outcome,
            error=_error_text(error),
            scores={one.alias: _CRASHED for one in evaluators} if crashed else {},
            attempts=number,
            started_at=started_at,
            seconds=meter.seconds,
            usage=ledger.usage(),
            model_seconds=ledger.latencies(),
            user_tallies=meter.users_counts(),
        )
        return Attempted(record, replay=_another_may_help(error))
    scores = await _scored(context, cell, evaluators, said, meter)
    return Attempted(
        ResultRecord(
            row=cell.position,
            repeat=cell.repeat,
            outcome="answered",
            outputs=_keepable(said.answer.outputs),
            tool_calls=_keepable(said.answer.tool_calls),
            conversation=_keepable(said.conversation),
            scores=scores,
            attempts=number,
            started_at=started_at,
            seconds=meter.seconds,
            usage=ledger.usage(),
            model_seconds=ledger.latencies(),
            user_tallies=meter.users_counts(),
            trace_id=said.answer.trace_id,
        )
    )


@dataclass
class _Meter:
    """Counts what the workflow takes."""

    ledger: Ledger
    seconds: float = 0.0
    user: SimulatedUser | None = None
    """Who talks to the workflow, where somebody does."""

    def users_counts(self) -> Tallies:
        """What the user counted."""
        return tallies_of(getattr(self.user, "tallies", {}))


@dataclass(frozen=True)
class _Said:
    """What the workflow said, and what was said before, where there was a conversation."""

    answer: Answer
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """The inputs as evaluators see them."""
    conversation: list[dict[str, Any]] | None = None


async def _called(context: EvaluationContext, cell: RowCell, call: RowCall, meter: _Meter) -> _Said:
    if context.recordings is not None:
        find = partial(context.recordings, cell.row, cell.key)
        kept = await anyio.to_thread.run_sync(find)
        # Figures show what it took. It was paid for before, and is not taken from the budget.
        meter.ledger.add("agent", _completion(kept.answer))
        meter.seconds = kept.answer.seconds
        return _Said(kept.answer, call.inputs, kept.conversation)
    seed = cell_seed(context.config.seed, *cell.key)
    parameters = context.target.profile.seeded(context.config.parameters, seed)
    ask = partial(_answer, context, meter)
    if call.brief is None:
        answer = await ask(
            Call(inputs=call.inputs, parameters=parameters, session_id=new_session())
        )
        return _Said(answer, {**call.inputs, **call.told})
    talk = Talk(ask, call.inputs, parameters)
    meter.user = context.create_user(meter.ledger, _scope(context, cell), seed, cell.row)
    answer = await talk.hold(
        meter.user,
        context.instruction(call.brief),
        call.brief.max_turns or context.config.max_turns,
    )
    return _Said(answer, {**call.inputs, **call.brief.columns()}, talk.messages)


async def _answer(context: EvaluationContext, meter: _Meter, call: Call) -> Answer:
    """One answer of the workflow, which is counted at once: the next one may never come."""
    # A client keeps its own time, and does not count its waits for a busy server.
    near = context.target.profile.interface == "local"
    seconds = context.config.timeout if near else math.inf
    try:
        name = context.target.profile.name
        async with meter.ledger.call("agent", operation="invoke_agent", name=name) as count:
            with anyio.fail_after(seconds):
                answer = await context.target.call(call)
            count(_completion(answer))
    except TimeoutError as error:
        raise WorkflowUnavailable(f"It did not answer within {seconds:g} seconds.") from error
    except CallError as error:
        if error.status in _FORBIDDEN:
            raise InputError(str(error)) from error
        raise
    meter.seconds += answer.seconds
    return answer


def _completion(answer: Answer) -> Completion:
    """What an answer took."""
    return Completion(
        message={},
        prompt_tokens=answer.prompt_tokens or 0,
        completion_tokens=answer.completion_tokens or 0,
        cost=answer.cost,
    )


async def _scored(
    context: EvaluationContext,
    cell: RowCell,
    evaluators: Sequence[Evaluator],
    said: _Said,
    meter: _Meter,
) -> dict[str, ScoreRecord]:
    case = Case(
        inputs=said.inputs,
        outputs=said.answer.outputs,
        tool_calls=said.answer.tool_calls,
        expected=context.rows.expected(cell.row, said.answer.outputs),
        is_chat=context.rows.is_chat,
        conversation=said.conversation,
        seconds=meter.seconds,
        cost=total_cost(meter.ledger.usage().values()),
        parameters={**context.target.profile.parameters, **(context.config.parameters or {})},
        scope=_scope(context, cell),
        goals=context.goals_of(cell.row),
        ledger=meter.ledger,
    )
    scores: dict[str, ScoreRecord] = {}
    for evaluator in evaluators:
        own = case
        if (column := evaluator.expected_column) is not None:
            own = replace(case, expected=context.rows.expected(cell.row, case.outputs, column))
        score = (await _evaluated(evaluator, own)).record()
        shown = {"compared": _keepable(score.compared), "against": _keepable(score.against)}
        scores[evaluator.alias] = score.model_copy(update=shown)
    return scores


async def _evaluated(evaluator: Evaluator, case: Case) -> Score:
    if spans.active is None:
        return await evaluator.evaluate(case)
    with spans.opened(f"evaluate {evaluator.alias}", {names.EVALUATION_NAME: evaluator.alias}):
        return await evaluator.evaluate(case)


def _scope(context: EvaluationContext, cell: RowCell) -> str:
    return f"{context.config.seed}/{cell.position}/{cell.repeat}"


def _another_may_help(error: Exception) -> bool:
    # What was refused will be refused again; an overloaded server says so in another way.
    if isinstance(error, CallError) and not isinstance(error, WorkflowUnavailable):
        return error.status not in _REFUSED
    return True


def _error_text(error: Exception) -> str:
    kind = error.kind if isinstance(error, CallError) else type(error).__name__
    return redacted(f"{kind}: {error}" if kind else str(error))


def _keepable(value: Any) -> Any:
    """The value as JSON, which is what it is but for oddities such as NaN."""
    try:
        return json_value(value)
    except NotJson:
        return plain(value, DEEPEST)
