"""What is kept of regradings: the episodes of a run, graded again without being played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from greenroom.store.outcomes import Outcome
from greenroom.store.records import (
    CellKey,
    CellRecord,
    ExcludedTask,
    RunJobRecord,
    TaskSetRecord,
)
from greenroom.store.trajectory_records import RewardRecord
from greenroom.trajectories import Basis

Flip = Literal["up", "down"]
"""A reward that became 1, or 0."""


class GradeRecord(CellRecord):
    """An episode's second grade, beside the first.

    The outcome is that of the second grade. A grade that was refused is `answered`: there is a
    reason, and no reward.
    """

    task_index: int
    """The task's place in the run."""
    trial: int
    task_id: str | None = None
    """The id of the task that it is graded by now."""
    before: float | None = None
    """The reward that the episode has in its run."""
    reward: float | None = None
    """The reward now; None if it was refused."""
    details: RewardRecord | None = None
    """The parts of the reward now; None where the episode did not come to its end."""
    refused: str | None = None
    """Why there is no second grade."""
    reasons: list[str] = Field(default_factory=list[str])
    """What makes the difference between the two grades."""
    changed_answers: int = 0
    """Calls that only read, and that fail now or failed then."""

    kept_verdicts: int = 0
    """Sentences whose verdict is that of the run's own judge."""

    @property
    def key(self) -> CellKey:
        """The episode's place in its run."""
        return self.task_index, self.trial

    @property
    def flip(self) -> Flip | None:
        """How the second grade differs; None if it does not, or if there is none."""
        if self.reward is None or self.before is None or self.reward == self.before:
            return None
        return "up" if self.reward > self.before else "down"


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What is counted of a second grade."""

    task_index: int
    trial: int
    outcome: Outcome
    before: float | None
    reward: float | None


class RegradingRecord(RunJobRecord):
    """The episodes of a run, graded again."""

    pack: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What they are graded by: the pack's name, version, source and licence."""
    run_pack: dict[str, Any] = Field(default_factory=dict[str, Any])
    """What they were played on."""
    task_set: TaskSetRecord | None = None
    """Hashes of what they are graded by; None in regradings of older versions."""
    run_task_set: TaskSetRecord | None = None
    """Hashes of what they were played on, where the run has them."""
    task_split: str = ""
    """The split whose tasks they are graded by."""
    excluded: list[ExcludedTask] = Field(default_factory=list[ExcludedTask])
    """Tasks whose episodes are left out."""
    judge: str = ""
    """The judge's model; empty without one."""
    judge_prompt: str = ""
    """What tells versions of its question apart."""
    basis: list[Basis] = Field(default_factory=list[Basis])
    """The parts that count, where they are not those of the tasks."""
