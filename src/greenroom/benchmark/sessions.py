"""Benchmark agents as chat workflows: the caller is the user, and every session has its own world.

An agent plays an episode as always, in a task of its own that lives as long as the session. A call
is one turn: its last message is what the user says, and what the agent responds is the answer. The
steps of the turn are sent as tool calls.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

import anyio
import orjson
from anyio.abc import TaskGroup

from greenroom.agents import Stage
from greenroom.benchmark.context import RunContext
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError, redacted
from greenroom.messages import text_of
from greenroom.models.purses import Ledger
from greenroom.store import Usage
from greenroom.workflows import Call, CallError, Workflow, chat_workflow

MAX_SESSIONS = 1000
"""Sessions at once; a new one replaces the idle session that was used least recently."""

MAX_IDLE_SECONDS = 3600.0
"""Sessions without a call for this long expire."""

OVER = "This conversation is over. Begin another one with a new session id."

_EXPIRED_KEPT = 10_000
_GONE = 410
_UNAVAILABLE = 503
_SERVER_ERROR = 500

Message = dict[str, Any]


@dataclass(frozen=True)
class _Agents:
    """What is open while sessions are running."""

    tasks: TaskGroup
    context: RunContext


@dataclass
class AgentSessions:
    """The sessions of callers with agents of one kind."""

    context: RunContext
    task_index: int = 0
    """The task whose world is used; its instruction and its reward are not."""
    max_sessions: int = MAX_SESSIONS
    max_idle_seconds: float = MAX_IDLE_SECONDS
    _sessions: OrderedDict[str, _Session] = field(default_factory=OrderedDict[str, "_Session"])
    """By id, the least recently used first."""
    _transcripts: dict[str, list[_Session]] = field(default_factory=dict[str, "list[_Session]"])
    """Sessions of callers without ids, by what was said in them."""
    _expired: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    """Ids and transcripts of sessions that were dropped."""
    _agents: _Agents | None = None

    def __post_init__(self) -> None:
        if self.context.strategy.reads_script or self.context.strategy.create_user is not None:
            raise InputError(
                f"The {self.context.strategy.name} agent plays from a script and cannot be talked "
                "to. Serve one that asks a model, such as tool-calling."
            )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answer calls while the block runs; its end ends all sessions."""
        try:
            async with self.context.opened() as opened, anyio.create_task_group() as tasks:
                self._agents = _Agents(tasks, opened)
                try:
                    yield
                finally:
                    self._agents = None
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:  # sessions raise nothing: this is the block's own
            if len(group.exceptions) == 1:
                raise group.exceptions[0] from None
            raise

    def workflow(self) -> Workflow:
        """The chat workflow whose every session is a conversation with its own agent."""
        strategy, env = self.context.strategy.name, self.context.domain.name

        @chat_workflow(
            name=f"{strategy}-{env}",
            description=f"The {strategy} agent in the {env} domain; one world for each session.",
        )
        async def converse(messages: list[Message], call: Call) -> AsyncGenerator[Any]:
            history, words = _split(messages)
            session_id = None if call.new_session else call.session_id
            session = self._find(session_id, history) or self._start()
            self._rename(session, call.session_id)
            async with aclosing(session.hear(words)) as pieces:
                async for piece in pieces:
                    yield piece
                    if session_id is None and piece.get("role") == "assistant":
                        said = [*history, {"role": "user", "content": words}, piece]
                        session.transcript = _transcript_key(said)
                        self._transcripts.setdefault(session.transcript, []).append(session)

        return converse

    def _find(self, session_id: str | None, history: list[Message]) -> _Session | None:
        """The session that a call continues; raises a CallError if it has expired."""
        self._drop_idle(self.max_idle_seconds, keep=math.inf)
        if session_id is None:
            key = _transcript_key(history)
            session = next(iter(self._transcripts.get(key, [])), None)
        else:
            key, session = session_id, self._sessions.get(session_id)
        if session is not None:
            self._forget_transcript(session)
            if session.over and not _has_begun(history):
                del self._sessions[session.id]
                return None
            session.used = anyio.current_time()
            self._sessions.move_to_end(session.id)
        elif key in self._expired or _has_begun(history):
            why = "has expired" if key in self._expired else "is not known here: its world is gone"
            raise CallError(
                f"This session {why}. Begin another one with a new session id.",
                status=_GONE,
                kind="SessionExpired",
            )
        return session

    def _start(self) -> _Session:
        if self._agents is None:
            raise _stopped()
        self._drop_idle(self.max_idle_seconds, keep=self.max_sessions - 1)
        if len(self._sessions) >= self.max_sessions:
            raise CallError(
                f"All {self.max_sessions} sessions are busy. Try again soon.",
                status=_UNAVAILABLE,
                kind="SessionsBusy",
            )
        session = _Session(self.task_index, self._agents)
        self._sessions[session.id] = session
        self._agents.tasks.start_soon(session.play)
        return session

    def _rename(self, session: _Session, session_id: str | None) -> None:
        """Know the session by the id of its last answer."""
        if session_id is not None:
            del self._sessions[session.id]
            session.id = session_id
            self._sessions[session_id] = session

    def _drop_idle(self, seconds: float, keep: float) -> None:
        """Drop sessions that are idle for longer than this, or beyond the number to keep."""
        now = anyio.current_time()
        for session in list(self._sessions.values()):
            if session.busy:
                continue
            if now - session.used <= seconds and len(self._sessions) <= keep:
                return
            session.stop()
            del self._sessions[session.id]
            self._expired |= {session.id: None, session.transcript: None}
            self._forget_transcript(session)
        while len(self._expired) > _EXPIRED_KEPT:
            self._expired.popitem(last=False)

    def _forget_transcript(self, session: _Session) -> None:
        if session in (found := self._transcripts.get(session.transcript, [])):
            found.remove(session)
            if not found:
                del self._transcripts[session.transcript]


class _Turn:
    """What the caller says, and the pieces of the answer."""

    def __init__(self, words: str) -> None:
        self.words = words
        self._send, self._pieces = anyio.create_memory_object_stream[Message](math.inf)
        self._error: CallError | None = None

    def tell(self, piece: Message) -> None:
        """Send a piece; drop it if the caller has disconnected."""
        with suppress(anyio.BrokenResourceError):
            self._send.send_nowait(piece)

    def end(self, error: CallError | None = None) -> None:
        """End the answer."""
        self._error = error
        self._send.close()

    async def pieces(self) -> AsyncGenerator[Message]:
        """The pieces of the answer; raises the error that ended it."""
        with self._pieces:
            async for piece in self._pieces:
                yield piece
        if self._error is not None:
            raise self._error


class _Session:
    """One agent in one environment; it is the agent's user, and says what callers say."""

    def __init__(self, task_index: int, agents: _Agents) -> None:
        self.id = uuid4().hex
        self.transcript = ""
        """The key of what was said so far, for callers without ids."""
        self.used = anyio.current_time()
        self.over = False
        self._task_index = task_index
        self._agents = agents
        self._turns: asyncio.Queue[_Turn] = asyncio.Queue()
        self._turn: _Turn | None = None
        self._callers = 0
        self._scope = anyio.CancelScope()
        self._ledger = Ledger()
        self._reported: Usage | None = None

    @property
    def busy(self) -> bool:
        """Whether a call waits for an answer, or the agent works on one."""
        return self._callers > 0 or self._turn is not None or not self._turns.empty()

    async def hear(self, words: str) -> AsyncGenerator[Message]:
        """The agent's answer, and what it does on the way; calls of one session take turns."""
        if self.over:
            yield {"role": "assistant", "content": OVER}
            return
        turn = _Turn(words)
        self._turns.put_nowait(turn)
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
        error: CallError | None = _stopped()
        try:
            with self._scope:
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

    async def _next_words(self) -> str:
        self._turn = await self._turns.get()
        return self._turn.words

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
        run, config = self._agents.context, self._agents.context.config
        trial = uuid4().int % (1 << 31)
        context = run.agent_context(self._task_index, trial, self._ledger, scope=uuid4().hex)
        agent = run.strategy.create(context)
        environment = Environment(
            run.domain, self, split=config.task_split, max_steps=config.max_num_steps
        )
        await environment.reset(self._task_index)
        await agent.play(_SessionStage(environment, self))


class _SessionStage(Stage):
    """A stage that tells the caller about every step."""

    __slots__ = ("_session",)

    def __init__(self, environment: Environment, session: _Session) -> None:
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


def _split(messages: list[Message]) -> tuple[list[Message], str]:
    """What was said before, and the user's last words."""
    for place in reversed(range(len(messages))):
        if messages[place].get("role") == "user":
            words = text_of(messages[place].get("content"))
            if words.strip():
                return messages[:place], words
            break
    raise InputError("There is no message of the user to answer.")


def _has_begun(history: list[Message]) -> bool:
    """Whether the user spoke before; a greeting of the assistant alone is no conversation."""
    return any(one.get("role") == "user" for one in history)


def _transcript_key(messages: list[Message]) -> str:
    """A key for what user and assistant said; a new one if nothing was said yet."""
    said = [
        [message.get("role"), text]
        for message in messages
        if message.get("role") in ("user", "assistant")
        and (text := text_of(message.get("content")))
    ]
    return sha256(orjson.dumps(said)).hexdigest() if said else uuid4().hex


def _failure(problem: Exception) -> CallError:
    kind = type(problem).__name__
    text = str(problem) if isinstance(problem, InputError) else f"{kind}: {problem}"
    return CallError(redacted(text), status=_SERVER_ERROR, kind=kind)


def _stopped() -> CallError:
    return CallError("The server has been stopped.", status=_UNAVAILABLE, kind="Stopped")


__all__ = ["MAX_IDLE_SECONDS", "MAX_SESSIONS", "OVER", "AgentSessions"]
