"""A user with scripted messages."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.domains.tasks import STOP
from greenroom.users.strategies import UserStrategy


class ScriptedUser:
    """Opens with the instruction or the first line, then says its lines and stops."""

    def __init__(self, replies: Iterable[str] = (), *, opening: str | None = None) -> None:
        self._opening = opening
        self._lines = tuple(replies)
        self._remaining = iter(self._lines)

    async def open(self, instruction: str) -> str:
        self._remaining = iter(self._lines)
        return instruction if self._opening is None else self._opening

    async def reply(self, content: str) -> str:
        return next(self._remaining, STOP)


strategy = UserStrategy(
    "scripted", lambda _: ScriptedUser(), "says its instruction, then stops: for rehearsals"
)
