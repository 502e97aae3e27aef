"""What is kept of an episode itself: actions of both parties, steps, the task and the reward."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from greenroom.store.record import Record
from greenroom.trajectories import Basis, Party


class ActionRecord(Record):
    """An action of the ground truth, of the agent or of the user."""

    name: str
    kwargs: dict[str, Any] = Field(default_factory=dict[str, Any])
    writes: bool = False
    """The tool is one that changes the database."""
    party: Party = "agent"
    """Whose tool it is."""
    aside: str = ""
    """What the agent wrote along with the call; the user did not see it."""
    joined: bool = False
    """The call stood in the same message as the one before it."""


class UserCallRecord(Record):
    """A tool that the user called before they spoke."""

    action: ActionRecord
    observation: str
    invalid: str | None = None
    """Why the call was not a valid one, if so."""
    failed: bool = False
    """The tool raised."""


class StepRecord(Record):
    """One action and its observation."""

    action: ActionRecord
    observation: str
    source: str
    """Who answered: "user", or the name of the tool."""
    turn: int
    """The turn it belongs to, from 1: a turn ends with the agent's reply to the user."""
    invalid: str | None = None
    """Why the action was not a valid one, if so."""
    failed: bool = False
    """The tool raised."""
    user_calls: list[UserCallRecord] = Field(default_factory=list[UserCallRecord])
    """What the user did between hearing the agent and answering."""


class TaskRecord(Record):
    """The task as it was played."""

    instruction: str
    user_id: str = ""
    actions: list[ActionRecord] = Field(default_factory=list[ActionRecord])
    outputs: list[str] = Field(default_factory=list[str])
    id: str | None = None
    tags: list[str] = Field(default_factory=list[str])


class DifferenceRecord(Record):
    """A field of the databases that is not what the ground truth leaves behind."""

    table: str
    """Tables of the user's own world begin with "user."."""
    record: str
    path: str
    expected: Any = None
    actual: Any = None
    absent: Literal["expected", "actual"] | None = None
    """The side on which the field does not exist."""


class AssertionRecord(Record):
    """A function that looked at a party's world when the episode was over."""

    name: str
    kwargs: dict[str, Any] = Field(default_factory=dict[str, Any])
    party: Party = "agent"
    expected: bool = True
    met: bool = False
    """It gave the expected answer."""
    message: str | None = None
    error: str | None = None
    """What the function raised, if it did; then the assertion counts as not met."""


class ActionCheckRecord(Record):
    """An action of the ground truth, and whether somebody made such a call."""

    action: ActionRecord
    found: bool


class JudgedRecord(Record):
    """A sentence about the conversation, and what the judge said of it."""

    sentence: str
    met: bool | None = None
    """None: nobody has judged it."""
    reason: str = ""


class RewardRecord(Record):
    """The parts of a reward; the basis names those that count."""

    database: bool
    basis: list[Basis] = Field(default_factory=lambda: ["database", "outputs"])
    assertions: list[AssertionRecord] = Field(default_factory=list[AssertionRecord])
    actions: list[ActionCheckRecord] = Field(default_factory=list[ActionCheckRecord])
    judged: list[JudgedRecord] = Field(default_factory=list[JudgedRecord])
    outputs: dict[str, bool] = Field(default_factory=dict[str, bool])
    strict_outputs: dict[str, bool] = Field(default_factory=dict[str, bool])
    differences: list[DifferenceRecord] = Field(default_factory=list[DifferenceRecord])
    ground_truth_hash: str | None = None
    """Tau Bench's hash of the ground truth's database, kept for a task without outputs."""

    @property
    def parts(self) -> dict[Basis, bool | None]:
        """Every part that the task has, or that counts; None where a judge has to decide first."""
        verdicts = [one.met for one in self.judged]
        judged = False if False in verdicts else None if None in verdicts else True
        found: dict[Basis, bool | None] = {
            "database": self.database,
            "assertions": all(one.met for one in self.assertions),
            "actions": all(one.found for one in self.actions),
            "outputs": all(self.outputs.values()),
            "judged": judged,
        }
        present: dict[Basis, bool] = {
            "database": True,
            "assertions": bool(self.assertions),
            "actions": bool(self.actions),
            "outputs": bool(self.outputs),
            "judged": bool(self.judged),
        }
        return {name: met for name, met in found.items() if name in self.basis or present[name]}

    @property
    def without_judge(self) -> float:
        """The reward of all that needs no judge."""
        parts = self.parts
        return float(all(parts[name] for name in self.basis if name != "judged"))

    @property
    def unjudged(self) -> int:
        """How many sentences that count have not been judged."""
        return sum(one.met is None for one in self.judged) if "judged" in self.basis else 0
