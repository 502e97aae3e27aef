"""Benchmark agents as chat workflows: whoever calls is the user, with a world for each session.

An agent plays an episode as always. Its user is the caller: what the agent responds is the answer
to a call, and the session's next message is what the user replies. Steps on the way are told as
tool calls of the workflow's own.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

import anyio
import orjson

from greenroom.agents import Stage
from greenroom.benchmark.context import RunContext
from greenroom.domains.actions import RESPOND, Action
from greenroom.domains.environment import Environment
from greenroom.errors import InputError, redacted
from greenroom.messages import text_of
from greenroom.models.purses import Ledger
from greenroom.store import Usage
from greenroom.workflows import Workflow, chat_workflow

MOST_SESSIONS = 256
"""Sessions that are kept; the one that was silent for longest makes room."""

OVER = "This conversation is over. Begin another one with a new session id."


@dataclass
class AgentSessions:
    """The conversations that callers have with agents of one kind."""

    context: RunContext
    task_index: int = 0
    """Whose world it is: the database of every task is the same, the reward is not asked for."""
    most: int = MOST_SESSIONS
    _sessions: OrderedDict[str, _Conversation] = field(
        default_factory=OrderedDict[str, "_Conversation"]
    )
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _opening: anyio.Lock = field(default_factory=anyio.Lock)
    _opened_context: RunContext | None = None

    def __post_init__(self) -> None:
        if self.context.strategy.reads_script or self.context.strategy.create_user is not None:
            raise InputError(
                f"The {self.context.strategy.name} agent plays from a script: nobody can talk to "
                "it. Serve one that asks a model, such as tool-calling."
            )

    def workflow(self) -> Workflow:
        """The chat workflow whose every session is a conversation with an agent of its own."""
        name = f"{self.context.strategy.name}-{self.context.domain.name}"

        @chat_workflow(
            name=name,
            description=f"The {self.context.strategy.name} agent in the {self.context.domain.name}"
            " domain; one world for each session.",
        )
        async def converse(
            messages: list[dict[str, Any]], session_id: str | None = None
        ) -> AsyncGenerator[Any]:
            words = _last_words(messages)
            conversation = await self._conversation(session_id, messages)
            async for piece in conversation.hear(words):
                yield piece
                if session_id is None and piece.get("role") == "assistant":
                    self._keep(_transcript_key([*messages, piece]), conversation)

        return converse

    async def close(self) -> None:
        """End all conversations and let go of what the agents share."""
        for conversation in self._sessions.values():
            await conversation.end()
        self._sessions.clear()
        await self._open.aclose()

    async def _conversation(
        self, session_id: str | None, messages: list[dict[str, Any]]
    ) -> _Conversation:
        opened = await self._opened()
        if session_id is None:
            # Clients of OpenAI's have no sessions: a conversation is known by what was said in it.
            key = _transcript_key(messages[:-1])
            return self._sessions.pop(key, None) or _Conversation(opened, self.task_index)
        found = self._sessions.get(session_id)
        if found is None or (found.over and _is_opening(messages)):
            found = _Conversation(opened, self.task_index)
        self._keep(session_id, found)
        return found

    def _keep(self, key: str, conversation: _Conversation) -> None:
        self._sessions[key] = conversation
        self._sessions.move_to_end(key)
        while len(self._sessions) > self.most:
            _, longest_silent = self._sessions.popitem(last=False)
            longest_silent.stop()

    async def _opened(self) -> RunContext:
        async with self._opening:
            if self._opened_context is None:
                opened = await self._open.enter_async_context(self.context.opened())
                self._opened_context = opened
        return self._opened_context


class _Conversation:
    """One agent, one environment, and the caller as its user."""

    def __init__(self, context: RunContext, task_index: int) -> None:
        self._context = context
        self._task_index = task_index
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        self._told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._playing: asyncio.Task[None] | None = None
        self._turn = anyio.Lock()
        self._asked = 0
        self._said = 0
        self._delivered = 0
        self._ledger = Ledger()
        self._used: Usage | None = None

    @property
    def over(self) -> bool:
        """The agent plays no more."""
        # What it may still have to tell is for callers who left.
        return self._playing is not None and self._playing.done()

    async def hear(self, words: str) -> AsyncGenerator[Any]:
        """The agent's answer to the user's words, and what it does on the way."""
        # Calls of one session wait for each other: it is one conversation.
        async with self._turn:
            if self.over:
                yield {"role": "assistant", "content": OVER}
                return
            self._heard.put_nowait(words)
            self._asked += 1
            if self._playing is None:
                self._playing = asyncio.create_task(self._play())
            while True:
                piece = await self._told.get()
                if isinstance(piece.get("raise"), Exception):
                    raise piece["raise"]
                answered = piece.get("role") == "assistant"
                # What callers who left were to hear is nobody's any more.
                if self._delivered == self._asked - 1:
                    yield piece
                self._delivered += answered
                if self._delivered == self._asked:
                    return

    def stop(self) -> None:
        """Stop playing, soon."""
        if self._playing is not None:
            self._playing.cancel()

    async def end(self) -> None:
        """Stop playing, and wait for it."""
        self.stop()
        if self._playing is not None:
            with suppress(asyncio.CancelledError):
                await self._playing

    async def open(self, instruction: str) -> str:
        """As a user: the first words of the conversation."""
        return await self._heard.get()

    async def reply(self, content: str) -> str:
        """As a user: tell what the agent says, and wait for what comes back."""
        self._tell_usage()
        self._say(content)
        return await self._heard.get()

    def _say(self, content: str) -> None:
        self._said += 1
        self._told.put_nowait({"role": "assistant", "content": content})

    def _tell_usage(self) -> None:
        used = self._ledger.usage().get("agent")
        if used is None:
            return
        before, self._used = self._used, used
        known = used.cost is not None and (before is None or before.cost is not None)
        cost = (used.cost or 0.0) - ((before.cost or 0.0) if before else 0.0)
        self._told.put_nowait(
            {
                "type": "usage",
                "prompt_tokens": used.prompt_tokens - (before.prompt_tokens if before else 0),
                "completion_tokens": used.completion_tokens
                - (before.completion_tokens if before else 0),
                "cost": cost if known else None,
            }
        )

    async def _play(self) -> None:
        try:
            await self._play_episode()
        except Exception as problem:
            said = InputError(redacted(f"{type(problem).__name__}: {problem}"))
            self._told.put_nowait({"raise": problem if isinstance(problem, InputError) else said})
        else:
            while self._said < self._asked:
                self._say(OVER)

    async def _play_episode(self) -> None:
        run, config = self._context, self._context.config
        number = uuid4().int % (1 << 31)
        context = run.agent_context(self._task_index, number, self._ledger, scope=uuid4().hex)
        agent = run.strategy.create(context)
        environment = Environment(
            run.domain, self, split=config.task_split, max_steps=config.max_num_steps
        )
        await environment.reset(self._task_index)
        await agent.play(_ToldStage(environment, self._told))


class _ToldStage(Stage):
    """A stage whose steps the caller hears of."""

    __slots__ = ("_told",)

    def __init__(self, environment: Environment, told: asyncio.Queue[dict[str, Any]]) -> None:
        super().__init__(environment)
        self._told = told

    async def step(self, action: Action) -> str:
        if action.name == RESPOND:
            return await super().step(action)
        call_id = f"call_{uuid4().hex[:8]}"
        self._told.put_nowait(
            {
                "type": "tool_call",
                "id": call_id,
                "name": action.name,
                "input": dict(action.kwargs),
            }
        )
        observation = await super().step(action)
        self._told.put_nowait({"type": "tool_result", "id": call_id, "output": observation})
        return observation


def _last_words(messages: list[dict[str, Any]]) -> str:
    words = next((m for m in reversed(messages) if m.get("role") == "user"), None)
    text = text_of(words.get("content")) if words else ""
    if not text.strip():
        raise InputError("There is no message of the user to answer.")
    return text


def _transcript_key(messages: list[dict[str, Any]]) -> str:
    said = [
        [message.get("role"), text_of(message.get("content"))]
        for message in messages
        if message.get("role") in ("user", "assistant") and not message.get("tool_calls")
    ]
    # Nothing was said yet: nobody's conversation.
    return sha256(orjson.dumps(said)).hexdigest() if said else uuid4().hex


def _is_opening(messages: list[dict[str, Any]]) -> bool:
    return sum(message.get("role") == "user" for message in messages) == 1
