"""Plain functions: whatever has no adapter of its own, or no framework at all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from greenroom.agents.frameworks.agent import (
    FrameworkAgent,
    Subject,
    about,
    framework_agent,
    label,
)
from greenroom.agents.frameworks.blocking import Threads
from greenroom.agents.frameworks.building import Builder, builder_of
from greenroom.agents.frameworks.offers import Offer
from greenroom.errors import InputError
from greenroom.messages import is_message, messages_of, text_of
from greenroom.util.json_values import as_dict
from greenroom.workflows.declare.outputs import json_value
from greenroom.workflows.declare.pieces import EVENTS

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

_GIVEN = ("instructions", "message", "messages", "model", "tools")
_END: Any = object()


def from_callable(
    function: Callable[..., Any], /, *, name: str | None = None, description: str | None = None
) -> FrameworkAgent:
    """A function that answers the user, as a chat workflow and as an agent for runs.

    It takes what it needs, by name: `messages` (what was said so far, the policy included) or
    `message` (the last one), `tools` (callables with a `name`, a `description` and JSON-schema
    `parameters`), `model` (its `base_url`, `api_key` and `name`) and `instructions`. It returns or
    yields what the user reads. A plain function blocks in a thread, and so do its tools; those of
    an async function are awaited.
    """
    if not callable(function):
        raise InputError(f"from_callable takes a function, not {function!r}.")
    builder = builder_of(function, _GIVEN, "from_callable")
    if not (builder.takes("messages") or builder.takes("message")):
        raise InputError(
            f"'{label(name, function)}' hears nothing: give it a parameter 'messages' or 'message'."
        )
    return framework_agent(
        Subject(
            name=label(name, function),
            description=about(description, function),
            open=lambda offer: _Conversation(label(name, function), builder, offer),
            takes_callers_tools=False,
            has_model=builder.has_default("model"),
        )
    )


class _Conversation:
    def __init__(self, name: str, builder: Builder, offer: Offer) -> None:
        self._name, self._builder, self._offer = name, builder, offer
        self._threads = Threads(offer)
        # The function adds what it likes to them, objects of its client included.
        self._messages: list[Any] = []
        self._heard = ""
        if offer.instructions:
            self._messages.append({"role": "system", "content": offer.instructions})
        function = builder.function
        while isinstance(function, functools.partial):
            function = function.func
        code: Any = function if inspect.isroutine(function) else type(function).__call__
        self._waits = inspect.iscoroutinefunction(code) or inspect.isasyncgenfunction(code)

    async def take_turn(self, messages: list[ChatMessage]) -> AsyncGenerator[Any]:
        self._messages += messages
        users = [one for one in messages if one["role"] == "user"]
        self._heard = text_of(users[-1].get("content")) if users else self._heard
        words: list[str] = []
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                for one in self._told(piece):
                    yield one
                    if isinstance(one, str):
                        words.append(one)
                    elif is_message(one):
                        words.clear()
                        self._keep(one)
        if words:
            self._keep({"role": "assistant", "content": "".join(words)})

    def _told(self, piece: Any) -> list[Any]:
        """A piece as words, messages or events; an object of a client is its message."""
        value = json_value(piece)
        if value is None or isinstance(value, str):
            return [] if value is None else [value]
        if found := messages_of(value):
            return [_without_nulls(one) for one in found]
        if as_dict(value).get("type") in EVENTS:
            return [value]
        raise TypeError(
            f"'{self._name}' gave neither text nor a message, but {type(piece).__name__}: return "
            "or yield what the user reads."
        )

    def _keep(self, message: ChatMessage) -> None:
        """Keep what was said, unless the function has noted it in its messages."""
        last = self._messages[-1] if self._messages else None
        said = [(_part(one, "role"), _part(one, "content")) for one in (last, message)]
        if said[0] != said[1]:
            self._messages.append(message)

    async def _pieces(self) -> AsyncGenerator[Any]:
        made = partial(self._builder.function, **self._arguments())
        answer: Any = made() if self._waits else await self._threads.run(made)
        if inspect.isawaitable(answer):
            answer = await answer
        if inspect.isasyncgen(answer):
            async with aclosing(answer):
                async for piece in answer:
                    yield piece
        elif inspect.isgenerator(answer):
            source = cast("Generator[Any]", answer)
            try:
                while (piece := await self._threads.run(lambda: next(source, _END))) is not _END:
                    yield piece
            finally:
                source.close()
        else:
            yield answer

    def _arguments(self) -> dict[str, Any]:
        offer, builder = self._offer, self._builder
        if offer.model is None and not builder.has_default("model"):
            raise InputError(
                "The function has no model of its own: give its parameter 'model' a default, for "
                "calls outside of a run."
            )
        tools = [tool if self._waits else self._threads.tool(tool) for tool in offer.tools]
        # What it adds to the messages is there in its next turn.
        said = {"messages": self._messages, "message": self._heard}
        given = builder.arguments(tools=tools, instructions=offer.instructions, model=offer.model)
        return given | {name: one for name, one in said.items() if builder.takes(name)}


def _part(message: Any, name: str) -> Any:
    """A member of a message, whether it is a mapping or an object of a client."""
    if isinstance(message, Mapping):
        return cast("Mapping[str, Any]", message).get(name)
    return getattr(message, name, None)


def _without_nulls(message: dict[str, Any]) -> ChatMessage:
    """A message that providers take back: they refuse empty members that they have themselves."""
    kept = {name: one for name, one in message.items() if one is not None}
    return kept if "content" in kept else kept | {"content": None}
