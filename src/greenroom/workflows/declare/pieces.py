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

from typing import Any

from greenroom.messages import is_message, text_of
from greenroom.util.json_values import as_dict, encoded
from greenroom.workflows.calls import SERVER_ERROR, CallError, Event
from greenroom.workflows.declare.outputs import PIECE_LINE, json_value
from greenroom.workflows.usage import ReportedUsage, read_usage

EVENTS = frozenset({"tool_call", "tool_result", "usage"})
"""The types of what is told beside text and messages."""
MAX_ANSWER = 64 << 20
"""The largest answer that a generator may yield, in bytes."""
MAX_UNDER_WAY = 256 << 20
"""Bytes of all answers of a workflow that are under way; small ones may go on."""
SMALL_ANSWER = 1 << 20


class UnderWay:
    """Counts the bytes of the answers that are under way."""

    size = 0


class Pieces:
    """Collects what a generator yields: messages of a chat workflow, or any text and values."""

    def __init__(
        self, name: str, usage: ReportedUsage, *, is_chat: bool, under_way: UnderWay
    ) -> None:
        self._name = name
        self._usage = usage
        self._is_chat = is_chat
        self._kept: list[Any] = []
        self._text: list[str] = []
        self.tool_calls: list[dict[str, Any]] = []
        """The calls that were told as events."""
        self._size = 0
        self._under_way = under_way

    def take(self, piece: Any) -> list[Event]:
        """The events of a piece."""
        value = json_value(piece)
        size = len(value) if isinstance(value, str) else len(encoded(value))
        self._size += size
        self._under_way.size += size
        if self._size > MAX_ANSWER:
            raise self._too_large("The answer", "is", MAX_ANSWER)
        if self._under_way.size > MAX_UNDER_WAY and self._size > SMALL_ANSWER:
            raise self._too_large("All answers under way", "are", MAX_UNDER_WAY)
        if isinstance(value, str):
            (self._text if self._is_chat else self._kept).append(value)
            return [Event(kind="delta", text=value)]
        if not self._is_chat:
            return [self._whole(value)]
        if is_message(value):
            return self._message(value)
        fields = as_dict(value)
        match fields.get("type"):
            case "tool_call" | "tool_result" as kind:
                data = {name: item for name, item in fields.items() if name != "type"}
                if kind == "tool_call":
                    self.tool_calls.append(data)
                return [*self.end(), Event(kind=kind, data=data)]
            case "usage":
                self._usage.add(read_usage(fields))
                return [Event(kind="usage", data=self._usage.to_json())]
            case _:
                raise CallError(
                    f"The chat workflow '{self._name}' yielded a {type(piece).__name__}, and "
                    f"neither text nor a message. Write: {PIECE_LINE}",
                    status=SERVER_ERROR,
                    kind="NotAMessage",
                )

    def close(self) -> None:
        """Count the answer as under way no longer."""
        self._under_way.size -= self._size

    def end(self) -> list[Event]:
        """End the text of a chat so far: its message, if there is text."""
        if not self._text:
            return []
        message = {"role": "assistant", "content": "".join(self._text)}
        self._text.clear()
        return [self._whole(message)]

    @property
    def outputs(self) -> Any:
        """The whole answer."""
        if self._is_chat:
            return self._kept[0] if len(self._kept) == 1 else self._kept
        is_text = all(isinstance(piece, str) for piece in self._kept)
        return "".join(self._kept) if is_text else self._kept

    def _too_large(self, what: str, are: str, limit: int) -> CallError:
        text = f"{what} of '{self._name}' {are} larger than {limit:,} bytes, which is the limit."
        return CallError(text, status=SERVER_ERROR, kind="AnswerTooLarge")

    def _message(self, message: dict[str, Any]) -> list[Event]:
        same = "".join(self._text) == text_of(message.get("content"))
        if self._text and message["role"] == "assistant" and same:
            self._text.clear()
        return [*self.end(), self._whole(message)]

    def _whole(self, value: Any) -> Event:
        self._kept.append(value)
        return Event(kind="message", data=value)
