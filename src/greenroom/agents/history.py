"""Agents that take over in the middle of an episode: what was played before, and how they go on.

Most agents are what their observations and their model's replies make of them. Such an agent plays
from the beginning: its stage answers the first steps from the record, and its model gives the
recorded replies. Then both are live, and the agent goes on as if it had played all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from greenroom.agents.conversation import Unreadable
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.agents.tool_calls import action_of_call
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError
from greenroom.models import Completion
from greenroom.trajectories import NOTICE
from greenroom.util.json_values import as_dict
from greenroom.util.raw_json import DEEPEST, plain

if TYPE_CHECKING:
    from greenroom.domains.environment import Environment, UserCall
    from greenroom.models import ChatMessage, Model, ModelRequest


class CannotTakeOver(InputError):
    """An agent or a user that cannot go on from here; the text says what can be done instead."""


@dataclass(frozen=True)
class PastStep:
    """A step that was played."""

    action: Action
    observation: str
    user_calls: tuple[UserCall, ...] = ()
    """What the user did before their answer."""


@dataclass(frozen=True)
class History:
    """What was played of an episode before somebody takes over."""

    opening: str
    """The user's first message."""
    steps: tuple[PastStep, ...] = ()
    opening_calls: tuple[UserCall, ...] = ()
    """What the user did before their first message."""
    messages: Sequence[Mapping[str, Any]] | None = None
    """The messages of the agent that played, if the one that takes over is of the same kind."""
    told: int | None = None
    """How many of the steps the messages tell about; None for all."""
    trial: int = 0
    seed: int = 0
    """The seed of the episode, for draws that should come out as they did."""

    @property
    def exchanges(self) -> list[tuple[str, str]]:
        """What the agent said to the user, and what the user replied."""
        return [(step.action.kwargs["content"], step.observation) for step in self._spoken]

    @property
    def user_calls(self) -> list[tuple[UserCall, ...]]:
        """What the user did before each of their messages."""
        return [self.opening_calls, *(step.user_calls for step in self._spoken)]

    @property
    def _spoken(self) -> Iterator[PastStep]:
        for step in self.steps:
            if step.action.name == RESPOND and isinstance(step.action.kwargs.get("content"), str):
                yield step


@dataclass
class Playback:
    """How far an agent has come in its past."""

    agent: str
    history: History
    write_reply: Callable[[Action], ChatMessage] | None = None
    taken: int = 0
    """Steps that the agent has taken so far."""
    _replies: Iterator[ChatMessage] = field(init=False, repr=False)
    _written_for: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self._replies = _recorded_replies(self.history.messages or ())

    @property
    def over(self) -> bool:
        """The agent is where it takes over."""
        return self.taken >= len(self.history.steps)

    @property
    def _told(self) -> int:
        told = self.history.told
        return len(self.history.steps) if told is None else told

    def take(self, action: Action) -> str:
        """The recorded observation of the agent's next step."""
        step = self.history.steps[self.taken]
        wanted = step.action
        if (action.name, plain(dict(action.kwargs), DEEPEST)) != (wanted.name, wanted.kwargs):
            raise self.refusal(f"it does {action.name} where {wanted.name} was recorded")
        self.taken += 1
        return step.observation

    def reply(self) -> ChatMessage:
        """What the agent's model replied here, or what it would have to reply."""
        if self.history.messages is not None and self.taken < self._told:
            reply = next(self._replies, None)
            if reply is None:
                raise self.refusal("its recorded messages end too early")
            return self._cut(reply)
        if self.write_reply is None:
            raise self.refusal("there are no messages of it")
        if self._written_for == self.taken:
            raise self.refusal("it makes no step of a recorded action")
        self._written_for = self.taken
        return self.write_reply(self.history.steps[self.taken].action)

    def _cut(self, reply: ChatMessage) -> ChatMessage:
        """The reply without calls that were made after the place where the agent takes over."""
        calls: list[Any] = list(reply.get("tool_calls") or [])
        left = self._told - self.taken
        if len(calls) <= left:
            return reply
        kept: list[Any] = []
        for call in calls:
            if left == 0:
                break
            kept.append(call)
            left -= _is_step(call)
        return {**reply, "tool_calls": kept}

    def check_over(self) -> None:
        """Raise if the agent has ended before the place where it takes over."""
        if not self.over:
            raise self.refusal("it ends earlier than the recorded episode")

    def refusal(self, why: str) -> CannotTakeOver:
        """The error for an agent that does not find to the place."""
        place = f"at step {self.taken + 1} of {len(self.history.steps)}"
        return CannotTakeOver(
            f"The {self.agent} agent cannot go on from here: {why}, {place}. Go on by hand, or "
            "with another agent: --agent-strategy names it."
        )


class PastStage(Stage):
    """A stage whose first steps are in the past."""

    __slots__ = ("_playback",)

    def __init__(self, environment: Environment, playback: Playback) -> None:
        super().__init__(environment)
        self._playback = playback

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self._playback.over and super().over

    async def step(self, action: Action) -> str:
        if self._playback.over:
            return await super().step(action)
        return self._playback.take(action)


@dataclass(frozen=True)
class PastModel:
    """A model whose first replies are in the past."""

    model: Model
    playback: Playback

    async def complete(self, request: ModelRequest) -> Completion:
        if self.playback.over:
            return await self.model.complete(request)
        return Completion(message=self.playback.reply())


def with_history(strategy: AgentStrategy, context: AgentContext, history: History) -> AgentContext:
    """The context for an agent that takes over."""
    if strategy.takes_over == "history":
        return replace(context, history=history)
    playback = Playback(strategy.name, history, strategy.write_reply)
    model = None if context.model is None else PastModel(context.model, playback)
    return replace(context, history=history, playback=playback, model=model)


def check_takes_over(strategy: AgentStrategy, history: History) -> None:
    """Raise if agents of a strategy cannot go on with an episode, before anything is asked."""
    instead = "Go on by hand, or with another agent: --agent-strategy names it."
    if strategy.takes_over == "never" and history.steps:
        raise CannotTakeOver(
            f"The {strategy.name} agent cannot go on in the middle of an episode, because what it "
            f"knows is in its own processes. {instead}"
        )
    asks = strategy.needs_model or strategy.create_model is not None
    known = history.messages is not None or strategy.write_reply is not None
    if strategy.takes_over == "replay" and asks and not known and history.steps:
        raise CannotTakeOver(
            f"The {strategy.name} agent cannot go on with this episode, because no messages of it "
            f"were recorded. {instead}"
        )


def _recorded_replies(messages: Sequence[Mapping[str, Any]]) -> Iterator[ChatMessage]:
    """The model's replies in an agent's messages."""
    before, opened = "", False
    for message in messages:
        role = str(message.get("role"))
        opened = opened or role == "user"
        if role == "assistant" and opened:  # a greeting before the user's first words is no reply
            yield dict(message)
        notice = role == "user" and str(message.get("content")).startswith(NOTICE)
        if notice and before != "assistant":
            # An empty reply is not among the messages; what the model was told about it is.
            yield {"role": "assistant", "content": ""}
        before = role


def _is_step(call: Any) -> bool:
    """Whether a recorded call became a step; one that cannot be read becomes none."""
    function = as_dict(as_dict(call).get("function"))
    try:
        action_of_call(str(function.get("name")), str(function.get("arguments")))
    except Unreadable:
        return False
    return True


__all__ = [
    "CannotTakeOver",
    "History",
    "PastModel",
    "PastStage",
    "PastStep",
    "Playback",
    "check_takes_over",
    "with_history",
]
