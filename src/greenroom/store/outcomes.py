"""How the cells of runs, evaluations and judgings end. A new outcome is one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Outcome = Literal[
    "success",
    "failure",
    "max_steps",
    "max_time",
    "invalid",
    "context_window",
    "content_filter",
    "answered",
    "infrastructure_error",
]
"""The names of the outcomes; `OUTCOMES` explains them."""

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


OUTCOMES: Final[dict[str, OutcomeInfo]] = {
    "success": OutcomeInfo(
        "Solved", "✓", "+", "the conversation ended with reward 1", style="green"
    ),
    "failure": OutcomeInfo("Not solved", "×", "x", "the conversation ended with less", style="red"),
    "max_steps": OutcomeInfo(
        "Out of steps", "S", "S", "it did not end within its steps", style="yellow"
    ),
    "max_time": OutcomeInfo(
        "Out of time", "T", "T", "it did not end within its time", style="yellow"
    ),
    "invalid": OutcomeInfo(
        "No further action", "?", "?", "the agent stopped acting", style="magenta"
    ),
    "context_window": OutcomeInfo(
        "Too long", "L", "L", "the conversation no longer fitted the model", style="yellow"
    ),
    "content_filter": OutcomeInfo(
        "Filtered", "F", "F", "the model's provider declined to answer", style="yellow"
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
    ),
    "missing": OutcomeInfo("Not played", "·", ".", "planned, but not played", style="dim"),
}
"""By name, in the order in which reports list them."""


def outcome_info(outcome: str) -> OutcomeInfo:
    """What is said of an outcome; an unknown one is shown under its own name."""
    return OUTCOMES.get(outcome) or OutcomeInfo(outcome, "#", "#", "")


def outcome_of(reward: float) -> Outcome:
    """The outcome of a conversation that came to its end with this reward."""
    return "success" if reward == 1.0 else "failure"
