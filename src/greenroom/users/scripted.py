"""A user who says what was written down beforehand."""

from __future__ import annotations

from collections.abc import Iterable

from greenroom.domains.tasks import STOP
from greenroom.users.strategies import UserContext, UserStrategy


class ScriptedUser:
    """Opens with the instruction, or with the first line given, then says its lines and stops."""

    def __init__(self, replies: Iterable[str] = (), *, opening: str | None = None) -> None:
        self._opening = opening
        self._lines = tuple(replies)
        self._remaining = iter(self._lines)

    async def open(self, instruction: str) -> str:
        self._remaining = iter(self._lines)
        return instruction if self._opening is None else self._opening

    async def reply(self, content: str) -> str:
        return next(self._remaining, STOP)


def _create(context: UserContext) -> ScriptedUser:
    return ScriptedUser()


strategy = UserStrategy("scripted", _create, "says its instruction, then stops: for rehearsals")
