"""Collecting what a generator yields into an answer.

A chat workflow's generator yields

    "some text"                                   the next words of the assistant's message
    {"role": "assistant", "content": ...}         a whole message, of any role
    {"type": "tool_call", "id", "name", "input"}  a tool that the workflow itself calls
    {"type": "tool_result", "id", "output"}       its result
    {"type": "usage", "prompt_tokens", ...}       tokens and cost

Text becomes a message at the end, or when something else is yielded. A message that repeats the
text so far, perhaps with tool calls, completes that message. The answer is the message, or the list
of messages if there are several. Any other workflow's generator yields text, which is joined, or
any JSON values, which become a list.
"""

from __future__ import annotations

from typing import Any, TypeVar

from greenroom.messages import is_message, text_of
from greenroom.util.json_values import as_dict
from greenroom.workflows.calls import SERVER_ERROR, CallError, Event
from greenroom.workflows.declare.outputs import PIECE_LINE, json_value
from greenroom.workflows.usage import ReportedUsage

_Number = TypeVar("_Number", int, float)


class ChatPieces:
    """Collects the messages of a chat workflow."""

    def __init__(self, name: str, usage: ReportedUsage) -> None:
        self.messages: list[dict[str, Any]] = []
        self._name = name
        self._usage = usage
        self._text: list[str] = []

    def take(self, piece: Any) -> list[Event]:
        """The events of a piece."""
        if isinstance(piece, str):
            self._text.append(piece)
            return [Event(kind="delta", text=piece)]
        value = json_value(piece)
        if is_message(value):
            return self._message(value)
        fields = as_dict(value)
        match fields.get("type"):
            case "tool_call" | "tool_result" as kind:
                data = {name: item for name, item in fields.items() if name != "type"}
                return [*self.end(), Event(kind=kind, data=data)]
            case "usage":
                return [_counted(self._usage, fields)]
            case _:
                raise self._no_message(piece)

    def end(self) -> list[Event]:
        """End the text so far: its message, if there is text."""
        if not self._text:
            return []
        message = {"role": "assistant", "content": "".join(self._text)}
        self._text.clear()
        return [self._kept(message)]

    @property
    def outputs(self) -> Any:
        """The whole answer."""
        return self.messages[0] if len(self.messages) == 1 else self.messages

    def _message(self, message: dict[str, Any]) -> list[Event]:
        same = "".join(self._text) == text_of(message.get("content"))
        if self._text and message["role"] == "assistant" and same:
            self._text.clear()
            return [self._kept(message)]
        return [*self.end(), self._kept(message)]

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
    """Collects the text or the values of any other workflow."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def take(self, piece: Any) -> list[Event]:
        """The events of a piece."""
        value = json_value(piece)
        self._pieces.append(value)
        if isinstance(value, str):
            return [Event(kind="delta", text=value)]
        return [Event(kind="message", data=value)]

    def end(self) -> list[Event]:
        """No events: every piece already had its own."""
        return []

    @property
    def outputs(self) -> Any:
        """The whole answer."""
        if all(isinstance(piece, str) for piece in self._pieces):
            return "".join(self._pieces)
        return self._pieces


def _counted(usage: ReportedUsage, value: dict[str, Any]) -> Event:
    usage.add(
        prompt_tokens=_number(value.get("prompt_tokens"), int),
        completion_tokens=_number(value.get("completion_tokens"), int),
        cost=_number(value.get("cost"), float),
    )
    return Event(kind="usage", data=usage.to_json())


def _number(value: Any, kind: type[_Number]) -> _Number | None:
    return kind(value) if isinstance(value, (int, float)) else None
