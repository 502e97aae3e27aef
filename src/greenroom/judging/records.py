"""What a judge says of a failed episode, and how such judgements add up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from greenroom.store.records import Record, Usage

FaultAuthor = Literal["user", "agent", "environment"]
"""Whose doing a failure is.

user          the simulated user strayed from its instruction, or made things up
agent         the agent did, said or left undone what it should not have
environment   the tools, the data, or a task whose ground truth does not follow from it
"""

FaultKind = Literal[
    "called_wrong_tool", "used_wrong_tool_argument", "goal_partially_completed", "other"
]
"""What an agent did wrong, in Tau Bench's words."""


class FaultJudgement(Record):
    """A judge's verdict on one failed episode.

    Without an error it is complete: an author, and a kind if the author is the agent. With one,
    what was settled before the judge failed is kept, and nothing is made up for the rest.
    """

    task_index: int
    trial: int
    author: FaultAuthor | None = None
    author_description: str | None = None
    kind: FaultKind | None = None
    kind_description: str | None = None
    model: str
    """The judge."""
    usage: Usage = Field(default_factory=Usage)
    """What the judgement took, unusable answers included."""
    error: str | None = None
    """Why there is no complete verdict, if so."""


class FaultSummary(Record):
    """Judgements counted."""

    judged: int
    """Episodes with a complete verdict."""
    without_verdict: int
    """Episodes whose judge gave none that can be used; they are in none of the counts."""
    by_author: dict[FaultAuthor, int]
    by_kind: dict[FaultKind, int]
    """Of the episodes whose failure is the agent's."""
    usage: Usage


def added(usages: Iterable[Usage]) -> Usage:
    """Usages in one; a cost is None as soon as one that asked anything has no known price."""
    all_of_them = list(usages)
    counted = {
        name: sum(getattr(usage, name) for usage in all_of_them)
        for name in Usage.model_fields
        if not name.endswith("cost")
    }
    return Usage(
        **counted,
        cost=_cost((usage.calls, usage.cost) for usage in all_of_them),
        cached_cost=_cost((usage.cached_calls, usage.cached_cost) for usage in all_of_them),
    )


def _cost(sides: Iterable[tuple[int, float | None]]) -> float | None:
    """The sum of what calls cost."""
    costs = [cost for calls, cost in sides if calls]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
