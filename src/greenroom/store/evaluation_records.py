"""What is kept of test sets and evaluations."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import Field, field_validator

from greenroom.store.columns import ColumnRecord
from greenroom.store.outcomes import NO_RESULT, Outcome
from greenroom.store.record import Record
from greenroom.store.records import AnyUsage, CellKey, CellRecord, JobRecord, small_usage
from greenroom.store.tallies import Tallies

_FORMER_OUTCOMES = {"ok": "answered", "error": "infrastructure_error"}
"""What older databases and exports call them."""


class TestSetVersion(Record):
    """One version of a test set; it never changes."""

    __test__: ClassVar[bool] = False  # pytest must not take it for a test

    test_set_id: str
    name: str
    """The test set's name."""
    version: int
    """From 1."""
    created_at: datetime
    note: str = ""
    """What changed, as its author put it."""
    columns: list[ColumnRecord]
    """In the order in which they first appear."""
    row_count: int
    content_hash: str
    """The same for the same rows in the same order."""

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class ScoreRecord(Record):
    """What one evaluator made of one output."""

    score: float | None
    """From 0 to 1; None where there is no score, which is not 0."""
    passed: bool | None = None
    compared: Any = None
    """What was looked at: the text of the last assistant message, say."""
    against: Any = None
    """What it was compared with."""
    reason: str = ""
    broken: bool = False
    """There is no score because the evaluator itself did not work."""

    @field_validator("score")
    @classmethod
    def _unscored_is_none(cls, score: float | None) -> float | None:
        return None if score is None or math.isnan(score) else score


class ResultRecord(CellRecord):
    """One row of a test set, given to a workflow once: the answer and its scores."""

    row: int
    """The row's position in the test set, from 0."""
    repeat: int = 0
    outputs: Any = None
    """What the workflow returned, unchanged."""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """Calls that the workflow made itself and told as events."""
    conversation: list[dict[str, Any]] | None = None
    """All messages, where a simulated user talked to the workflow."""
    scores: dict[str, ScoreRecord] = Field(default_factory=dict[str, ScoreRecord])
    """By the evaluator's alias."""
    trace_id: str | None = None
    user_tallies: Tallies = Field(default_factory=Tallies)
    """What the simulated user counted, by what it is of."""

    @field_validator("outcome", mode="before")
    @classmethod
    def _present_name(cls, outcome: str) -> str:
        return _FORMER_OUTCOMES.get(outcome, outcome)

    @property
    def key(self) -> CellKey:
        """Its place in the evaluation."""
        return self.row, self.repeat

    @property
    def solved(self) -> bool | None:
        """Whether it passed every evaluator with a verdict; None without a verdict."""
        return all_passed(score.passed for score in self.scores.values())


def all_passed(verdicts: Iterable[bool | None]) -> bool | None:
    """Several verdicts in one; None if there is none."""
    given = [verdict for verdict in verdicts if verdict is not None]
    return all(given) if given else None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What is counted of a score."""

    score: float | None
    passed: bool | None
    broken: bool = False
    reason: str = ""
    """Why it is not a pass, where its record was read."""


_NOTHING: Mapping[str, Any] = {}


@lru_cache(maxsize=65536)
def _shared_score(
    score: float | None, passed: bool | None, broken: bool, reason: str
) -> ScoreSummary:
    """Results have few different scores: each is in memory once."""
    return ScoreSummary(score, passed, broken, reason)


@dataclass(frozen=True, slots=True)
class ResultSummary:
    """What is counted of a result; without what was said, so that many fit into memory."""

    row: int
    repeat: int
    outcome: Outcome
    seconds: float
    cost: float | None
    usage: Mapping[str, AnyUsage]
    error: str | None
    scores: dict[str, ScoreSummary]
    question: str = ""
    groups: Sequence[str] = ()
    """The groups that it belongs to, where slices are wanted."""
    model_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    user_tallies: Mapping[str, Mapping[str, float | None]] = field(default_factory=Tallies)

    @classmethod
    def of(
        cls, result: ResultRecord, question: str = "", groups: Sequence[str] = ()
    ) -> ResultSummary:
        """What is counted of a result, with all that its record knows."""
        copied = ("row", "repeat", "outcome", "seconds", "cost", "error")
        return cls(
            **{name: getattr(result, name) for name in copied},
            scores={
                alias: _shared_score(
                    one.score, one.passed, one.broken, "" if one.passed else one.reason
                )
                for alias, one in result.scores.items()
            },
            usage=small_usage(result.usage) if result.usage else _NOTHING,
            question=question,
            groups=groups,
            model_seconds={k: array("d", v) for k, v in result.model_seconds.items()}
            if result.model_seconds
            else _NOTHING,
            user_tallies=result.user_tallies or _NOTHING,
        )

    @property
    def has_result(self) -> bool:
        """Whether the workflow answered."""
        return self.outcome != NO_RESULT

    @property
    def solved(self) -> bool | None:
        """Whether it passed every evaluator with a verdict; None without a verdict."""
        return all_passed(score.passed for score in self.scores.values())


def score_of(result: ResultRecord | ResultSummary, alias: str) -> float | None:
    """The score that one evaluator gave; None where it gave none."""
    score = result.scores.get(alias)
    return None if score is None else score.score


class EvaluationRecord(JobRecord):
    """A workflow over a test set, and how its answers are scored."""

    workflow: str
    """The workflow's address, or file.py:name."""
    is_chat: bool = False
    test_set_id: str
    test_set_name: str
    test_set_version: int
    evaluators: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """Name, alias and settings of each; for those that only rows name, `rows` instead."""
    row_count: int
    """How many rows are evaluated: the first ones of the test set, or all."""
    repeats: int = 1
    judge_check: dict[str, Any] | None = None
    """What it found, where it is a check of a judge that is over."""

    @property
    def planned(self) -> int:
        """How many cells make up the whole evaluation: rows x repeats."""
        return self.row_count * self.repeats
