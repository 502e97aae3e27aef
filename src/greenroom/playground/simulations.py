"""Simulated users that talk to threads in the server: step by step, or to the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio.abc import TaskGroup
from pydantic import BaseModel

from greenroom.domains.tasks import STOP
from greenroom.errors import Conflict, GreenroomError, InputError, redacted
from greenroom.messages import text_of
from greenroom.playground.conversation import messages_so_far
from greenroom.playground.episode_targets import SCHEME as EPISODE
from greenroom.playground.simulated_words import (
    SimulateRequest,
    Words,
    check_request,
    next_words,
)
from greenroom.playground.thread_models import TurnRequest
from greenroom.playground.turn_starts import say
from greenroom.playground.worlds import AGENT
from greenroom.store import Usage
from greenroom.store.thread_records import ThreadRecord, TurnRecord

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

OVER = "The user has ended this conversation: undo that, or branch from an earlier turn."

State = Literal["idle", "thinking", "ready", "talking", "done", "stopped", "broken"]


class Simulation(BaseModel):
    """How a simulated user stands."""

    thread_id: str
    state: State = "idle"
    next: str | None = None
    """What the user would say next."""
    stops: bool = False
    """The user has nothing more to say."""
    turns: int = 0
    """Messages that it has sent."""
    max_turns: int = 0
    error: str | None = None
    calls: int = 0
    """Calls of its model."""
    cost: float | None = None


@dataclass
class _Live:
    """A user at work."""

    shown: Simulation
    request: SimulateRequest
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    used: list[Usage] = field(default_factory=list[Usage])
    done: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """What the user did before the message that is ready."""


class Simulations:
    """The simulated users of this server, one for a thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._live: dict[str, _Live] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Let users talk while the block runs."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def status(self, thread_id: str) -> Simulation:
        """How the user of a thread stands."""
        live = self._live.get(thread_id)
        return Simulation(thread_id=thread_id) if live is None else live.shown

    async def start(self, thread_id: str, request: SimulateRequest) -> Simulation:
        """Have a user think about its next message, or talk to the end."""
        await self._playground.in_store(self._playground.store.threads.find, thread_id)
        check_request(request)
        live = self._begin(thread_id, request)
        work = self._talk if request.steps == "end" else self._think
        self._run(live, work)
        return live.shown

    async def send(self, thread_id: str, text: str | None) -> Simulation:
        """Send what the user would say, or what a person made of it."""
        live = self._live.get(thread_id)
        if live is None or live.shown.state != "ready":
            raise Conflict("There is no message to send: let the user think first.")
        words = live.shown.next if text is None else text
        if not (words or "").strip():
            raise InputError("An empty message cannot be sent: write something.")
        live.shown.next, live.shown.state = None, "talking"

        async def sent(live: _Live) -> None:
            await self._send(live, words or "", live.done)
            live.shown.state = "done" if live.shown.stops else "idle"

        self._run(live, sent)
        return live.shown

    def stop(self, thread_id: str) -> Simulation:
        """Stop the user; the turn that runs goes on to its end."""
        live = self._live.get(thread_id)
        if live is not None and live.shown.state in ("thinking", "talking", "ready"):
            live.shown.state, live.shown.next = "stopped", None
            live.scope.cancel()
        return self.status(thread_id)

    def _begin(self, thread_id: str, request: SimulateRequest) -> _Live:
        before = self._live.get(thread_id)
        if before is not None and before.shown.state in ("thinking", "talking"):
            raise Conflict("A simulated user is talking here already: stop it first.")
        if self._tasks is None:
            raise InputError("The playground is closing.")
        shown = Simulation(thread_id=thread_id, state="thinking", max_turns=request.max_turns)
        live = _Live(shown, request)
        if before is not None and request.steps == 1:
            shown.turns, live.used = before.shown.turns, before.used
        self._live[thread_id] = live
        return live

    def _run(self, live: _Live, work: Any) -> None:
        if self._tasks is None:
            raise InputError("The playground is closing.")
        live.scope = anyio.CancelScope()

        async def worked() -> None:
            with live.scope:
                try:
                    await work(live)
                except GreenroomError as error:
                    live.shown.state, live.shown.error = "broken", redacted(str(error))
                except Exception as error:
                    text = redacted(f"{type(error).__name__}: {error}")
                    live.shown.state, live.shown.error = "broken", text

        self._tasks.start_soon(worked)

    async def _think(self, live: _Live) -> None:
        words = await self._words(live)
        live.shown.stops, live.done = words.stops, words.done
        if words.text:
            live.shown.next, live.shown.state = words.text, "ready"
            return
        await self._send(live, "", words.done)
        live.shown.state = "done"

    async def _talk(self, live: _Live) -> None:
        shown = live.shown
        shown.state = "talking"
        while shown.turns < shown.max_turns:
            words = await self._words(live)
            shown.stops = words.stops
            await self._send(live, words.text, words.done)
            if words.stops:
                break
        shown.state = "done"

    async def _words(self, live: _Live) -> Words:
        """What the user says to the last answer; a draft is answered first."""
        thread, turns = await self._thread(live.shown.thread_id)
        if turns and turns[-1].status == "draft":
            if any(STOP in text_of(one.get("content")) for one in turns[-1].content.said):
                raise InputError(OVER)
            await self._say(thread, [])
            thread, turns = await self._thread(live.shown.thread_id)
        messages = messages_so_far(turns)
        try:
            words = await next_words(self._playground, thread, messages, live.request, live.used)
        finally:
            total = Usage.total(live.used)
            live.shown.calls, live.shown.cost = total.calls, total.cost
        return words

    async def _send(self, live: _Live, text: str, done: list[dict[str, Any]]) -> None:
        thread, turns = await self._thread(live.shown.thread_id)
        in_world = thread.address.partition(":")[0] in (EPISODE, AGENT)
        if live.shown.stops and turns and (text or in_world):
            # Nobody answers the last words. In a world they end the episode, also without a text.
            last = {"role": "user", "content": f"{text} {STOP}".strip()}
            await self._say(thread, [*done, last], run=False)
        elif text:
            await self._say(thread, [*done, {"role": "user", "content": text}])
        live.shown.turns += bool(text)

    async def _say(
        self, thread: ThreadRecord, messages: list[dict[str, Any]], *, run: bool = True
    ) -> None:
        request = TurnRequest(version=thread.version, messages=messages, run=run)
        said = await say(self._playground, thread.id, request)
        status = "done" if said.log is None else await said.log.wait()
        if status != "done":
            raise InputError(f"The turn is {status}: the conversation does not go on by itself.")

    async def _thread(self, thread_id: str) -> tuple[ThreadRecord, list[TurnRecord]]:
        store = self._playground.store
        return await self._playground.in_store(_whole, store, thread_id)


def _whole(store: Any, thread_id: str) -> tuple[ThreadRecord, list[TurnRecord]]:
    thread: ThreadRecord = store.threads.find(thread_id)
    found: dict[str, TurnRecord] = store.turns.listed(thread.history.turns, whole=True)
    return thread, [found[key] for key in thread.history.turns if key in found]
