"""Benchmark agents as chat workflows: the caller is the user, and every session has its own world.

An agent plays an episode as always, in a task of its own that lives as long as the session. A call
is one turn: its last message is what the user says, and what the agent responds is the answer. The
steps of the turn are sent as tool calls.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

import anyio
import orjson

from greenroom.benchmark.context import RunContext
from greenroom.benchmark.session import OVER, Agents, Message, Session, Turn, stopped
from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.workflows import Call, CallError, Workflow, chat_workflow

MAX_SESSIONS = 1000
"""Sessions at once; a new one replaces the idle session that was used least recently."""

MAX_IDLE_SECONDS = 3600.0
"""Sessions without a call for this long expire."""

SESSION_EXPIRED = "SessionExpired"
"""The kind of the error for a session that is gone, or that would have to go back."""

_KEYS_KEPT = 10_000
_GONE = 410
_UNAVAILABLE = 503


@dataclass
class AgentSessions:
    """The sessions of callers with agents of one kind."""

    context: RunContext
    task_index: int = 0
    """The task whose world is used; its instruction and its reward are not."""
    max_sessions: int = MAX_SESSIONS
    max_idle_seconds: float = MAX_IDLE_SECONDS
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict[str, "Session"])
    """By id, the least recently used first."""
    _transcripts: dict[str, list[Session]] = field(default_factory=dict[str, "list[Session]"])
    """Sessions of callers without ids, by what was said in them up to the last words or answer."""
    _expired: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    """Ids and transcripts of sessions that were dropped."""
    _past: OrderedDict[str, None] = field(default_factory=OrderedDict[str, None])
    """Transcripts that sessions have moved on from."""
    _agents: Agents | None = None

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
                self._agents = Agents(tasks, opened)
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
            said = [*history, {"role": "user", "content": words}]
            request, session_id = _key(said), None if call.new_session else call.session_id
            session, turn = self._find(session_id, history, request)
            self._rename(session, call.session_id)
            if turn is None:
                turn = session.hear(words, request)
                if session_id is None and _has_begun(history):
                    self._know(session, request)
            async with aclosing(session.answer(turn)) as pieces:
                async for piece in pieces:
                    yield piece
                    if piece.get("role") == "assistant":
                        session.transcript = _key([*said, piece])
                        if session_id is None:
                            self._know(session, session.transcript)

        return converse

    def _find(
        self, session_id: str | None, history: list[Message], request: str
    ) -> tuple[Session, Turn | None]:
        """The session of a call, new if it begins one, and the turn if it was asked for before.

        Raises a CallError if the session has expired, or if the call goes back in it.
        """
        self._drop_idle(self.max_idle_seconds, keep=math.inf)
        begun, transcript = _has_begun(history), _key(history)
        if session_id is None:
            # A first message is never taken for a repeated one: others may begin with the same.
            keys = [transcript, request] if begun else []
            known = [one for key in keys for one in self._transcripts.get(key, ())]
            name, session = transcript, known[0] if known else None
        else:
            name, session = session_id, self._sessions.get(session_id)
        if session is not None and session.over and not begun:
            self._forget(session)
            del self._sessions[session.id]
            return self._start(), None
        if session is not None and (begun or session.turns == 1):
            last = session.last
            if last is not None and last.request == request:
                return session, last
        goes_back = session is None or session.transcript != transcript
        if begun and goes_back and transcript in self._past:
            raise _gone("This session has moved on, and its world cannot go back.")
        if session is None and name in self._expired:
            raise _gone("This session has expired.")
        if session is None and begun:
            raise _gone("This session is not known here: its world is gone.")
        if session is None:
            return self._start(), None
        self._forget(session)
        if session.transcript == transcript:
            _note(self._past, transcript)
        session.used = anyio.current_time()
        self._sessions.move_to_end(session.id)
        return session, None

    def _start(self) -> Session:
        if self._agents is None:
            raise stopped()
        self._drop_idle(self.max_idle_seconds, keep=self.max_sessions - 1)
        if len(self._sessions) >= self.max_sessions:
            raise CallError(
                f"All {self.max_sessions} sessions are busy. Try again soon.",
                status=_UNAVAILABLE,
                kind="SessionsBusy",
            )
        session = Session(self.task_index, self._agents)
        self._sessions[session.id] = session
        self._agents.tasks.start_soon(session.play)
        return session

    def _rename(self, session: Session, session_id: str | None) -> None:
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
            _note(self._expired, session.id, *session.keys)
            self._forget(session)

    def _know(self, session: Session, key: str) -> None:
        """Know a session without an id by what was said in it."""
        if key not in session.keys:
            session.keys.append(key)
            self._transcripts.setdefault(key, []).append(session)

    def _forget(self, session: Session) -> None:
        for key in session.keys:
            found = self._transcripts[key]
            found.remove(session)
            if not found:
                del self._transcripts[key]
        session.keys.clear()


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


def _key(messages: list[Message]) -> str:
    """A key for what user and assistant said; a new one if nothing was said yet."""
    said = [
        [message.get("role"), text]
        for message in messages
        if message.get("role") in ("user", "assistant")
        and (text := text_of(message.get("content")))
    ]
    return sha256(orjson.dumps(said)).hexdigest() if said else uuid4().hex


def _note(keys: OrderedDict[str, None], *added: str) -> None:
    keys.update(dict.fromkeys(added))
    while len(keys) > _KEYS_KEPT:
        keys.popitem(last=False)


def _gone(why: str) -> CallError:
    text = f"{why} Begin another one with a new session id."
    return CallError(text, status=_GONE, kind=SESSION_EXPIRED)


__all__ = ["MAX_IDLE_SECONDS", "MAX_SESSIONS", "OVER", "SESSION_EXPIRED", "AgentSessions"]
