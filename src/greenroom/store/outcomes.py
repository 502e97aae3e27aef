"""How the cells of runs, evaluations and judgings end. A new outcome is one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

from greenroom.errors import GreenroomError

Outcome = Literal[
    "success",
    "failure",
    "max_steps",
    "max_time",
    "too_many_errors",
    "invalid",
    "context_window",
    "content_filter",
    "crashed",
    "answered",
    "infrastructure_error",
]
"""The names of the outcomes; `OUTCOMES` explains them."""

FailureKind = Literal[
    "infrastructure",
    "crashed",
    "max_time",
    "max_steps",
    "too_many_errors",
    "model_limit",
    "invalid_action",
    "call_as_text",
    "wrong_tool",
    "wrong_arguments",
    "extra_write",
    "user_ended_early",
    "missing_write",
    "user_action",
    "call_missing",
    "outputs_missing",
    "assertion_unmet",
    "judged_unmet",
    "other",
]
"""The kinds of failures; those that weigh more come first."""

NO_RESULT: Final = "infrastructure_error"
"""The outcome of a cell without a result: it is attempted again, and a result replaces it."""


@dataclass(frozen=True, slots=True)
class OutcomeInfo:
    """How an outcome is named, marked and explained."""

    label: str
    symbol: str
    plain_symbol: str
    """For terminals that only have ASCII."""
    meaning: str
    style: str = ""
    """The style on a console."""
    failure: tuple[FailureKind, str] | None = None
    """What an episode that ends so failed by: the kind, and how a sentence about it begins."""


OUTCOMES: Final[dict[str, OutcomeInfo]] = {
    "success": OutcomeInfo(
        "Solved", "✓", "+", "the conversation ended with reward 1", style="green"
    ),
    "failure": OutcomeInfo(
        "Not solved", "×", "x", "the conversation ended with a reward below 1", style="red"
    ),
    "max_steps": OutcomeInfo(
        "Out of steps",
        "S",
        "S",
        "it did not end within its steps",
        style="yellow",
        failure=("max_steps", "Not done"),
    ),
    "max_time": OutcomeInfo(
        "Out of time",
        "T",
        "T",
        "it did not end within its time",
        style="yellow",
        failure=("max_time", "Out of time"),
    ),
    "too_many_errors": OutcomeInfo(
        "Too many errors",
        "E",
        "E",
        "so many calls of the agent and the user failed that it was ended",
        style="yellow",
        failure=("too_many_errors", "Too many calls failed"),
    ),
    "invalid": OutcomeInfo(
        "No further action",
        "?",
        "?",
        "the agent stopped acting",
        style="magenta",
        failure=("invalid_action", "Gave no further action"),
    ),
    "context_window": OutcomeInfo(
        "Too long",
        "L",
        "L",
        "the conversation no longer fitted the model",
        style="yellow",
        failure=("model_limit", "Too long for the model"),
    ),
    "content_filter": OutcomeInfo(
        "Filtered",
        "F",
        "F",
        "the model's provider declined to answer",
        style="yellow",
        failure=("model_limit", "The provider declined to answer"),
    ),
    "crashed": OutcomeInfo(
        "Crashed",
        "C",
        "C",
        "the code of the agent or the workflow raised an error",
        style="bold red",
        failure=("crashed", "Its own code raised an error"),
    ),
    "passed": OutcomeInfo("Passed", "✓", "+", "every verdict is a pass", style="green"),
    "not_passed": OutcomeInfo(
        "Not passed", "×", "x", "an evaluator did not pass the answer", style="red"
    ),
    "answered": OutcomeInfo("Answered", "a", "a", "the workflow or the judge gave an answer"),
    "infrastructure_error": OutcomeInfo(
        "Infrastructure error",
        "!",
        "!",
        "something other than the agent broke: no reward",
        style="bold cyan",
        failure=("infrastructure", "Broken off by an error"),
    ),
    "missing": OutcomeInfo("Not played", "·", ".", "planned, but not played", style="dim"),
}
"""By name, in the order in which reports list them."""


def outcome_info(outcome: str) -> OutcomeInfo:
    """What is said of an outcome; an unknown one is shown under its own name."""
    return OUTCOMES.get(outcome) or OutcomeInfo(outcome, "#", "#", "")


def outcome_of(
    reward: float | None,
    problem: Exception | None = None,
    *,
    timed_out: bool = False,
    over: bool = False,
    too_many_errors: bool = False,
) -> Outcome:
    """How an episode ended.

    It has a reward if the conversation came to its end. An exception is a crash of the agent or the
    workflow, unless an error of ours that names another outcome is behind it.
    """
    if reward is not None:
        return "success" if reward == 1.0 else "failure"
    if problem is not None:
        return _outcome_named_by(problem) or "crashed"
    if timed_out:
        return "max_time"
    if too_many_errors:
        return "too_many_errors"
    return "max_steps" if over else "invalid"


def _outcome_named_by(problem: BaseException) -> Outcome | None:
    """The outcome that an error of ours names: this one, or one of those that led to it."""
    pending: list[BaseException | None] = [problem]
    seen: set[int] = set()
    while pending:
        error = pending.pop(0)
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        named: Outcome | None = getattr(error, "outcome", None)
        if isinstance(error, GreenroomError) and named in OUTCOMES:
            return named
        pending += [error.__cause__, None if error.__suppress_context__ else error.__context__]
        if isinstance(error, BaseExceptionGroup):
            pending += cast("BaseExceptionGroup[BaseException]", error).exceptions
    return None
