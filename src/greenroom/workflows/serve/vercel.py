"""The Vercel AI SDK's wire format: UI messages in, a UI message stream out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from greenroom.messages import text_of
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.calls import Answer, CallError, Event
from greenroom.workflows.serve.event_stream import called_tools
from greenroom.workflows.serve.exchange import Headers, encode, sse
from greenroom.workflows.serve.headers import MESSAGES_FORMAT, VERCEL, CallIds
from greenroom.workflows.serve.runner import error_text
from greenroom.workflows.usage import agenta_usage

VERCEL_HEADERS: Headers = [
    (b"x-vercel-ai-ui-message-stream", b"v1"),
    (MESSAGES_FORMAT, VERCEL),
    (b"x-ag-messages-version", b"v1"),
]

_DONE = b"data: [DONE]\n\n"

Part = dict[str, Any]


class VercelWriter:
    """Writes an answer as parts of one UI message."""

    content_type = b"text/event-stream"

    def __init__(self, ids: CallIds) -> None:
        self._ids = ids
        self._begun = False
        self._texts = 0
        self._open = False
        self._anything = False
        self._tools: set[str] = set()

    def frames(self, event: Event) -> bytes:
        parts = list(self._parts(event))
        return self._written(parts) + (_DONE if event.kind == "end" else b"")

    def failed(self, error: CallError) -> bytes:
        parts = [
            *self._end_text(),
            {"type": "error", "errorText": error_text(error)},
            {"type": "finish-step"},
            {"type": "finish", "finishReason": "error"},
        ]
        return self._written(parts) + _DONE

    def _written(self, parts: list[Part]) -> bytes:
        if parts and not self._begun:
            self._begun = True
            metadata = {"sessionId": self._ids.session_id}
            start = {"type": "start", "messageId": f"msg-{uuid4().hex}"}
            parts = [start | {"messageMetadata": metadata}, {"type": "start-step"}, *parts]
        return b"".join(map(sse, parts))

    def _parts(self, event: Event) -> Iterator[Part]:
        match event.kind:
            case "delta":
                yield from self._text(event.text)
            case "message":
                yield from self._message(event.data)
            case "tool_call":
                yield from self._tool_call(event.data)
            case "tool_result":
                yield from self._tool_result(event.data)
            case "usage":
                pass  # sent once, at the end
            case "end":
                yield from self._end(event.data)

    def _text(self, text: str) -> Iterator[Part]:
        self._anything = True
        if not self._open:
            self._open = True
            self._texts += 1
            yield {"type": "text-start", "id": self._id}
        yield {"type": "text-delta", "id": self._id, "delta": text}

    def _end_text(self) -> Iterator[Part]:
        if self._open:
            self._open = False
            yield {"type": "text-end", "id": self._id}

    def _message(self, message: Any) -> Iterator[Part]:
        fields = as_dict(message)
        self._anything = True
        match fields.get("role"):
            case None:  # a value of a workflow that does not chat
                yield {"type": "data-output", "data": message}
            case "assistant":
                text = text_of(fields.get("content"))
                if not self._open and text:
                    yield from self._text(text)
                yield from self._end_text()
                for call in called_tools(fields):
                    yield from self._tool_call(call)
            case "tool":
                result = {"id": fields.get("tool_call_id"), "output": fields.get("content")}
                yield from self._tool_result(result)
            case _:
                pass  # a UI message holds only what the assistant says and does

    def _tool_call(self, call: dict[str, Any]) -> Iterator[Part]:
        identity, name = str(call.get("id")), str(call.get("name"))
        self._anything = True
        named = {"toolCallId": identity, "toolName": name}
        if identity not in self._tools:
            self._tools.add(identity)
            yield {"type": "tool-input-start", **named}
        yield {"type": "tool-input-available", **named, "input": call.get("input")}

    def _tool_result(self, result: dict[str, Any]) -> Iterator[Part]:
        identity = str(result.get("id"))
        if identity not in self._tools:
            return  # the client does not know the call
        if result.get("isError"):
            error = str(result.get("output"))
            yield {"type": "tool-output-error", "toolCallId": identity, "errorText": error}
        else:
            output = result.get("output")
            yield {"type": "tool-output-available", "toolCallId": identity, "output": output}

    def _end(self, answer: Answer) -> Iterator[Part]:
        if not self._anything:
            if isinstance(answer.outputs, str):
                yield from self._text(answer.outputs)
            else:
                yield {"type": "data-output", "data": answer.outputs}
        yield from self._end_text()
        yield {"type": "finish-step"}
        metadata: dict[str, Any] = {"traceId": self._ids.trace_id}
        usage = agenta_usage(answer)
        if usage is not None:
            metadata["usage"] = usage
        yield {"type": "finish", "finishReason": "stop", "messageMetadata": metadata}

    @property
    def _id(self) -> str:
        return f"text-{self._texts}"


def with_plain_messages(inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs with UI messages turned into chat-completion messages."""
    messages = inputs.get("messages")
    if not isinstance(messages, list):
        return inputs
    plain = [plain for one in as_list(messages) for plain in _plain_messages(one)]
    return {**inputs, "messages": plain}


def _plain_messages(message: Any) -> list[Any]:
    fields = as_dict(message)
    if not isinstance(fields.get("parts"), list):
        return [message]
    parts = [as_dict(one) for one in as_list(fields["parts"])]
    content = [plain for one in parts for plain in _content(one)]
    simplest: Any = content
    if all(part["type"] == "text" for part in content):
        simplest = "".join(part["text"] for part in content)
    plain: Part = {"role": fields.get("role"), "content": simplest}
    tools = [one for one in parts if _tool_name(one) is not None and "input" in one]
    if tools:
        plain["tool_calls"] = [_tool_call(one) for one in tools]
    return [plain, *(_tool_message(one) for one in tools if "output" in one or "errorText" in one)]


def _content(part: Part) -> list[Part]:
    if part.get("type") == "text":
        return [{"type": "text", "text": str(part.get("text", ""))}]
    if part.get("type") == "file" and isinstance(part.get("url"), str):
        if str(part.get("mediaType")).startswith("image/"):
            return [{"type": "image_url", "image_url": {"url": part["url"]}}]
        named = {"filename": part["filename"]} if isinstance(part.get("filename"), str) else {}
        return [{"type": "file", "file": {"file_data": part["url"], **named}}]
    return []


def _tool_name(part: Part) -> str | None:
    kind = part.get("type")
    if kind == "dynamic-tool":
        return str(part.get("toolName"))
    return (
        kind.removeprefix("tool-") if isinstance(kind, str) and kind.startswith("tool-") else None
    )


def _tool_call(part: Part) -> Part:
    arguments = encode(part.get("input")).decode()
    function = {"name": _tool_name(part), "arguments": arguments}
    return {"id": str(part.get("toolCallId")), "type": "function", "function": function}


def _tool_message(part: Part) -> Part:
    output: Any = part.get("errorText", part.get("output"))
    text = output if isinstance(output, str) else encode(output).decode()
    return {"role": "tool", "tool_call_id": str(part.get("toolCallId")), "content": text}
