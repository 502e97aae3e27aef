"""Reading streamed answers in four dialects.

Frames become events, and all events together the answer. The dialects are recognised frame by
frame: Agenta's events, Vercel's UI message stream, OpenAI's chunks, and bare values of a plain
generator.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

import orjson

from greenroom.messages import is_message
from greenroom.models.faults import excerpt
from greenroom.util.json_values import as_dict, as_list, decoded
from greenroom.workflows.calls import (
    Answer,
    CallError,
    Event,
    WorkflowUnavailable,
    called_tools,
    calls_beside,
)
from greenroom.workflows.usage import ReportedUsage, read_usage

SSE = "text/event-stream"
STREAMS = frozenset({SSE, "application/x-ndjson", "application/jsonl"})
"""Content types of streamed answers."""

_DONE = "[DONE]"
_IGNORED = frozenset(
    {
        # Agenta's
        *("thought", "thought_start", "thought_delta", "thought_end", "interaction_request"),
        *("data", "file", "attachment_delivery", "mcp_server_failed", "turn", "message_start"),
        # Vercel's
        *("start", "start-step", "finish-step", "text-start", "tool-input-start"),
        *("tool-input-delta", "message-metadata", "abort"),
    }
)
_IGNORED_FAMILIES = ("reasoning-", "source-", "data-")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stream; lines of JSON have no name."""

    data: str
    name: str = ""


async def read_frames(chunks: AsyncIterable[bytes], content_type: str) -> AsyncIterator[Frame]:
    """The frames of a stream, including a last one without an end of line."""
    name, data = "", list[str]()
    async for line in _lines(chunks):
        if content_type != SSE:
            if line.strip():
                yield Frame(line)
            continue
        if not line:
            if data:
                yield Frame("\n".join(data), name)
            name, data = "", []
        key, _, value = line.removeprefix("\ufeff").partition(":")
        if key == "data":
            data.append(value.removeprefix(" "))
        elif key == "event":
            name = value.removeprefix(" ")


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """The lines of a stream, and an empty one at the end."""
    parts: list[bytes] = []
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        if rest:
            lines = [b"".join(parts), *rest]
            parts = [lines.pop()]
            for line in lines:
                yield line.removesuffix(b"\r").decode("utf-8", "replace")
    yield b"".join(parts).removesuffix(b"\r").decode("utf-8", "replace")
    yield ""


@dataclass
class StreamedAnswer:
    """Puts a streamed answer together: `take` each frame, then read `outputs`.

    The text of a workflow that does not chat is a string and not a message.
    """

    is_chat: bool = True
    usage: ReportedUsage = field(default_factory=ReportedUsage)
    session_id: str | None = None
    trace_id: str | None = None
    _messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _values: list[Any] = field(default_factory=list[Any])
    _text: list[str] = field(default_factory=list[str])
    _refusal: list[str] = field(default_factory=list[str])
    _whole_calls: set[str] = field(default_factory=set[str])
    """Tool calls of messages that arrived whole."""
    _calls: dict[Any, dict[str, Any]] = field(default_factory=dict[Any, dict[str, Any]])
    _told: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The calls that were told as events."""
    _spoken: bool = False
    """Whether there is an open message, perhaps an empty one."""
    _whole: dict[str, Any] | None = None
    _ended: bool | None = None
    """None in dialects without an end marker."""

    def take(self, frame: Frame) -> Iterator[Event]:
        """The events of one frame; raises a CallError if it reports a failure."""
        if frame.data.strip() == _DONE:
            self._ended = True
            return
        value = _decoded(frame.data)
        if not isinstance(value, dict):
            yield from self._bare(value)
            return
        found = cast("dict[str, Any]", value)
        if isinstance(found.get("choices"), list) or (
            isinstance(found.get("error"), (dict, str)) and "type" not in found
        ):
            yield from self._openai(found)
            return
        kind, data = _named(frame.name, found)
        if "-" in kind or kind in ("start", "finish"):
            self._ended = self._ended or kind == "finish"
            kind, data = _from_vercel(kind, data)
        events = self._agenta(kind, data)
        if events is not None:
            yield from events
        elif kind in _IGNORED or kind.startswith(_IGNORED_FAMILIES):
            self._note_ids(data)
        else:
            yield from self._bare(found)

    def close(self) -> Iterator[Event]:
        """The events at the end of the stream; raises if it ended too early."""
        if self._ended is False:
            raise WorkflowUnavailable("the stream broke off before the answer was complete")
        yield from self._flush()

    @property
    def outputs(self) -> Any:
        """The answer as the workflow would have returned it at once.

        Bare values as they were yielded; otherwise the message, or the list of messages.
        """
        if self._whole is not None:
            return self._whole["outputs"]
        if not self._messages:
            if self._values and all(isinstance(value, str) for value in self._values):
                return "".join(self._values)
            return _one_or_all(self._values)
        return _one_or_all([*self._messages, *self._values])

    @property
    def answer(self) -> Answer:
        """The answer, with usage and ids."""
        ids: dict[str, Any] = {"session_id": self.session_id, "trace_id": self.trace_id}
        outputs = self.outputs
        told = calls_beside(outputs, self._told)
        return Answer(outputs=outputs, tool_calls=told, **self.usage.to_json(), **ids)

    # Bare values ------------------------------------------------------------------------------

    def _bare(self, value: Any) -> Iterator[Event]:
        if is_message(value):
            self._messages.append(value)
            calls = map(as_dict, as_list(value.get("tool_calls")))
            self._whole_calls.update(str(call.get("id")) for call in calls)
        else:
            self._values.append(value)
        if isinstance(value, str):
            yield Event(kind="delta", text=value)
        else:
            yield Event(kind="message", data=value)

    # Agenta -----------------------------------------------------------------------------------

    def _agenta(self, kind: str, data: dict[str, Any]) -> Iterator[Event] | None:
        match kind:
            case "message" if is_message(_whole(data)) or isinstance(data.get("text"), str):
                return self._message(data)
            case "message_delta":
                return self._delta(data.get("delta"))
            case "message_end":
                return self._end_of_message(data)
            case "tool_call":
                return self._tool_call(data)
            case "tool_result":
                return self._tool_result(data)
            case "usage":
                return self._use(data)
            case "data" if data.get("name") == "output":
                return self._bare(data.get("data"))
            case "done":
                return self._done(data)
            case "error":
                return _fail(data)
            case _:
                return None

    def _message(self, data: dict[str, Any]) -> Iterator[Event]:
        yield from self._flush()
        whole = _whole(data)
        if is_message(whole):
            yield from self._bare(whole)
            return
        yield from self._delta(data.get("text"))
        yield from self._flush()

    def _end_of_message(self, data: dict[str, Any]) -> Iterator[Event]:
        whole = data.get("message")
        if not is_message(whole):
            yield from self._flush()
            return
        # The whole message replaces its pieces.
        self._forget_open()
        yield from self._bare(whole)

    def _done(self, data: dict[str, Any]) -> Iterator[Event]:
        self._note_ids(data)
        yield from self._flush()
        if "outputs" in data:
            self._whole = data
        if isinstance(data.get("usage"), dict):
            yield from self._use(data["usage"])

    # OpenAI -----------------------------------------------------------------------------------

    def _openai(self, chunk: dict[str, Any]) -> Iterator[Event]:
        self._ended = self._ended or False
        if chunk.get("error"):
            _fail(as_dict(chunk["error"]) or {"message": str(chunk["error"])})
        for choice in map(as_dict, as_list(chunk.get("choices"))):
            if choice.get("index"):
                continue
            delta = as_dict(choice.get("delta"))
            self._spoken = self._spoken or bool(delta)
            if isinstance(delta.get("refusal"), str):
                self._refusal.append(delta["refusal"])
            yield from self._delta(delta.get("content"))
            for call in map(as_dict, as_list(delta.get("tool_calls"))):
                self._grow(call)
            if choice.get("finish_reason"):
                self._ended = True
                for call in called_tools({"tool_calls": list(self._calls.values())}):
                    yield Event(kind="tool_call", data=call)
                yield from self._flush()
        if isinstance(chunk.get("usage"), dict):
            yield from self._use(chunk["usage"])

    def _grow(self, piece: dict[str, Any]) -> None:
        call = self._calls.setdefault(piece.get("index", len(self._calls)), _tool_call("", "", ""))
        function = as_dict(piece.get("function"))
        call["id"] = call["id"] or piece.get("id") or ""
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""

    # What the dialects share --------------------------------------------------------------------

    def _delta(self, text: Any) -> Iterator[Event]:
        if not isinstance(text, str) or not text:
            return
        if not self.is_chat:
            yield from self._bare(text)
            return
        self._spoken = True
        self._text.append(text)
        yield Event(kind="delta", text=text)

    def _tool_call(self, data: dict[str, Any]) -> Iterator[Event]:
        identity, name = str(data.get("id") or ""), str(data.get("name") or "")
        raw = data.get("rawInput")
        given = data.get("input") if raw is None else raw
        arguments = given if isinstance(given, str) else orjson.dumps(given or {}).decode()
        again = identity in self._calls
        if identity not in self._whole_calls:
            # The same id again: now with its arguments.
            self._calls[identity] = _tool_call(identity, name, arguments)
            self._spoken = True
        told = {"id": identity, "name": name, "input": given}
        if again:
            self._told = [told if one["id"] == identity else one for one in self._told]
        else:
            self._told.append(told)
            yield Event(kind="tool_call", data=told)

    def _tool_result(self, data: dict[str, Any]) -> Iterator[Event]:
        yield from self._flush()
        identity, output = str(data.get("id") or ""), data.get("output")
        failed = bool(data.get("isError"))
        text = output if isinstance(output, str) else orjson.dumps(output).decode()
        self._messages.append({"role": "tool", "tool_call_id": identity, "content": text})
        yield Event(kind="tool_result", data={"id": identity, "output": output, "isError": failed})

    def _use(self, data: dict[str, Any]) -> Iterator[Event]:
        self.usage = read_usage(data)
        yield Event(kind="usage", data=self.usage.to_json())

    def _flush(self) -> Iterator[Event]:
        """End the open message, if there is one."""
        if not self._spoken:
            return
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text)}
        if not self._text and (self._calls or self._refusal):
            message["content"] = None
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._calls:
            message["tool_calls"] = list(self._calls.values())
        # Tool calls alone already had their events.
        only_calls = message["content"] is None and not self._refusal
        self._forget_open()
        self._messages.append(message)
        if not only_calls:
            yield Event(kind="message", data=message)

    def _forget_open(self) -> None:
        self._text, self._refusal, self._calls, self._spoken = [], [], {}, False

    def _note_ids(self, data: dict[str, Any]) -> None:
        metadata = as_dict(data.get("messageMetadata"))
        session = metadata.get("sessionId") or data.get("session_id")
        trace = metadata.get("traceId") or data.get("trace_id")
        self.session_id = session if isinstance(session, str) else self.session_id
        self.trace_id = trace if isinstance(trace, str) else self.trace_id


def _named(name: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the data of an event, which each dialect has in another place."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return name, value
    data: Any = value.get("data")
    return kind, cast("dict[str, Any]", data) if isinstance(data, dict) else value


def _from_vercel(kind: str, part: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A part of Vercel's stream as Agenta's event; parts that Agenta does not have stay."""
    call = {"id": part.get("toolCallId")}
    match kind:
        case "text-delta":
            return "message_delta", part
        case "text-end":
            return "message_end", part
        case "tool-input-available":
            return "tool_call", call | {"name": part.get("toolName"), "input": part.get("input")}
        case "tool-output-available":
            return "tool_result", call | {"output": part.get("output")}
        case "tool-output-error" | "tool-output-denied":
            return "tool_result", call | {
                "output": part.get("errorText", "denied"),
                "isError": True,
            }
        case "finish":
            return "done", part | {"usage": as_dict(part.get("messageMetadata")).get("usage")}
        case _:
            return kind, part


def _whole(data: dict[str, Any]) -> Any:
    """The message that an event holds, or is."""
    return data.get("message", data)


def _decoded(text: str) -> Any:
    try:
        return decoded(text.encode())
    except ValueError:
        if text.startswith(("{", "[")):
            raise WorkflowUnavailable(
                f"a piece of the stream is not JSON, or incomplete: {excerpt(text)!r}"
            ) from None
        return text  # text without quotes


def _fail(data: dict[str, Any]) -> NoReturn:
    text = data.get("message") or data.get("errorText") or "it gave no reason"
    kind = data.get("type") or data.get("code")
    raise CallError(excerpt(str(text)), kind=kind if isinstance(kind, str) else "")


def _tool_call(identity: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": identity, "type": "function", "function": function}


def _one_or_all(values: list[Any]) -> Any:
    if not values:
        return None
    return values[0] if len(values) == 1 else values
