"""Actions in a chat: native tool calls, text after "Action:", or a JSON object.

Reads the actions done from the assistant's messages, and writes the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from greenroom.domains.tasks import RESPOND, Action
from greenroom.messages import text_of
from greenroom.model_server.planned_actions import ActionKey, action_key
from greenroom.model_server.requests import ChatRequest
from greenroom.model_server.schemas import (
    DEEPEST_ACTION,
    ActionPlace,
    action_places,
    minimal_instance,
)
from greenroom.models.types import ChatMessage
from greenroom.util.json_values import as_dict, as_list

Protocol = Literal["tools", "text", "structured", "talk"]
"""How an agent acts; "talk" is for requests that offer no way to act."""

_ACTION = "Action:"
_THOUGHT = "Thought:"
_PLACEHOLDER = "arguments-go-here"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The assistant's answer: text or a tool call."""

    content: str | None = None
    call: PlannedCall | None = None
    cut: bool = False
    """The answer was cut at its token limit."""

    @property
    def finish_reason(self) -> str:
        """Why the answer ends."""
        return "length" if self.cut else "tool_calls" if self.call else "stop"

    @property
    def tokens(self) -> int:
        """A token is four characters."""
        size = len(self.content or "")
        if self.call:
            size += len(self.call.name) + len(self.call.arguments)
        return -(-size // 4)

    def limited(self, request: ChatRequest) -> Reply:
        """The answer up to the first stop word and within the token limit."""
        content = self.content
        for stop in request.stop:
            content = content and content.partition(stop)[0]
        most = request.max_tokens
        if most is None or self.tokens <= most:
            return self if content == self.content else Reply(content, self.call)
        call = self.call and PlannedCall(
            self.call.id, self.call.name, self.call.arguments[: most * 4 - len(self.call.name)]
        )
        return Reply(content and content[: most * 4], call, cut=True)


def protocol_of(request: ChatRequest) -> Protocol:
    """The form in which a request wants actions."""
    if request.tools:
        return "tools"
    if request.schema is not None:
        return "structured"
    return "text" if _ACTION in request.system else "talk"


def actions_done(messages: list[ChatMessage]) -> Iterator[ActionKey]:
    """The assistant's actions so far; calls without a JSON object as arguments do not count."""
    for message in messages:
        if message["role"] != "assistant":
            continue
        if calls := as_list(message.get("tool_calls")):
            yield from _called(calls)
        else:
            yield _written(text_of(message.get("content")))


def _called(calls: list[Any]) -> Iterator[ActionKey]:
    for call in calls:
        try:
            function = call["function"]
            yield action_key(str(function["name"]), _arguments(function["arguments"]))
        except (KeyError, TypeError, ValueError):
            continue


def _written(text: str) -> ActionKey:
    text = text.rpartition(_ACTION)[2].strip()
    if text.startswith("{"):
        try:
            action = _named(orjson.loads(text))
            return action_key(str(action["name"]), _arguments(action["arguments"]))
        except (KeyError, TypeError, ValueError):
            pass
    return action_key(RESPOND, {"content": text})


def _named(value: dict[str, Any]) -> dict[str, Any]:
    """The object that holds the action's name, in the object itself or nested in it."""
    for _ in range(DEEPEST_ACTION):
        if "name" in value:
            break
        inner = [as_dict(item) for item in value.values() if isinstance(item, dict)]
        value = inner[0] if inner else value
    return value


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = orjson.loads(value or "{}")
    if not isinstance(value, dict):
        raise TypeError("arguments are a JSON object")
    return cast("dict[str, Any]", value)


def write_action(
    action: Action, request: ChatRequest, protocol: Protocol, fault: str | None = None
) -> Reply:
    """Write an action as a reply; two faults spoil its tool's name or its arguments."""
    said = action.kwargs.get("content") if action.name == RESPOND else None
    if said is not None and (protocol == "talk" or (protocol == "tools" and not _speaks(request))):
        return Reply(said)
    if protocol == "talk":
        return Reply("One moment, please.")
    name = f"{action.name}_now" if fault == "wrong-tool" else action.name
    arguments = orjson.dumps(dict(action.kwargs)).decode()
    if fault == "bad-arguments":
        arguments = arguments[:-1]
    if protocol == "tools":
        number = sum(message["role"] == "assistant" for message in request.messages) + 1
        return Reply(call=PlannedCall(f"call_{number}", name, arguments))
    if protocol == "structured":
        return Reply(_structured(action.name, name, arguments, request.schema or {}))
    written = f'{{"name": {orjson.dumps(name).decode()}, "arguments": {arguments}}}'
    thought = f"{_THOUGHT}\nThis is the next step.\n" if _THOUGHT in request.system else ""
    return Reply(f"{thought}{_ACTION}\n{written}")


def _structured(action: str, name: str, arguments: str, schema: dict[str, Any]) -> str:
    places = list(action_places(schema)) or [ActionPlace({"type": "object", "properties": {}})]
    place = next((one for one in places if one.takes(action)), places[0])
    as_text = place.arguments_are_text
    value: dict[str, Any] = minimal_instance(place.schema, schema)
    value |= {"name": name, "arguments": arguments if as_text else _PLACEHOLDER}
    for key, outer in reversed(place.around):
        value = {**as_dict(minimal_instance(outer, schema)), key: value}
    return orjson.dumps(value).decode().replace(f'"{_PLACEHOLDER}"', arguments)


def _speaks(request: ChatRequest) -> bool:
    """Whether `respond` is one of the tools."""
    return any(as_dict(tool.get("function")).get("name") == RESPOND for tool in request.tools)
