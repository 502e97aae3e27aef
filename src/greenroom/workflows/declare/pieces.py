"""What a generator yields, read as an answer: pieces of text, messages, and what it does meanwhile.

A chat workflow's generator yields

    "some text"                                   the next words of the assistant's message
    {"role": "assistant", "content": ...}         a whole message, of whatever role
    {"type": "tool_call", "id", "name", "input"}  a tool that the workflow itself calls
    {"type": "tool_result", "id", "output"}       what came of it
    {"type": "usage", "prompt_tokens", ...}       tokens and cost

Text ends, and becomes a message, where something else is yielded or nothing more comes. A message
that repeats the text so far, perhaps with tool calls, is that message's end and not another one.
The answer is the message, or the list of messages if there are several. Any other workflow's
generator yields text, which is joined, or any JSON values, which become a list.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from greenroom.messages import is_message, text_of
from greenroom.workflows.call.calls import CallError, Event
from greenroom.workflows.declare.contract import PIECE_LINE, SERVER_ERROR
from greenroom.workflows.declare.outputs import json_value
from greenroom.workflows.declare.usage import Usage

_Number = TypeVar("_Number", int, float)


class ChatPieces:
    """The messages that the pieces of a chat workflow's answer add up to."""

    def __init__(self, name: str, usage: Usage) -> None:
        self.messages: list[dict[str, Any]] = []
        self._name = name
        self._usage = usage
        self._text: list[str] = []

    def take(self, piece: Any) -> list[Event]:
        """The events that a piece makes."""
        if isinstance(piece, str):
            self._text.append(piece)
            return [Event(kind="delta", text=piece)]
        value = json_value(piece)
        if is_message(value):
            return self._message(value)
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        match fields.get("type"):
            case "tool_call" | "tool_result" as kind:
                told = {name: item for name, item in fields.items() if name != "type"}
                return [*self._end_text(), Event(kind=kind, data=told)]
            case "usage":
                return [_counted(self._usage, fields)]
            case _:
                raise self._no_message(piece)

    def end(self) -> list[Event]:
        """The events that are left when nothing more comes."""
        return self._end_text()

    @property
    def outputs(self) -> Any:
        """The answer as a whole."""
        return self.messages[0] if len(self.messages) == 1 else self.messages

    def _message(self, message: dict[str, Any]) -> list[Event]:
        same = "".join(self._text) == text_of(message.get("content"))
        if self._text and message["role"] == "assistant" and same:
            self._text.clear()
            return [self._kept(message)]
        return [*self._end_text(), self._kept(message)]

    def _end_text(self) -> list[Event]:
        if not self._text:
            return []
        message = {"role": "assistant", "content": "".join(self._text)}
        self._text.clear()
        return [self._kept(message)]

    def _no_message(self, piece: Any) -> CallError:
        return CallError(
            f"The chat workflow '{self._name}' yielded a {type(piece).__name__}, and neither text "
            f"nor a message. Write: {PIECE_LINE}",
            status=SERVER_ERROR,
            kind="NotAMessage",
        )

    def _kept(self, message: dict[str, Any]) -> Event:
        self.messages.append(message)
        return Event(kind="message", data=message)


class OtherPieces:
    """What the pieces of any other workflow's answer add up to: a text, or a list."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def take(self, piece: Any) -> list[Event]:
        """The events that a piece makes."""
        value = json_value(piece)
        self._pieces.append(value)
        if isinstance(value, str):
            return [Event(kind="delta", text=value)]
        return [Event(kind="message", data=value)]

    def end(self) -> list[Event]:
        """The events that are left when nothing more comes: none."""
        return []

    @property
    def outputs(self) -> Any:
        """The answer as a whole."""
        if all(isinstance(piece, str) for piece in self._pieces):
            return "".join(self._pieces)
        return self._pieces


def _counted(usage: Usage, value: dict[str, Any]) -> Event:
    usage.add(
        prompt_tokens=_number(value.get("prompt_tokens"), int),
        completion_tokens=_number(value.get("completion_tokens"), int),
        cost=_number(value.get("cost"), float),
    )
    return Event(kind="usage", data=usage.to_json())


def _number(value: Any, kind: type[_Number]) -> _Number | None:
    return kind(value) if isinstance(value, (int, float)) else None


__all__ = ["ChatPieces", "OtherPieces"]
