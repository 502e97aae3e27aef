"""Actions in a chat: native tool calls, text behind "Action:", or a JSON object.

Both ways: what the assistant's messages say was done, and how the next action is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from greenroom.domains.actions import RESPOND, Action
from greenroom.model_server.asking import Asked, ChatMessage, text_of
from greenroom.model_server.plans import Deed, deed
from greenroom.model_server.schemas import (
    DEEPEST_ACTION,
    ActionPlace,
    action_places,
    minimal_instance,
)

Protocol = Literal["tools", "text", "structured", "talk"]
"""How an agent acts; one that only talks was given no way to act at all."""

Spoiling = Literal["wrong-tool", "bad-arguments"]

_ACTION = "Action:"
_THOUGHT = "Thought:"
_HERE = "arguments-go-here"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the assistant writes it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the assistant answers: words, or a call."""

    content: str | None = None
    call: ToolCall | None = None
    cut: bool = False
    """The answer is longer than it may be and ends where it has to."""

    @property
    def finish_reason(self) -> str:
        """Why the answer ends."""
        return "length" if self.cut else "tool_calls" if self.call else "stop"

    @property
    def tokens(self) -> int:
        """Four characters are a token."""
        size = len(self.content or "")
        if self.call:
            size += len(self.call.name) + len(self.call.arguments)
        return -(-size // 4)

    def limited(self, asked: Asked) -> Reply:
        """The answer up to the first stop word and within the tokens that it may take."""
        content = self.content
        for stop in asked.stop:
            content = content and content.partition(stop)[0]
        most = asked.max_tokens
        if most is None or self.tokens <= most:
            return self if content == self.content else Reply(content, self.call)
        call = self.call and ToolCall(
            self.call.id, self.call.name, self.call.arguments[: most * 4 - len(self.call.name)]
        )
        return Reply(content and content[: most * 4], call, cut=True)


def protocol_of(asked: Asked) -> Protocol:
    """How the agent that asks wants its actions."""
    if asked.tools:
        return "tools"
    if asked.schema is not None:
        return "structured"
    return "text" if _ACTION in asked.system else "talk"


def deeds_done(messages: list[ChatMessage]) -> Iterator[Deed]:
    """What the assistant did so far; a call whose arguments are no JSON object was not done."""
    for message in messages:
        if message["role"] != "assistant":
            continue
        calls: Any = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            yield from _called(cast("list[Any]", calls))
        else:
            yield _written(text_of(message))


def _called(calls: list[Any]) -> Iterator[Deed]:
    for call in calls:
        try:
            function = call["function"]
            yield deed(str(function["name"]), _arguments(function["arguments"]))
        except (KeyError, TypeError, ValueError):
            continue


def _written(text: str) -> Deed:
    text = text.rpartition(_ACTION)[2].strip()
    if text.startswith("{"):
        try:
            action = _named(orjson.loads(text))
            return deed(str(action["name"]), _arguments(action["arguments"]))
        except (KeyError, TypeError, ValueError):
            pass
    return deed(RESPOND, {"content": text})


def _named(value: dict[str, Any]) -> dict[str, Any]:
    """The action in an object, which may lie further in."""
    for _ in range(DEEPEST_ACTION):
        if "name" in value:
            break
        inner = [_members(item) for item in value.values() if isinstance(item, dict)]
        value = inner[0] if inner else value
    return value


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = orjson.loads(value or "{}")
    if not isinstance(value, dict):
        raise TypeError("arguments are a JSON object")
    return cast("dict[str, Any]", value)


def write_action(
    action: Action, asked: Asked, protocol: Protocol, spoiled: Spoiling | None = None
) -> Reply:
    """The answer that does an action; spoiled, it names no tool or its arguments are no JSON."""
    said = action.kwargs.get("content") if action.name == RESPOND else None
    if said is not None and (protocol == "talk" or (protocol == "tools" and not _speaks(asked))):
        return Reply(said)
    if protocol == "talk":
        return Reply("One moment, please.")
    name = f"{action.name}_now" if spoiled == "wrong-tool" else action.name
    arguments = orjson.dumps(dict(action.kwargs)).decode()
    if spoiled == "bad-arguments":
        arguments = arguments[:-1]
    if protocol == "tools":
        number = sum(message["role"] == "assistant" for message in asked.messages) + 1
        return Reply(call=ToolCall(f"call_{number}", name, arguments))
    if protocol == "structured":
        return Reply(_structured(action.name, name, arguments, asked.schema or {}))
    written = f'{{"name": {orjson.dumps(name).decode()}, "arguments": {arguments}}}'
    thought = f"{_THOUGHT}\nThis is the next step.\n" if _THOUGHT in asked.system else ""
    return Reply(f"{thought}{_ACTION}\n{written}")


def _structured(action: str, name: str, arguments: str, schema: dict[str, Any]) -> str:
    places = list(action_places(schema)) or [ActionPlace({"type": "object", "properties": {}})]
    place = next((one for one in places if one.takes(action)), places[0])
    as_text = place.arguments_are_text
    value: dict[str, Any] = minimal_instance(place.schema, schema)
    value |= {"name": name, "arguments": arguments if as_text else _HERE}
    for key, outer in reversed(place.around):
        value = {**_members(minimal_instance(outer, schema)), key: value}
    return orjson.dumps(value).decode().replace(f'"{_HERE}"', arguments)


def _members(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _speaks(asked: Asked) -> bool:
    """Whether talking to the user is one of the tools."""
    functions: list[Any] = [tool.get("function") for tool in asked.tools]
    return any(function and function.get("name") == RESPOND for function in functions)
