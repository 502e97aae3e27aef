"""Evaluators: what they are given, what they say, and how one is described."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from pydantic import Field, model_validator

from greenroom.models.client import ModelClient
from greenroom.models.purses import Ledger
from greenroom.models.types import Model, ModelSettings
from greenroom.options import Settings
from greenroom.store import ScoreRecord
from greenroom.users.conditions import Goal


@dataclass(frozen=True, kw_only=True)
class Case:
    """One output of a workflow, with everything that an evaluator may want to know of it."""

    inputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the workflow was given; a chat workflow's history is `messages`."""
    outputs: Any
    """What it returned, unchanged."""
    expected: Any | None = None
    """What it should have returned; None where nobody said."""
    is_chat: bool = False
    """The workflow's flag: what is compared is the last thing that the assistant said."""
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Calls that the workflow made itself and told as events: id, name and input."""
    conversation: list[dict[str, Any]] | None = None
    """All messages, where there was more than one call, as with a simulated user."""
    seconds: float | None = None
    cost: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    """The configuration that the workflow was called with."""
    scope: str = ""
    """Sets apart what must not share a judge's kept answers: evaluation, row and repeat, say."""
    goals: Sequence[Goal] = ()
    """When the user has what they want, as far as a script says so."""
    ledger: Ledger = field(default_factory=Ledger, compare=False)
    """Where everything that is paid for this case is counted."""

    def fields(self) -> dict[str, Any]:
        """What a function or a server of one's own is told of the case."""
        return {name: getattr(self, name) for name in CASE_FIELDS}


CASE_FIELDS = (
    *("inputs", "outputs", "expected", "is_chat"),
    *("tool_calls", "conversation", "parameters", "seconds", "cost"),
)


@dataclass(frozen=True)
class Score:
    """What an evaluator says of a case, and exactly what it compared with what."""

    score: float | None
    """From 0 to 1; None where there is none, which is not 0."""
    passed: bool | None = None
    compared: Any = None
    against: Any = None
    reason: str = ""
    broken: bool = False
    """There is no score because the evaluator itself did not work; another try may help."""

    def __post_init__(self) -> None:
        if self.score is not None and not 0.0 <= self.score <= 1.0:
            if math.isnan(self.score):
                object.__setattr__(self, "score", None)
            else:
                raise ValueError(f"a score is a number from 0 to 1, not {self.score:g}")

    def record(self) -> ScoreRecord:
        """The score as it is kept."""
        return ScoreRecord(**vars(self))


def verdict(passed: bool, compared: Any, against: Any, reason: str) -> Score:
    """A plain yes or no."""
    return Score(1.0 if passed else 0.0, passed, compared, against, reason)


class Unscored(Exception):
    """There is nothing to score here; the text says why. It becomes a score of None."""

    def __init__(
        self, reason: str, *, compared: Any = None, against: Any = None, broken: bool = False
    ) -> None:
        super().__init__(reason)
        self.score = Score(None, None, compared, against, reason, broken)


class Missed(Exception):
    """The output lacks what was to be compared; the text says what. It becomes a score of 0."""

    def __init__(self, reason: str, *, compared: Any = None, against: Any = None) -> None:
        super().__init__(reason)
        self.score = verdict(False, compared, against, reason)


OpenModel = Callable[[ModelSettings], ModelClient | Model]
"""What gives an evaluator the model it asks. Its owner closes the model."""


@dataclass(frozen=True)
class EvaluatorContext:
    """What an evaluator is made from besides its settings."""

    models: OpenModel | None = None
    """Without it, an evaluator that asks a model opens one of its own."""


class Scorer(Protocol):
    """Scores cases."""

    @property
    def settings(self) -> Settings:
        """The settings as they are kept: complete, so that the same scorer can be made again."""
        ...

    async def evaluate(self, case: Case) -> Score:
        """The score of a case; may raise Unscored or Missed instead."""
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


class ExpectingSettings(Settings):
    """Settings of evaluators that compare the output with what is expected."""

    expected: str | None = Field(
        default=None,
        min_length=1,
        description="The column with what this evaluator expects; by default that of all.",
    )

    @model_validator(mode="after")
    def _says_it_once(self) -> Self:
        for name in ("values", "value", "pattern", "calls"):
            if self.expected is not None and getattr(self, name, None) is not None:
                raise ValueError(f"{name} and expected exclude each other")
        return self


@dataclass(frozen=True)
class EvaluatorKind:
    """How evaluators of a kind are made; registered by entry point under its name."""

    name: str
    create: Callable[[Any, EvaluatorContext], Scorer]
    """Makes one from checked settings."""
    settings: type[Settings]
    summary: str = ""
    """What it checks, in a line."""
    by_rows: bool = False
    """Rows of a test set may name it: it only looks at the case, and runs no code of others."""
    needs_goals: Callable[[Mapping[str, Any]], bool] = lambda _: False
    """Whether, with these settings, it can only score rows whose user has goals in a script."""


@dataclass(frozen=True)
class PlainScorer:
    """A scorer that is a function of settings and case."""

    settings: Any
    function: Callable[[Any, Case], Score]

    async def evaluate(self, case: Case) -> Score:
        """The function's score."""
        return self.function(self.settings, case)

    async def close(self) -> None:
        """Nothing is open."""


def plain_kind(
    name: str, function: Callable[[Any, Case], Score], settings: type[Settings], summary: str
) -> EvaluatorKind:
    """A kind whose evaluators are a function of settings and case."""
    return EvaluatorKind(
        name, lambda chosen, _: PlainScorer(chosen, function), settings, summary, by_rows=True
    )
