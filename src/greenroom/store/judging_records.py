"""What is kept of judgings: a model's verdicts on the failed episodes of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from greenroom.store.outcomes import NO_RESULT, Outcome
from greenroom.store.records import CellKey, CellRecord, RunJobRecord

FaultAuthor = Literal["user", "agent", "environment"]
"""Whose doing a failure is.

user          the simulated user left its instruction, or made things up
agent         the agent did or said something wrong, or left something undone
environment   the tools, the data, or a task whose ground truth does not follow from it
"""

FaultKind = Literal[
    "called_wrong_tool", "used_wrong_tool_argument", "goal_partially_completed", "other"
]
"""What an agent did wrong, in Tau Bench's words."""


class JudgementRecord(CellRecord):
    """A judge's verdict on one failed episode.

    An answered judgement is complete: an author, and a kind if the author is the agent. With an
    error, it holds what was settled before the judge failed, and nothing else.
    """

    task_index: int
    trial: int
    author: FaultAuthor | None = None
    author_description: str | None = None
    author_words: str | None = None
    """What the user said that shows their fault, as the judge quotes it."""
    kind: FaultKind | None = None
    kind_description: str | None = None

    @property
    def key(self) -> CellKey:
        """The episode's place in its run."""
        return self.task_index, self.trial


@dataclass(frozen=True, slots=True)
class JudgementSummary:
    """What is counted of a judgement."""

    task_index: int
    trial: int
    outcome: Outcome
    author: FaultAuthor | None
    kind: FaultKind | None

    @property
    def has_result(self) -> bool:
        """Whether the judge gave a complete verdict."""
        return self.outcome != NO_RESULT


class JudgingRecord(RunJobRecord):
    """A judge over the failed episodes of a run."""

    judge: str
    """The judge's model."""
    judge_prompt: str = ""
    """What tells versions of its questions apart."""
