"""A framework's agent as one object: a chat workflow to call and serve, and an agent to measure.

As a workflow it asks the model that it has itself. In a run that names a model it asks that one at
the metered endpoint of its episode, and the harness owns the user's turn.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
from pydantic import Field

from greenroom.agents.frameworks.offers import (
    HttpClients,
    ModelAddress,
    Offer,
    Open,
    step_of,
    tools_of,
)
from greenroom.agents.gateway import TURN_CALLS, EpisodeEndpoint, Gateway, open_gateway
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.agents.tool_calling import write_reply
from greenroom.agents.turns import Turns, TurnTimedOut
from greenroom.config import Seconds
from greenroom.errors import InputError
from greenroom.messages import is_message, text_of
from greenroom.options import Count, Settings
from greenroom.workflows.declare import Workflow, chat_workflow

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

Json = dict[str, Any]


class FrameworkSettings(Settings):
    """The settings of agents that a framework runs."""

    turn_seconds: Seconds = Field(default=600.0, description="Time that a turn may take.")
    turn_calls: Count = Field(
        default=TURN_CALLS, description="Questions to the run's model that a turn may take."
    )
    policy: bool = Field(default=True, description="Tell it the domain's policy.")


@dataclass(frozen=True, kw_only=True, eq=False)
class FrameworkAgent(Workflow):
    """A framework's agent: a chat workflow, and a strategy for runs."""

    strategy: AgentStrategy
    has_model: bool = True
    """Whether it has a model of its own: whoever calls it as a workflow brings none."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An agent, and how conversations with it begin."""

    name: str
    description: str
    open: Open
    takes_callers_tools: bool
    """Whether a caller of the workflow may offer tools, and gets their calls back."""
    refuses_runs: str = ""
    """Why it cannot play, if so."""
    has_model: bool = True
    """Whether it has a model of its own."""
    asks_in_chat: bool = True
    """Whether what it asks its model is the conversation, with tools called natively."""


def framework_agent(subject: Subject) -> FrameworkAgent:
    """The object that `from_langgraph` and the others give."""
    handler = _with_tools(subject) if subject.takes_callers_tools else _without_tools(subject)
    declared = chat_workflow(name=subject.name, description=subject.description)(handler)
    return FrameworkAgent(
        **vars(declared), strategy=_strategy(subject), has_model=subject.has_model
    )


def label(given: str | None, *objects: Any) -> str:
    """The name that was given, or one that an object has."""
    for one in objects:
        given = given or getattr(one, "name", None) or getattr(one, "__name__", None)
    usable = isinstance(given, str) and given.isprintable() and given != "<lambda>"
    return given if usable and isinstance(given, str) else "agent"


def about(given: str | None, *objects: Any) -> str:
    """The description that was given, or the first line of a function's text."""
    texts = (inspect.getdoc(one) for one in objects if inspect.isroutine(one))
    return given or next((text.partition("\n")[0] for text in texts if text), "")


# As a workflow ---------------------------------------------------------------------------------


def _with_tools(subject: Subject) -> Callable[..., AsyncGenerator[Any]]:
    async def converse(
        messages: list[Json], tools: list[Json] | None = None, session_id: str | None = None
    ) -> AsyncGenerator[Any]:
        offer = Offer(tools=tools_of(tools or []), session_id=session_id or uuid4().hex)
        async with aclosing(subject.open(offer).take_turn(messages)) as pieces:
            async for piece in pieces:
                yield piece

    return converse


def _without_tools(subject: Subject) -> Callable[..., AsyncGenerator[Any]]:
    answer = _with_tools(subject)

    async def converse(messages: list[Json], session_id: str | None = None) -> AsyncGenerator[Any]:
        async with aclosing(answer(messages, None, session_id)) as pieces:
            async for piece in pieces:
                yield piece

    return converse


# In a run --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shared:
    """What the agents of a run share."""

    gateway: Gateway
    clients: HttpClients


def _strategy(subject: Subject) -> AgentStrategy:
    def opened(*_: object) -> AbstractAsyncContextManager[_Shared]:
        if subject.refuses_runs:
            raise InputError(subject.refuses_runs)
        return _opened()

    return AgentStrategy(
        subject.name,
        lambda context: _Player(subject, context),
        subject.description,
        settings=FrameworkSettings,
        offers_model=True,
        prepare=opened,
        takes_over="replay" if subject.asks_in_chat else "never",
        write_reply=write_reply if subject.asks_in_chat else None,
    )


@asynccontextmanager
async def _opened() -> AsyncGenerator[_Shared]:
    clients = HttpClients()
    async with open_gateway() as gateway:
        try:
            yield _Shared(gateway, clients)
        finally:
            await clients.close()


class _Player:
    """Plays one episode with a framework's agent."""

    def __init__(self, subject: Subject, context: AgentContext) -> None:
        assert isinstance(context.shared, _Shared), "the strategy was not prepared"
        if context.model is None and not subject.has_model:
            raise InputError(f"'{subject.name}' has no model of its own: name one by --model.")
        self.facts: dict[str, str] = {}
        self._subject = subject
        self._context = context
        self._shared = context.shared
        self._endpoint: EpisodeEndpoint | None = None

    @property
    def messages(self) -> list[ChatMessage] | None:
        """What its model was asked and answered last, if that is the conversation."""
        asked = None if self._endpoint is None else self._endpoint.messages
        return asked if self._subject.asks_in_chat else None

    async def play(self, stage: Stage) -> None:
        context, turns = self._context, Turns(stage)
        opened = self._shared.gateway.episode(context.model, context.model_name, seed=context.seed)
        async with opened as endpoint:
            self._endpoint, self.facts = endpoint, endpoint.facts
            endpoint.on_failure = turns.fail
            conversation = self._subject.open(self._offer(turns, endpoint))
            begun = False

            async def take_turn(heard: str) -> str | None:
                nonlocal begun
                new = [{"role": "user", "content": heard}] if begun else list(turns.messages)
                begun = True
                endpoint.begin_turn(self._context.settings.turn_calls)
                try:
                    return await self._in_time(conversation.take_turn(new))
                except Exception as error:
                    # A framework that fails over what its model answered has that outcome.
                    if endpoint.problem is not None:
                        raise endpoint.problem from error
                    raise

            await turns.play(take_turn)

    def _offer(self, turns: Turns, endpoint: EpisodeEndpoint) -> Offer:
        base, model = endpoint.model_base, None
        if base is not None:
            clients = self._shared.clients
            model = ModelAddress(base, endpoint.token, endpoint.model_name, clients)
        return Offer(
            in_run=True,
            instructions=turns.policy if self._context.settings.policy else "",
            tools=tools_of(turns.tool_infos, step_of(turns)),
            model=model,
            refuse_model=endpoint.refuse,
        )

    async def _in_time(self, pieces: AsyncGenerator[Any]) -> str | None:
        seconds = self._context.settings.turn_seconds
        with anyio.move_on_after(seconds) as limit:
            async with aclosing(pieces):
                return await spoken(pieces)
        assert limit.cancelled_caught
        raise TurnTimedOut(f"A turn took more than {seconds:g} seconds.")


async def spoken(pieces: AsyncGenerator[Any]) -> str | None:
    """What an agent says at the end of its turn: its last message, or the words since then.

    An agent that gives nothing at all has given up.
    """
    said: str | None = None
    words: list[str] = []
    async for piece in pieces:
        if isinstance(piece, str):
            words.append(piece)
        elif is_message(piece):
            words.clear()
            ends = piece["role"] == "assistant" and not piece.get("tool_calls")
            said = text_of(piece.get("content")) if ends else ""
    return "".join(words) or said
