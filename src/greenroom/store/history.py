"""What a thread holds, now and before each change: lists of the ids of its turns.

Changes are kept, not lists, so that a long thread stays small. Nothing is forgotten: what was
undone before another change becomes part of the past, as in Emacs.
"""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, Field


class Change(NamedTuple):
    """Ids that took the place of others."""

    start: int
    removed: list[str]
    added: list[str]

    @property
    def inverse(self) -> Change:
        """The change that takes this one back."""
        return Change(self.start, self.added, self.removed)

    def applied(self, turns: list[str]) -> list[str]:
        """The list after the change."""
        end = self.start + len(self.removed)
        return [*turns[: self.start], *self.added, *turns[end:]]


class History(BaseModel):
    """The turns of a thread, and the changes that led to them."""

    turns: list[str] = Field(default_factory=list[str])
    changes: list[Change] = Field(default_factory=list[Change])
    undone: int = 0
    """How many of the last changes are taken back."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self.undone < len(self.changes)

    @property
    def can_redo(self) -> bool:
        """Whether a change was taken back."""
        return self.undone > 0

    def changed(self, turns: list[str]) -> History:
        """The history with another list; the same list is no change."""
        if turns == self.turns:
            return self
        past = list(self.changes)
        if self.undone:
            past += [one.inverse for one in reversed(past[-self.undone :])]
        return History(turns=turns, changes=[*past, _difference(self.turns, turns)])

    def undo(self) -> History:
        """The history with its last change taken back."""
        change = self.changes[len(self.changes) - self.undone - 1]
        return History(
            turns=change.inverse.applied(self.turns),
            changes=self.changes,
            undone=self.undone + 1,
        )

    def redo(self) -> History:
        """The history with the change made again that was taken back last."""
        change = self.changes[len(self.changes) - self.undone]
        return History(
            turns=change.applied(self.turns), changes=self.changes, undone=self.undone - 1
        )


def _difference(before: list[str], after: list[str]) -> Change:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    same = 0
    while same < shorter - start and before[-1 - same] == after[-1 - same]:
        same += 1
    return Change(start, before[start : len(before) - same], after[start : len(after) - same])
