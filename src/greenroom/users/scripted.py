"""A user with scripted messages and calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from greenroom.domains.tasks import STOP, Action
from greenroom.errors import InputError
from greenroom.users.requests import DONE, requested_calls
from greenroom.users.strategies import Exchanges, UserStrategy

if TYPE_CHECKING:
    from greenroom.domains.environment import UserTools


class ScriptedUser:
    """Opens with the instruction or the first line, then says its lines and stops.

    A line that is an action is a call of one of the user's tools, made before the next message.
    With `does_as_asked`, the user makes the calls that an agent's request names and says so.
    """

    def __init__(
        self,
        replies: Iterable[str | Action] = (),
        *,
        opening: str | None = None,
        opening_calls: Iterable[Action] = (),
        does_as_asked: bool = False,
    ) -> None:
        self._opening = opening
        self._opening_calls = tuple(opening_calls)
        self._lines = tuple(replies)
        self._remaining = iter(self._lines)
        self._does_as_asked = does_as_asked
        self._tools: UserTools | None = None

    def equip(self, tools: UserTools) -> None:
        self._tools = tools

    async def open(self, instruction: str) -> str:
        self._remaining = iter(self._lines)
        for call in self._opening_calls:
            await self._make(call)
        return instruction if self._opening is None else self._opening

    async def reply(self, content: str) -> str:
        asked = requested_calls(content) if self._does_as_asked and self._tools else []
        for call in asked:
            await self._make(call)
        if asked:
            return DONE
        for line in self._remaining:
            if isinstance(line, str):
                return line
            await self._make(line)
        return STOP

    def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        """Go on behind the lines that were said."""
        self._remaining = iter(self._lines)
        said = 0
        while said < len(exchanges) and (line := next(self._remaining, None)) is not None:
            said += isinstance(line, str)

    async def _make(self, call: Action) -> None:
        if self._tools is None:
            raise InputError(
                f"The script calls {call.name}, but users have no tools in this domain."
            )
        await self._tools.call(call.name, call.kwargs, joined=call.joined)


strategy = UserStrategy(
    "scripted",
    lambda _: ScriptedUser(does_as_asked=True),
    "says its instruction, does what a rehearsal asks for, then stops",
)
