"""Stored episodes as workflows that are talked to from one of their places on.

The address `episode:RUN?task=3&trial=0&step=5` names the run by its id. A call has the whole
conversation, the recorded part included, and the world is restored from it each time. So nothing is
kept between calls: threads can be edited and branched, and a restart loses nothing.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import anyio
import orjson
from anyio import to_thread

from greenroom.agents import strategy_names
from greenroom.benchmark.context import RunContext
from greenroom.benchmark.rewind import find_point, stored_episode
from greenroom.benchmark.rewind_runs import rewound_config
from greenroom.benchmark.runner import prepare_again
from greenroom.benchmark.turns import agents_view, history_from, play_turn, step_messages
from greenroom.domains.environment import Step
from greenroom.errors import InputError, UnknownName
from greenroom.messages import text_of
from greenroom.playground.open_targets import OpenTargets
from greenroom.playground.targets import register_target
from greenroom.store import EpisodeRecord, RewindPoint, RunRecord, Store, Usage
from greenroom.trajectories import STOP
from greenroom.workflows.calls import (
    IS_CHAT,
    MESSAGES,
    Answer,
    Call,
    Event,
    Profile,
    Schemas,
    Target,
    called_tools,
)
from greenroom.workflows.declare.schemas import MESSAGE_SCHEMA, MESSAGES_SCHEMA

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

SCHEME = "episode"
_FREE = ("agent_strategy", "model", "model_provider", "temperature", "max_num_steps")
OVER = "This conversation is over: the user has stopped. Undo or edit that to go on."

SILENT = (
    "The agent has not spoken to the user yet. Let it go on, or say something in its place, before "
    "the user speaks."
)


@dataclass(frozen=True)
class Origin:
    """The episode that a thread goes on from, and the place."""

    run: RunRecord
    episode: EpisodeRecord
    point: RewindPoint


def episode_address(point: RewindPoint) -> str:
    """The address of a place in a stored episode."""
    place = {"task": point.task_index, "trial": point.trial, "step": point.steps + 1}
    return f"{SCHEME}:{quote(point.run_id)}?{urlencode(place)}"


def origin_of(store: Store, address: str) -> Origin:
    """What an address stands for; raises an InputError if it is not in the store."""
    name, _, query = address.removeprefix(f"{SCHEME}:").partition("?")
    try:
        place = {key: int(text) for key, text in parse_qsl(query)}
        task, trial, step = place["task"], place.get("trial", 0), place.get("step", 1)
    except (KeyError, ValueError):
        raise InputError(
            f"'{address}' is no place in an episode: episode:RUN?task=3&trial=0&step=5 is one."
        ) from None
    run = store.runs.find(unquote(name))
    episode = stored_episode(store, run, task, trial)
    return Origin(run, episode, find_point(run, episode, step=step))


class EpisodeTarget:
    """The agent of a stored episode, from a place on; each set of parameters has its own models."""

    def __init__(self, address: str, origin: Origin) -> None:
        self._origin = origin
        self._agents = OpenTargets(self._open)
        self.profile = _profile(address, origin)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answer calls while the block runs."""
        async with self._agents.running():
            yield

    async def call(self, call: Call) -> Answer:
        async with self._agents.use(_key(call)) as target:
            return await target.call(call)

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        async with self._agents.use(_key(call)) as target:
            async for event in target.stream(call):
                yield event

    async def close(self) -> None:
        """Agents are closed with `running`."""

    @asynccontextmanager
    async def _open(self, key: str) -> AsyncGenerator[Target]:
        changes: dict[str, Any] = orjson.loads(key)
        run, point = self._origin.run, self._origin.point
        config = rewound_config(run, point, changes, 1)
        context = await to_thread.run_sync(prepare_again, run, config)
        async with context.opened() as opened:
            yield _AgentTarget(self.profile, self._origin, opened)


@dataclass(frozen=True)
class _AgentTarget:
    """An agent with its models open."""

    profile: Profile
    origin: Origin
    context: RunContext

    async def call(self, call: Call) -> Answer:
        answer: Answer | None = None
        async for event in self.stream(call):
            if event.kind == "end":
                answer = event.data
        assert answer is not None, "a stream ends with the answer"
        return answer

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        messages: list[dict[str, Any]] = list(call.inputs.get(MESSAGES) or [])
        seen = agents_view(messages)
        last = seen[-1] if seen else dict[str, Any]()
        if last.get("role") == "user" and STOP in text_of(last.get("content")):
            raise InputError(OVER)
        before = dict(seen[-2]) if len(seen) > 1 else dict[str, Any]()
        if last.get("role") == "user" and (before.get("role") == "tool" or called_tools(before)):
            raise InputError(SILENT)
        own = self.origin.run.agent_strategy == self.context.strategy.name
        history = history_from(messages, self.origin.episode, own=own)
        send, receive = anyio.create_memory_object_stream[Event](math.inf)
        said: list[dict[str, Any]] = []
        problem: Exception | None = None

        def tell(number: int, step: Step) -> None:
            for message in step_messages(number, step):
                said.append(message)
                send.send_nowait(Event(kind="message", data=message))

        async def play() -> None:
            nonlocal problem
            try:
                turn = await play_turn(
                    self.context, self.origin.point.task_index, history, on_step=tell
                )
                used = Usage.total(turn.ledger.usage().values())
                send.send_nowait(Event(kind="end", data=_answer(said, used, call)))
            except Exception as error:
                problem = error
            finally:
                send.close()

        async with receive, anyio.create_task_group() as tasks:
            tasks.start_soon(play)
            try:
                async for event in receive:
                    yield event
            except GeneratorExit:
                # Nobody listens any more; a task group would wrap the error.
                tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem

    async def close(self) -> None:
        """The models are closed with the context."""


def _answer(said: Sequence[dict[str, Any]], used: Usage, call: Call) -> Answer:
    return Answer(
        outputs=list(said),
        session_id=call.session_id,
        prompt_tokens=used.prompt_tokens if used.calls else None,
        completion_tokens=used.completion_tokens if used.calls else None,
        cost=used.cost,
    )


def _key(call: Call) -> str:
    parameters = call.parameters or {}
    unknown = sorted(set(parameters) - set(_FREE))
    if unknown:
        raise UnknownName("parameter", unknown[0], _FREE)
    wanted = {name: value for name, value in parameters.items() if value not in (None, "")}
    strategy = wanted.get("agent_strategy")
    if strategy is not None and strategy not in strategy_names():
        raise UnknownName("agent", str(strategy), strategy_names())
    return orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS).decode()


@asynccontextmanager
async def open_episode(playground: Playground, address: str) -> AsyncGenerator[Target]:
    """The episode at an address."""
    origin = await to_thread.run_sync(origin_of, playground.store, address)
    target = EpisodeTarget(address, origin)
    async with target.running():
        yield target


def _profile(address: str, origin: Origin) -> Profile:
    run, point = origin.run, origin.point
    strategies = strategy_names()
    parameters: dict[str, Any] = {
        "agent_strategy": {
            "type": "string",
            "enum": strategies,
            "description": "Another agent than the one that played.",
        },
        "model": {"type": "string", "description": "Another model; its key is in the environment."},
        "model_provider": {"type": "string", "description": "Its provider."},
        "temperature": {"type": "number", "minimum": 0},
        "max_num_steps": {"type": "integer", "minimum": 1, "description": "Steps in all."},
    }
    if run.agent_strategy not in strategies:
        del parameters["agent_strategy"]
    return Profile(
        name=f"{run.name}, task {point.task_index}, turn {point.turn}",
        is_chat=True,
        flags={IS_CHAT: True},
        schemas=Schemas(
            inputs={
                "type": "object",
                "properties": {MESSAGES: MESSAGES_SCHEMA},
                "required": [MESSAGES],
                "additionalProperties": False,
            },
            parameters={
                "type": "object",
                "properties": parameters,
                "additionalProperties": False,
            },
            outputs=MESSAGE_SCHEMA,
        ),
        description=(
            f"Trial {point.trial} of task {point.task_index} of '{run.name}', from turn "
            f"{point.turn} on. You are the user; the {run.agent_strategy} agent answers."
        ),
        address=address,
        decided_by="its kind: agents of the benchmark talk with a user",
    )


register_target(SCHEME, open_episode)
