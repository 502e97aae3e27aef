"""The worlds of an episode: the agent's, and the user's where the domain gives them one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from greenroom.domains.world import RecordKey

if TYPE_CHECKING:
    from greenroom.domains.tasks import Party
    from greenroom.domains.world import Changes, Record, World

USER_TABLES: Final = "user."
"""Begins the names of the user's tables where both worlds are shown together."""


@dataclass(slots=True)
class Worlds:
    """Both parties' worlds; they may be the same object."""

    agent: World
    user: World | None = None

    def of(self, party: Party) -> World:
        """The world that a party's tools work on."""
        if party == "agent":
            return self.agent
        # Without a world of their own, the user's tools work on the agent's.
        return self.agent if self.user is None else self.user

    def changes(self) -> Changes:
        """The records of both that differ from their bases."""
        changed = self.agent.changes()
        if self.user is None or self.user is self.agent:
            return changed
        own = self.user.changes()
        return changed | {
            RecordKey(f"{USER_TABLES}{place.table}", place.id): text for place, text in own.items()
        }

    def record(self, place: RecordKey) -> Record | None:
        """A record of either world, by its place in `changes`."""
        if self.user is not None and place.table.startswith(USER_TABLES):
            table = place.table.removeprefix(USER_TABLES)
            return self.user.record(RecordKey(table, place.id))
        return self.agent.record(place)

    def is_new(self, place: RecordKey) -> bool:
        """Whether the base has no such record, by its place in `changes`."""
        if self.user is not None and place.table.startswith(USER_TABLES):
            return place.id not in self.user.base.encoded(place.table.removeprefix(USER_TABLES))
        return place.id not in self.agent.base.encoded(place.table)

    def touched_records(self) -> list[dict[str, str]]:
        """The overlays as text; equal texts mean equal worlds."""
        touched = [self.agent.touched_records()]
        if self.user is not None and self.user is not self.agent:
            touched.append(self.user.touched_records())
        return touched
