"""The loop of agents that ask a language model: ask, act on the reply, keep the messages.

A reply that leads to no step is unusable: it is empty or cannot be read. The model is told what was
wrong and asked again. After several such replies in a row the agent gives up, so every episode
ends: each request leads to a step or counts towards that limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any, cast

import orjson
from pydantic import Field

from greenroom.models import ModelRequest
from greenroom.options import Count, Settings
from greenroom.trajectories import NOTICE
from greenroom.util.characters import writable
from greenroom.util.json_values import as_dict, as_list

if TYPE_CHECKING:
    from greenroom.agents.strategies import AgentContext, Stage
    from greenroom.models import ChatMessage, Completion


class ModelAgentSettings(Settings):
    """The settings that these agents share."""

    unusable_limit: Count = Field(
        default=5, description="How many unusable replies in a row end the episode."
    )


# Deeper than any tool needs, and shallow enough to store, compare and show.
_DEEPEST_NESTING = 64


class Unreadable(Exception):
    """A reply that cannot be used; the text says why."""


class ModelAgent(ABC):
    """Plays an episode by asking a model what to do next.

    `messages` is the conversation as the model sees it, kept up to date at every moment: whatever
    interrupts the episode, what was said until then is there.
    """

    def __init__(self, context: AgentContext) -> None:
        assert context.model is not None, "a strategy that needs a model was made without one"
        self.messages: list[ChatMessage] = []
        self._model = context.model
        self._seed = context.seed
        self._unusable_limit = context.settings.unusable_limit

    async def play(self, stage: Stage) -> None:
        self.messages = [
            {"role": "system", "content": self._system(stage)},
            *stage.opening_messages,
        ]
        unusable = 0
        while not stage.over and unusable < self._unusable_limit:
            completion = await self._model.complete(self._request(stage))
            unusable = 0 if await self._follow(stage, completion) else unusable + 1

    @abstractmethod
    def _system(self, stage: Stage) -> str:
        """The system message."""

    @abstractmethod
    def _request(self, stage: Stage) -> ModelRequest:
        """The model request for the messages so far."""

    @abstractmethod
    async def _follow(self, stage: Stage, completion: Completion) -> bool:
        """Act on the reply and record both; False if it leads to no step."""

    def _question(
        self,
        *,
        tools: list[dict[str, Any]] | None = None,
        response_format: dict[str, Any] | None = None,
    ) -> ModelRequest:
        # Copy the messages: a request must not change when the conversation continues.
        return ModelRequest(
            messages=list(self.messages),
            tools=tools,
            response_format=response_format,
            seed=self._seed,
        )

    def _record_reply(
        self, completion: Completion, tool_calls: list[dict[str, Any]] | None = None
    ) -> None:
        extras = extras_of(completion.message, {"role", "content", "tool_calls"})
        content = writable(completion.text) or (None if tool_calls else "")
        reply: ChatMessage = {"role": "assistant", "content": content, **extras}
        self.messages.append(reply | {"tool_calls": tool_calls} if tool_calls else reply)

    def _record_answer(self, content: str) -> None:
        self.messages.append({"role": "user", "content": content})

    def _object_to(self, problem: str) -> bool:
        self._record_answer(NOTICE + problem)
        return False


def extras_of(sent: Mapping[str, Any], known: Set[str]) -> dict[str, Any]:
    """The unknown members of a provider's message that JSON can hold.

    They go back to the provider with the conversation, because some providers need them.
    """
    return {
        key: value
        for key, value in sent.items()
        if key not in known and value is not None and _can_be_written({key: value})
    }


def _can_be_written(value: dict[str, Any]) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return _nesting(value) <= _DEEPEST_NESTING


def read_object(text: str) -> dict[str, Any]:
    """The JSON object that a model wrote."""
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    if not isinstance(value, dict):
        raise Unreadable(f"it is {_KINDS[type(value)]}")
    found = cast("dict[str, Any]", value)
    if _nesting(found) > _DEEPEST_NESTING:
        raise Unreadable(f"it is nested more than {_DEEPEST_NESTING} levels deep")
    return found


_KINDS: Mapping[type, str] = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "a truth value",
    type(None): "null",
}


def _nesting(value: Any) -> int:
    # Go level by level: recursion would fail on deep nesting.
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in as_dict(container).values() or as_list(container)
        ]
    return depth
