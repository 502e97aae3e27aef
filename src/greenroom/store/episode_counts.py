"""What reports count of an episode, kept beside its record: so reports need not read trajectories.

It is worked out when an episode is kept, by `greenroom.analysis.counts`. Episodes of older versions
have none, and are counted from their records. What is kept here outlives the trajectory.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from math import inf
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from greenroom.store.record import Record
from greenroom.store.tallies import Tallies
from greenroom.util.raw_json import record_of

COUNTS_VERSION = 1
"""Changes whenever the same episode would be counted in another way."""

Seconds = Annotated[
    float, BeforeValidator(lambda v: 0.0 if v is None or v != v or v in (inf, -inf) else v)
]
"""A time span. A number that no database holds (NaN, infinity) is 0."""


class ToolCounts(NamedTuple):
    """How an episode used one tool."""

    calls: int
    writes: int
    errors: int
    """Calls that the tool refused."""
    invalid: int
    """Calls that were not valid."""


class JudgedCounts(Record):
    """What a judge decided of an episode, and what the reward is without it."""

    without_judge: int
    """The reward of all that needs no judge."""
    sentences: int = 0
    """Sentences that count."""
    accepted: int = 0
    rejected: int = 0
    unjudged: int = 0
    reasons: dict[str, int] = Field(default_factory=dict[str, int])
    """Why sentences are not judged, with how often; empty where no reason was given."""


class EpisodeCounts(Record):
    """What is counted of an episode beyond the columns that every result has."""

    counted: int = 0
    """The version of what follows; 0 where nothing was counted."""
    steps: int = 0
    turns: int = 0
    instruction: str = ""
    tags: list[str] = Field(default_factory=list[str])
    """Of the task."""
    wanted: list[str] = Field(default_factory=list[str])
    """The tools of the ground truth, each once."""
    tools: dict[str, ToolCounts] = Field(default_factory=dict[str, ToolCounts])
    """What the agent called, by name."""
    user_tools: dict[str, ToolCounts] = Field(default_factory=dict[str, ToolCounts])
    """What the user called."""
    turn_seconds: list[Seconds] = Field(default_factory=list[float])
    model_seconds: dict[str, list[Seconds]] = Field(default_factory=dict[str, list[float]])
    played: str = ""
    """The same for episodes that ended alike and went alike, step by step; empty without a step."""
    crash: str = ""
    """What the agent's own code raised."""
    judged: JudgedCounts | None = None
    """None for an episode whose reward was not worked out in parts."""
    facts: dict[str, str] = Field(default_factory=dict[str, str])
    tallies: Tallies = Field(default_factory=Tallies)
    user_tallies: Tallies = Field(default_factory=Tallies)
    diagnosis: str = ""
    """Why it failed, as JSON; empty for one that did not."""


class PrunedRecord(Record):
    """That an episode's conversation was pruned, and what was known of it before."""

    at: datetime
    digest: str
    """The sha256 of the episode as it was kept until then: claim cards name it."""
    counted: str
    """What was counted of it, as JSON."""

    @cached_property
    def counts(self) -> EpisodeCounts:
        """What was counted of it."""
        return record_of(EpisodeCounts, self.counted)

    def __str__(self) -> str:
        return f"its conversation was pruned on {self.at:%Y-%m-%d}"
