"""One turn of an agent in a conversation that is all there is to know: nothing is kept in between.

The world is restored from the conversation, the agent takes over and goes on until it speaks. So a
conversation can be edited, branched or picked up after a restart, and its world is the right one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import anyio

from greenroom.agents.history import History, PastStep, check_takes_over
from greenroom.benchmark.context import RunContext
from greenroom.benchmark.restoring import restore, stage_of
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment, SimulatedUser, Step, UserCall
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import EpisodeOver, InputError
from greenroom.messages import Message, is_message, text_of
from greenroom.models import Ledger
from greenroom.store import EpisodeRecord
from greenroom.trajectories import Conversation, SpokenStep, read_conversation
from greenroom.util.exits import no_exit
from greenroom.workflows.calls import called_tools

ChatMessage = dict[str, Any]


@dataclass(frozen=True)
class PlayedTurn:
    """What an agent did in a turn."""

    environment: Environment
    steps: tuple[Step, ...]
    spoke: bool
    """The turn ended with words for the user; else the episode is over, or the agent gave up."""
    ledger: Ledger


def read_messages(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """The steps in messages with native tool calls; what a user says in a row is one message."""
    joined: list[ChatMessage] = []
    for one in messages:
        if not is_message(one):
            continue
        message, before = dict(one), joined[-1] if joined else {}
        calls = message.get("tool_calls") or before.get("tool_calls")
        if message["role"] == "user" and before.get("role") == "user" and not calls:
            texts = [text_of(both.get("content")) for both in (joined.pop(), message)]
            message = {"role": "user", "content": "\n\n".join(texts)}
        joined.append(message)
    return read_conversation([Message.model_validate(one) for one in joined], native=True)


def agents_view(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages without what the user did on their side."""
    made = {
        str(call["id"])
        for one in messages
        if one.get("role") == "user"
        for call in called_tools(dict(one))
    }
    return [
        one
        for one in messages
        if not (one.get("role") == "user" and called_tools(dict(one)))
        and not (one.get("role") == "tool" and str(one.get("tool_call_id")) in made)
    ]


def history_from(
    messages: Sequence[Mapping[str, Any]], origin: EpisodeRecord | None = None, *, own: bool = False
) -> History:
    """What a conversation says was played.

    `origin` is the episode that it goes on from. Its own messages are used for as long as the
    conversation is the same, if an agent of the same kind takes over.
    """
    conversation = read_messages(messages)
    steps = tuple(
        PastStep(
            Action(step.name, step.kwargs, aside=step.aside, joined=step.joined),
            step.observation or "",
            _calls(step.user_calls),
        )
        for step in conversation.steps
    )
    opening_calls = _calls(conversation.opening_calls)
    if origin is None:
        return History(conversation.opening, steps, opening_calls)
    told = _same_steps(origin, conversation.opening, steps)
    recorded = origin.messages if own and told else None
    return History(
        conversation.opening,
        steps,
        opening_calls,
        messages=recorded,
        told=told if recorded is not None else None,
        trial=origin.trial,
        seed=origin.seed,
    )


def _calls(steps: Sequence[SpokenStep]) -> tuple[UserCall, ...]:
    return tuple(
        UserCall(Action(step.name, step.kwargs, "user", joined=step.joined), step.observation or "")
        for step in steps
    )


def _same_steps(origin: EpisodeRecord, opening: str, steps: Sequence[PastStep]) -> int:
    if origin.opening != opening:
        return 0
    same = 0
    for step, then in zip(steps, origin.steps, strict=False):
        now = (step.action.name, step.action.kwargs, step.observation)
        if now != (then.action.name, then.action.kwargs, then.observation):
            break
        same += 1
    return same


async def play_turn(
    context: RunContext,
    task_index: int,
    history: History,
    *,
    on_step: Callable[[int, Step], None] = lambda number, step: None,
) -> PlayedTurn:
    """Have the agent of an opened context go on until it speaks to the user.

    `on_step` is told each step that it takes, with its number in the episode from 1.
    """
    check_takes_over(context.strategy, history)
    ledger = Ledger(None if context.pool is None else context.pool.budget)
    trial = uuid4().int % (1 << 31)
    taking_over = replace(context, history=history)
    agent_context = taking_over.agent_context(task_index, trial, ledger, scope=uuid4().hex)
    listener = _Listener()
    environment = _ToldEnvironment(context, listener, on_step)
    await restore(environment, task_index, history)
    environment.live = True
    agent = context.strategy.create(agent_context)
    problem: Exception | None = None

    async def play() -> None:
        nonlocal problem
        try:
            with no_exit():
                await agent.play(stage_of(environment, agent_context))
            if agent_context.playback is not None:
                agent_context.playback.check_over()
        except EpisodeOver:
            pass
        except Exception as error:
            problem = error
        finally:
            listener.ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play)
        await listener.ended.wait()
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    taken = environment.steps[len(history.steps) :]
    if listener.words is not None:
        spoken = Step(Action(RESPOND, {"content": listener.words}), "", "user", done=False)
        on_step(len(environment.steps) + 1, spoken)
        taken = [*taken, spoken]
    if not taken:
        raise InputError("The agent gives no further action here.")
    return PlayedTurn(environment, tuple(taken), listener.words is not None, ledger)


async def take_step(
    domain: Domain, task_index: int, history: History, action: Action, *, split: str
) -> Step:
    """Carry out one action of a person who plays the agent, on the world of a conversation."""
    most = len(history.steps) + 1
    environment = Environment(domain, _Listener(), split=split, max_steps=most)
    await restore(environment, task_index, history)
    return await environment.step(action)


def step_messages(number: int, step: Step) -> list[ChatMessage]:
    """The messages of a step: what was said, or the call and its result."""
    content = step.action.kwargs.get("content")
    if step.action.name == RESPOND and isinstance(content, str) and step.invalid is None:
        return [{"role": "assistant", "content": content}]
    call_id = f"call_{number}"
    function = {"name": step.action.name, "arguments": json.dumps(dict(step.action.kwargs))}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": step.action.aside or None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": call_id,
            "name": step.action.name,
            "content": step.observation,
        },
    ]


class _Listener:
    """A user who only hears what the agent says: what it answers is for others to decide."""

    def __init__(self) -> None:
        self.words: str | None = None
        self.ended = anyio.Event()

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        self.words = content
        self.ended.set()
        await anyio.sleep_forever()
        raise AssertionError("the turn has ended")


class _ToldEnvironment(Environment):
    """Tells each step that is taken after the past."""

    def __init__(
        self, context: RunContext, user: SimulatedUser, on_step: Callable[[int, Step], None]
    ) -> None:
        super().__init__(context.domain, user, split=context.split, max_steps=context.max_steps)
        self._on_step = on_step
        self.live = False

    async def step(self, action: Action) -> Step:
        step = await super().step(action)
        if self.live:
            self._on_step(len(self.steps), step)
        return step


__all__ = [
    "PlayedTurn",
    "agents_view",
    "history_from",
    "play_turn",
    "read_messages",
    "step_messages",
    "take_step",
]
