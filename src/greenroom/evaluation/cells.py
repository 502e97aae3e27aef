"""One cell of an evaluation: a row is given to the workflow, and what comes back is scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio

from greenroom.errors import InputError, redacted
from greenroom.evaluation.config import EvaluationConfig
from greenroom.evaluation.evaluators import Case, Evaluator
from greenroom.evaluation.parties import Parties, cell_seed
from greenroom.evaluation.row_calls import RowCall, RowPlan
from greenroom.evaluation.simulated import Talk
from greenroom.models import Budget, BudgetExhausted, Completion, Ledger
from greenroom.store import CellKey, ResultRecord, ScoreRecord, Usage
from greenroom.workflows.call.chat_session import new_session
from greenroom.workflows.calls import Answer, Call, CallError, Target, WorkflowUnavailable
from greenroom.workflows.declare.outputs import NotJson, json_value

_FORBIDDEN = (401, 403)
_REFUSED = range(400, 500)


@dataclass(frozen=True)
class Bench:
    """All that the cells of an evaluation share."""

    config: EvaluationConfig
    target: Target
    plan: RowPlan
    evaluators: Sequence[Evaluator]
    parties: Parties


@dataclass(frozen=True)
class Cell:
    """A row of the test set that is to be given to the workflow once."""

    position: int
    repeat: int
    row: Mapping[str, Any]

    @property
    def key(self) -> CellKey:
        """What it is kept under."""
        return self.position, self.repeat


@dataclass(frozen=True)
class Tried:
    """What came of an attempt at a cell, and whether another one may help."""

    record: ResultRecord
    again: bool = False


async def try_cell(bench: Bench, cell: Cell, ledger: Ledger, *, attempt: int = 1) -> Tried:
    """Call the workflow with a row and score what it says.

    Whatever breaks on the way becomes the record's error. Only what a person has to mend, an
    InputError, and a budget that is used up are raised. The ledger holds what it took, come what
    may.
    """
    started_at = datetime.now(UTC)
    call = bench.plan.call(cell.row, cell.position)
    meter = _Meter(ledger, bench.parties.budget)
    try:
        said = await _called(bench, cell, call, meter)
    except (InputError, BudgetExhausted):
        raise
    except Exception as error:
        again = _another_may_help(error)
        if isinstance(error, CallError):
            ledger.add_failure("agent", 0, cost=None)
        record = ResultRecord(
            row=cell.position,
            repeat=cell.repeat,
            outcome="error",
            error=_error_text(error),
            attempts=attempt,
            started_at=started_at,
            seconds=meter.seconds,
            usage=ledger.usage(),
        )
        return Tried(record, again)
    scores = await _scored(bench, cell, call, said, meter)
    usage = ledger.usage()
    return Tried(
        ResultRecord(
            row=cell.position,
            repeat=cell.repeat,
            outcome="ok",
            outputs=_keepable(said.answer.outputs),
            conversation=_keepable(said.conversation),
            scores=scores,
            attempts=attempt,
            started_at=started_at,
            seconds=meter.seconds,
            cost=_cost(usage),
            usage=usage,
            trace_id=said.answer.trace_id,
        )
    )


@dataclass
class _Meter:
    """Counts what the workflow takes."""

    ledger: Ledger
    budget: Budget
    seconds: float = 0.0

    def add(self, answer: Answer) -> None:
        prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
        self.seconds += answer.seconds
        self.budget.spend(answer.cost, prompt + completion)
        self.ledger.add(
            "agent",
            Completion(
                message={},
                prompt_tokens=prompt,
                completion_tokens=completion,
                cost=answer.cost,
            ),
        )


@dataclass(frozen=True)
class _Said:
    """What the workflow said, and what was said before, where there was a conversation."""

    answer: Answer
    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """The inputs as evaluators see them."""
    conversation: list[dict[str, Any]] | None = None


async def _called(bench: Bench, cell: Cell, call: RowCall, meter: _Meter) -> _Said:
    ask, parameters = partial(_answer, bench, meter), bench.config.parameters
    if call.brief is None:
        answer = await ask(
            Call(inputs=call.inputs, parameters=parameters, session_id=new_session())
        )
        return _Said(answer, call.inputs)
    talk = Talk(ask, call.inputs, parameters)
    seed = cell_seed(bench.config.seed, *cell.key)
    answer = await talk.hold(
        bench.parties.user(meter.ledger, _scope(bench, cell), seed),
        bench.parties.told(call.brief),
        call.brief.max_turns or bench.config.max_turns,
    )
    return _Said(answer, {**call.inputs, **call.brief.columns()}, talk.messages)


async def _answer(bench: Bench, meter: _Meter, call: Call) -> Answer:
    """One answer of the workflow, which is counted at once: the next one may never come."""
    bench.parties.budget.check()
    # A client keeps its own time, and does not count its waits for a busy server.
    near = bench.target.profile.interface == "local"
    seconds = bench.config.timeout if near else math.inf
    try:
        with anyio.fail_after(seconds):
            answer = await bench.target.call(call)
    except TimeoutError as error:
        raise WorkflowUnavailable(f"It did not answer within {seconds:g} seconds.") from error
    except CallError as error:
        if error.status in _FORBIDDEN:
            raise InputError(str(error)) from error
        raise
    meter.add(answer)
    return answer


async def _scored(
    bench: Bench, cell: Cell, call: RowCall, said: _Said, meter: _Meter
) -> dict[str, ScoreRecord]:
    case = Case(
        inputs=said.inputs,
        outputs=said.answer.outputs,
        expected=call.expected,
        is_chat=bench.plan.is_chat,
        conversation=said.conversation,
        seconds=meter.seconds,
        cost=_cost(meter.ledger.usage()),
        parameters={**bench.target.profile.parameters, **(bench.config.parameters or {})},
        scope=_scope(bench, cell),
        ledger=meter.ledger,
    )
    scores: dict[str, ScoreRecord] = {}
    for evaluator in bench.evaluators:
        score = (await evaluator.evaluate(case)).record()
        shown = {"compared": _keepable(score.compared), "against": _keepable(score.against)}
        scores[evaluator.alias] = score.model_copy(update=shown)
    return scores


def _scope(bench: Bench, cell: Cell) -> str:
    return f"{bench.config.seed}/{cell.position}/{cell.repeat}"


def _another_may_help(error: Exception) -> bool:
    # What was refused will be refused again; an overloaded server says so in another way.
    if isinstance(error, CallError) and not isinstance(error, WorkflowUnavailable):
        return error.status not in _REFUSED
    return True


def _error_text(error: Exception) -> str:
    kind = error.kind if isinstance(error, CallError) else type(error).__name__
    return redacted(f"{kind}: {error}" if kind else str(error))


def _cost(usage: Mapping[str, Usage]) -> float | None:
    costs = [used.cost for used in usage.values()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _keepable(value: Any) -> Any:
    """The value as JSON, which is what it is but for oddities such as NaN."""
    try:
        return json_value(value)
    except NotJson:
        return repr(value)
