"""The harness owns the user's turn: an agent that ends its turn has spoken to the user.

    async def take_turn(message: str) -> str | None:
        ...  # act through the turns' `step`, then return what the user should read

    await Turns(stage).play(take_turn)

The user's answer is the next message, until the user stops or no step is left. While a turn runs,
the agent acts through side doors: tools that call `Turns.step`. So an agent needs no tool for
speaking, and one that stops after a message has not given up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from greenroom.domains.tasks import RESPOND, respond
from greenroom.errors import EpisodeOver, GreenroomError
from greenroom.trajectories import NOTICE
from greenroom.util.characters import writable

if TYPE_CHECKING:
    from greenroom.agents.strategies import Stage
    from greenroom.domains.tasks import Action
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import ChatMessage

SILENT_LIMIT = 5
"""How many turns without a word, one after the other, end the episode."""

_SILENT = f"{NOTICE}it was empty. Write what the user should read."

TakeTurn = Callable[[str], Awaitable[str | None]]
"""Takes what the user said; gives what the agent answers, or None if it gives up."""


class OutOfTurn(GreenroomError):
    """The agent acts where it may not: the text says why."""


class TurnTimedOut(GreenroomError):
    """A turn took longer than it may."""

    outcome = "max_time"


class Turns:
    """An episode as turns, and the stage for whatever acts while one of them runs."""

    def __init__(self, stage: Stage, *, silent_limit: int = SILENT_LIMIT) -> None:
        self.policy = stage.policy
        self.tool_infos: list[ToolInfo] = stage.tool_infos
        self.messages: list[ChatMessage] = list(stage.opening_messages)
        """What was said so far: the last message is the user's while the agent has its turn."""
        self._stage = stage
        self._silent_limit = silent_limit
        self._lock = anyio.Lock()
        self._turn: anyio.CancelScope | None = None
        self._problem: Exception | None = None

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self._stage.over

    @property
    def last_failed(self) -> bool:
        """Whether the last step was a call that failed."""
        return self._stage.last_failed

    async def step(self, action: Action) -> str:
        """Call a tool within the turn; return the observation.

        Raises OutOfTurn if it is not the agent's turn, and EpisodeOver if no step is left.
        """
        if action.name == RESPOND:
            raise OutOfTurn("There is no tool for speaking: end the turn with the message.")
        async with self._lock:  # one after the other, whoever calls
            turn = self._turn
            if turn is None:
                raise OutOfTurn("It is not the agent's turn.")
            try:
                observation = await self._stage.step(action)
            except EpisodeOver:
                raise
            except Exception as problem:
                self.fail(problem)
                raise
            if self._stage.over:
                turn.cancel()
        return observation

    def fail(self, problem: Exception) -> None:
        """End the episode with a problem: something that is not the agent broke behind a door."""
        self._problem = self._problem or problem
        if self._turn is not None:
            self._turn.cancel()

    async def play(self, take_turn: TakeTurn) -> None:
        """Play turn by turn; returns when the episode is over, or the agent gave up."""
        heard, silent = self._stage.opening, 0
        while not self._stage.over and silent < self._silent_limit:
            said = await self._taken(take_turn, heard)
            if said is None or self._stage.over:
                return
            words = writable(said)
            if not words.strip():
                heard, silent = _SILENT, silent + 1
                continue
            silent = 0
            self.messages.append({"role": "assistant", "content": words})
            async with self._lock:
                heard = await self._stage.step(respond(words))
            self.messages.append({"role": "user", "content": heard})

    async def _taken(self, take_turn: TakeTurn, heard: str) -> str | None:
        if self._problem is not None:  # since the last turn
            raise self._problem
        said: str | None = None
        with anyio.CancelScope() as self._turn:
            try:
                said = await take_turn(heard)
            except Exception as error:
                # Whatever the agent makes of it, the first cause counts.
                if self._problem is not None:
                    raise self._problem from error
                raise
            finally:
                self._turn = None
        if self._problem is not None:
            raise self._problem
        return said


__all__ = ["SILENT_LIMIT", "OutOfTurn", "TakeTurn", "TurnTimedOut", "Turns"]
