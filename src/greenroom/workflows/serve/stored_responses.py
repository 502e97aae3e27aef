"""Responses that are read again, and that later ones continue: in memory, within limits."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from greenroom.util.json_values import encoded

Json = dict[str, Any]

MAX_RESPONSES = 1000
"""Responses at once; a new one replaces the one that was used least recently."""
MAX_RESPONSE_BYTES = 64 << 20
"""Bytes of all their conversations together."""
MAX_IDLE_SECONDS = 3600.0
"""Responses that nobody continues for this long are forgotten."""


@dataclass(frozen=True)
class StoredResponse:
    """What was said up to a response, its own words included."""

    workflow: str
    session_id: str
    messages: list[Json] = field(repr=False)
    response: Json = field(repr=False)
    """What was answered; later requests may refer to the items of its output."""
    size: int
    used: float


@dataclass
class StoredResponses:
    """The responses of a server, by their ids."""

    max_responses: int = MAX_RESPONSES
    max_bytes: int = MAX_RESPONSE_BYTES
    max_idle_seconds: float = MAX_IDLE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[str, StoredResponse] = field(
        default_factory=OrderedDict[str, StoredResponse]
    )
    """The least recently used first."""
    _items: dict[str, tuple[str, Json]] = field(default_factory=dict[str, "tuple[str, Json]"])
    """The items of all, each with its workflow."""
    _bytes: int = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._kept)

    def keep(
        self,
        response: Json,
        workflow: str,
        session_id: str,
        messages: list[Json],
    ) -> None:
        """Keep a response with all that was said; others make room."""
        size = len(encoded(messages)) + len(encoded(response))
        self._kept[response["id"]] = StoredResponse(
            workflow, session_id, messages, response, size, self.clock()
        )
        self._items |= {one["id"]: (workflow, one) for one in response["output"]}
        self._bytes += size
        self._make_room()

    def find(self, identity: str, workflow: str) -> StoredResponse | None:
        """A response of a workflow; None if there is none, or no more."""
        self._make_room()
        found = self._kept.get(identity)
        if found is None or found.workflow != workflow:
            return None
        self._kept.move_to_end(identity)
        self._kept[identity] = used = replace(found, used=self.clock())
        return used

    def find_item(self, identity: str, workflow: str) -> Json | None:
        """An item of a workflow's responses; None if there is none, or no more."""
        owner, item = self._items.get(identity, (None, None))
        return item if owner == workflow else None

    def forget(self, identity: str) -> None:
        """Keep a response no longer."""
        one = self._kept.pop(identity)
        self._bytes -= one.size
        for item in one.response["output"]:
            self._items.pop(item["id"], None)

    def _make_room(self) -> None:
        oldest = self.clock() - self.max_idle_seconds
        while self._kept:
            first = next(iter(self._kept.values()))
            crowded = len(self._kept) > self.max_responses or self._bytes > self.max_bytes
            if not crowded and first.used >= oldest:
                return
            self.forget(next(iter(self._kept)))
