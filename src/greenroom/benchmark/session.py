"""One session of a served agent: an agent in an environment, and the turns of its callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from greenroom.agents import Stage
from greenroom.benchmark.context import RunContext
from greenroom.domains.environment import Environment, UserTools
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError, redacted
from greenroom.models.purses import Ledger
from greenroom.store import Usage
from greenroom.tracing import spans
from greenroom.users.commands import is_command, read_command
from greenroom.util.exits import no_exit
from greenroom.workflows import CallError

OVER = "This conversation is over. Begin another one with a new session id."

_UNAVAILABLE = 503
_SERVER_ERROR = 500

Message = dict[str, Any]


@dataclass(frozen=True)
class Agents:
    """What is open while sessions are running."""

    tasks: TaskGroup
    context: RunContext


class Turn:
    """What the caller says, and the pieces of the answer; several callers may follow it."""

    def __init__(self, words: str, request: str) -> None:
        self.words = words
        self.request = request
        """The key of what was said up to these words."""
        self._pieces: list[Message] = []
        self._ended = False
        self._error: CallError | None = None
        self._more = anyio.Event()
        self.place = None if spans.active is None else spans.active.place()
        """The span of the call: what the agent does for its answer is a part of it."""

    def tell(self, piece: Message) -> None:
        """Send a piece."""
        self._pieces.append(piece)
        self._wake()

    def end(self, error: CallError | None = None) -> None:
        """End the answer."""
        self._ended, self._error = True, error
        self._wake()

    async def pieces(self) -> AsyncGenerator[Message]:
        """The pieces of the answer from its beginning; raises the error that ended it."""
        place = 0
        while not self._ended or place < len(self._pieces):
            if place < len(self._pieces):
                yield self._pieces[place]
                place += 1
            else:
                await self._more.wait()
        if self._error is not None:
            raise self._error

    def _wake(self) -> None:
        self._more.set()
        self._more = anyio.Event()


class Session:
    """One agent in one environment; it is the agent's user, and says what callers say.

    In a domain where users act, a caller who says /call NAME key=value ... calls a tool of the
    user, and gets its result instead of an answer of the agent; /tools lists them.
    """

    def __init__(self, task_index: int, agents: Agents) -> None:
        self.id = uuid4().hex
        self.transcript = ""
        """The key of what was said so far."""
        self.keys: list[str] = []
        """The keys by which it is known to callers without ids."""
        self.turns = 0
        self.last: Turn | None = None
        """The last turn: a call that repeats its request gets the same answer."""
        self.used = anyio.current_time()
        self.over = False
        self._task_index = task_index
        self._agents = agents
        self._turns: asyncio.Queue[Turn] = asyncio.Queue()
        self._turn: Turn | None = None
        self._callers = 0
        self._scope = anyio.CancelScope()
        self._tools: UserTools | None = None
        self._ledger = Ledger()
        self._reported: Usage | None = None
        self._place = None if spans.active is None else spans.active.moving()

    @property
    def busy(self) -> bool:
        """Whether a call waits for an answer, or the agent works on one."""
        return self._callers > 0 or self._turn is not None or not self._turns.empty()

    def hear(self, words: str, request: str) -> Turn:
        """A turn for these words; the turns of a session are played one after the other."""
        self.turns += 1
        self.last = turn = Turn(words, request)
        if self.over:
            turn.tell({"role": "assistant", "content": OVER})
            turn.end()
        else:
            self._turns.put_nowait(turn)
        return turn

    async def answer(self, turn: Turn) -> AsyncGenerator[Message]:
        """The agent's answer, and what it does on the way."""
        self._callers += 1
        try:
            async with aclosing(turn.pieces()) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self._callers -= 1
            self.used = anyio.current_time()

    def stop(self) -> None:
        """Stop playing."""
        self._scope.cancel()

    async def play(self) -> None:
        """Play the episode; in the end every waiting call is answered."""
        error: CallError | None = stopped()
        try:
            with self._scope, nullcontext() if self._place is None else self._place.entered():
                try:
                    await self._play_episode()
                    error = None
                except Exception as problem:
                    error = _failure(problem)
        finally:
            self.over = True
            self._end_turns(error)

    async def open(self, instruction: str) -> str:
        """As the agent's user: the first words of the conversation."""
        return await self._next_words()

    async def reply(self, content: str) -> str:
        """As the agent's user: pass on what the agent says, and wait for the next words."""
        self._report_usage()
        self._answer(content)
        return await self._next_words()

    def tell(self, piece: Message) -> None:
        """Tell the caller something on the way."""
        if self._turn is not None:
            self._turn.tell(piece)

    def equip(self, tools: UserTools) -> None:
        """As the agent's user: the tools that the caller may call by /call."""
        self._tools = tools

    async def _next_words(self) -> str:
        while True:
            self._turn = await self._turns.get()
            if self._place is not None:
                self._place.move(self._turn.place)
            words = self._turn.words
            if self._tools is None or not is_command(words):
                return words
            # The caller acts, and hears what comes of it; the agent does not.
            command = read_command(self._tools, words)
            if not isinstance(command, str):
                command = await self._tools.call(command.name, command.kwargs)
            self._answer(command)

    def _answer(self, content: str) -> None:
        if self._turn is not None:
            self._turn.tell({"role": "assistant", "content": content})
            self._turn.end()
            self._turn = None

    def _end_turns(self, error: CallError | None) -> None:
        while True:
            if self._turn is not None and error is not None:
                self._turn.end(error)
            else:
                self._answer(OVER)
            if self._turns.empty():
                self._turn = None
                return
            self._turn = self._turns.get_nowait()

    def _report_usage(self) -> None:
        used = self._ledger.usage().get("agent")
        if used is None:
            return
        before, self._reported = self._reported or Usage(cost=0.0), used
        known = used.cost is not None and before.cost is not None
        self.tell(
            {
                "type": "usage",
                "prompt_tokens": used.prompt_tokens - before.prompt_tokens,
                "completion_tokens": used.completion_tokens - before.completion_tokens,
                "cost": (used.cost or 0.0) - (before.cost or 0.0) if known else None,
            }
        )

    async def _play_episode(self) -> None:
        run = self._agents.context
        trial = uuid4().int % (1 << 31)
        context = run.agent_context(self._task_index, trial, self._ledger, scope=uuid4().hex)
        agent = run.strategy.create(context)
        environment = Environment(run.domain, self, split=run.split, max_steps=run.max_steps)
        await environment.reset(self._task_index)
        with no_exit():
            await agent.play(_SessionStage(environment, self))


class _SessionStage(Stage):
    """A stage that tells the caller about every step."""

    __slots__ = ("_session",)

    def __init__(self, environment: Environment, session: Session) -> None:
        super().__init__(environment)
        self._session = session

    async def step(self, action: Action) -> str:
        if action.name == RESPOND:
            return await super().step(action)
        call_id = f"call_{uuid4().hex[:8]}"
        told = {"id": call_id, "name": action.name, "input": dict(action.kwargs)}
        self._session.tell({"type": "tool_call", **told})
        observation = await super().step(action)
        self._session.tell({"type": "tool_result", "id": call_id, "output": observation})
        return observation


def _failure(problem: Exception) -> CallError:
    kind = type(problem).__name__
    text = str(problem) if isinstance(problem, InputError) else f"{kind}: {problem}"
    return CallError(redacted(text), status=_SERVER_ERROR, kind=kind)


def stopped() -> CallError:
    """The error of calls that wait when the server stops."""
    return CallError("The server has been stopped.", status=_UNAVAILABLE, kind="Stopped")
