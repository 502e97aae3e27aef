"""The Vercel AI SDK's wire format: UI messages in, a UI message stream out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from greenroom.util.json_values import as_dict, as_list, encoded
from greenroom.workflows.serve.event_stream import EventWriter, Written
from greenroom.workflows.serve.exchange import DONE, Headers, sse
from greenroom.workflows.serve.headers import MESSAGES_FORMAT, VERCEL, CallIds

VERCEL_HEADERS: Headers = [
    (b"x-vercel-ai-ui-message-stream", b"v1"),
    (MESSAGES_FORMAT, VERCEL),
    (b"x-ag-messages-version", b"v1"),
]

Part = dict[str, Any]


class VercelWriter(EventWriter):
    """Writes a streamed answer as parts of one UI message, made from Agenta's events.

    What comes after the results of tools is another step. Clients look at the last step only when
    they decide whether to send the results of their own tools.
    """

    _prefix = "text"

    def __init__(self, ids: CallIds, message_id: str | None = None) -> None:
        super().__init__(ids)
        self._message_id = message_id or f"msg-{uuid4().hex}"
        self._begun = False
        self._results = False
        self._in_text = False
        self._shown = False
        self._tools: set[str] = set()
        self._usage: Part | None = None

    def _framed(self, written: list[Written]) -> bytes:
        parts = [part for kind, data in written for part in self._parts(kind, data)]
        if parts and not self._begun:
            self._begun = True
            metadata = {"sessionId": self._ids["session_id"]}
            start = {"type": "start", "messageId": self._message_id}
            parts = [start | {"messageMetadata": metadata}, {"type": "start-step"}, *parts]
        is_last = bool(written) and written[-1][0] == "done"
        return b"".join(map(sse, parts)) + (DONE if is_last else b"")

    def _parts(self, kind: str, data: Part) -> Iterator[Part]:
        self._shown = self._shown or kind not in ("usage", "done")
        if self._results and kind in ("message_delta", "data", "tool_call", "done"):
            self._results = False
            yield {"type": "finish-step"}
            yield {"type": "start-step"}
        match kind:
            case "message_delta":
                yield from self._text(data)
            case "message_end":
                yield from self._end_text(data["id"])
            case "data":
                yield {"type": "data-output", "data": data["data"]}
            case "tool_call":
                yield from self._tool_call(data)
            case "tool_result":
                yield from self._tool_result(data)
            case "usage":
                self._usage = data  # sent at the end
            case "error":
                yield from self._end_text(self._id)
                yield {"type": "error", "errorText": data["message"]}
            case "done":
                yield from self._finish(data)
            case _:
                pass  # a UI message holds only what the assistant says and does

    def _text(self, data: Part) -> Iterator[Part]:
        if not self._in_text:
            self._in_text = True
            yield {"type": "text-start", "id": data["id"]}
        yield {"type": "text-delta", **data}

    def _end_text(self, identity: str) -> Iterator[Part]:
        if self._in_text:
            self._in_text = False
            yield {"type": "text-end", "id": identity}

    def _tool_call(self, call: Part) -> Iterator[Part]:
        identity, name = str(call.get("id")), str(call.get("name"))
        named = {"toolCallId": identity, "toolName": name}
        if identity not in self._tools:
            self._tools.add(identity)
            yield {"type": "tool-input-start", **named}
        yield {"type": "tool-input-available", **named, "input": call.get("input")}

    def _tool_result(self, result: Part) -> Iterator[Part]:
        identity, output = str(result.get("id")), result.get("output")
        if identity not in self._tools:
            return  # the client does not know the call
        self._results = True
        if result.get("isError"):
            yield {"type": "tool-output-error", "toolCallId": identity, "errorText": str(output)}
        else:
            yield {"type": "tool-output-available", "toolCallId": identity, "output": output}

    def _finish(self, data: Part) -> Iterator[Part]:
        finish: Part = {"type": "finish", "finishReason": data["stopReason"]}
        if "outputs" in data:
            if not self._shown:
                yield {"type": "data-output", "data": data["outputs"]}
            usage = {"usage": self._usage} if self._usage else {}
            finish["messageMetadata"] = {"traceId": data["trace_id"], **usage}
        yield {"type": "finish-step"}
        yield finish


def has_ui_messages(messages: Any) -> bool:
    """Whether these are UI messages, by the last: it has parts in place of content."""
    last = _last(messages)
    return isinstance(last.get("parts"), list) and "content" not in last


def continued_id(messages: Any) -> str | None:
    """The id of the client's last message, if the answer continues it."""
    last = _last(messages)
    identity = last.get("id")
    return identity if last.get("role") == "assistant" and isinstance(identity, str) else None


def _last(messages: Any) -> Part:
    return as_dict(next(iter(as_list(messages)[-1:]), None))


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
    found: list[Part] = []
    steps = list(_steps([as_dict(one) for one in as_list(fields["parts"])]))
    for parts in steps or [[]]:
        content = [plain for one in parts for plain in _content(one)]
        simplest: Any = content
        if all(part["type"] == "text" for part in content):
            simplest = "".join(part["text"] for part in content)
        tools = [one for one in parts if _tool_name(one) is not None and "input" in one]
        calls = {"tool_calls": [_tool_call(one) for one in tools]} if tools else {}
        if content or tools or len(steps) <= 1:
            found.append({"role": fields.get("role"), "content": simplest} | calls)
        found += [_tool_message(one) for one in tools if "output" in one or "errorText" in one]
    return found


def _steps(parts: list[Part]) -> Iterator[list[Part]]:
    """The parts of each step; what follows tools is a step of its own."""
    step: list[Part] = []
    for part in parts:
        after_tools = bool(step) and _tool_name(step[-1]) is not None and _tool_name(part) is None
        if (after_tools or part.get("type") == "step-start") and step:
            yield step
            step = []
        if part.get("type") != "step-start":
            step.append(part)
    if step:
        yield step


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
    arguments = encoded(part.get("input")).decode()
    function = {"name": _tool_name(part), "arguments": arguments}
    return {"id": str(part.get("toolCallId")), "type": "function", "function": function}


def _tool_message(part: Part) -> Part:
    output: Any = part.get("errorText", part.get("output"))
    text = output if isinstance(output, str) else encoded(output).decode()
    return {"role": "tool", "tool_call_id": str(part.get("toolCallId")), "content": text}
