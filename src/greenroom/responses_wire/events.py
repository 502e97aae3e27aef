"""A response, whole or as typed events: both come from one writer, so they agree."""

from __future__ import annotations

import time
from typing import Any, Literal
from uuid import uuid4

from greenroom.messages import arguments_text, text_of
from greenroom.responses_wire.requests import ResponsesRequest
from greenroom.responses_wire.tools import flat_tools
from greenroom.util.json_values import as_dict, as_list, count_of, encoded

Json = dict[str, Any]

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why chat completions end early, in the words of the Responses API."""
_ECHOED = ("max_output_tokens", "previous_response_id", "reasoning", "text")
_ECHOED_SETTINGS = ("max_tool_calls", "metadata", "service_tier", "temperature", "top_p", "user")


class ResponseStream:
    """Writes a response as events, piece by piece.

    Call `begin` first and `end` or `fail` last. Every method gives the events to send.
    """

    def __init__(self, request: ResponsesRequest, model: str) -> None:
        self.id = f"resp_{uuid4().hex}"
        self.response: Json = _head(request, self.id, model)
        """The response so far: whole after `end` or `fail`."""
        self._output: list[Json] = self.response["output"]
        self._open: Literal["message", "function_call"] | None = None
        self._pieces: list[str] = []
        self._number = 0

    def begin(self) -> list[Json]:
        """The response has begun."""
        told: Json = {**self.response, "output": []}
        return [
            self._event("response.created", response=told),
            self._event("response.in_progress", response=told),
        ]

    def say(self, text: str) -> list[Json]:
        """The next words of the message."""
        events: list[Json] = []
        if self._open != "message":
            events += [*self._close(), *self._open_item(_message_item())]
            part = _text_part("")
            events.append(self._event("response.content_part.added", **self._in_text, part=part))
        self._pieces.append(text)
        about: Json = {**self._in_text, "delta": text, "logprobs": []}
        return [*events, self._event("response.output_text.delta", **about)]

    def call(self, call_id: str, name: str, arguments: str = "") -> list[Json]:
        """A function is called; its arguments may go on with `more_arguments`."""
        item = {"id": _new_id("fc"), "type": "function_call", "status": "in_progress"}
        item |= {"call_id": call_id, "name": name, "arguments": ""}
        opened = [*self._close(), *self._open_item(item)]
        return [*opened, *self.more_arguments(arguments)]

    def more_arguments(self, text: str) -> list[Json]:
        """The next part of the arguments of the call."""
        if not text:
            return []
        self._pieces.append(text)
        delta = "response.function_call_arguments.delta"
        return [self._event(delta, **self._in_item, delta=text)]

    def message(self, message: Json) -> list[Json]:
        """A whole assistant message: its text, then its calls."""
        text = text_of(message.get("content"))
        events = self.say(text) if text else []
        for one in map(as_dict, as_list(message.get("tool_calls"))):
            function = as_dict(one.get("function"))
            call_id, name = str(one.get("id", "")), str(function.get("name", ""))
            events += self.call(call_id, name, arguments_text(function.get("arguments")))
        return events

    def end(self, usage: Json | None = None, finish_reason: str | None = None) -> list[Json]:
        """The response is whole; usage and reason are those of a chat completion."""
        # Clients read the text of the first message, even if nothing was said.
        events = [] if self._output else self.say("")
        events += self._close()
        reason = _INCOMPLETE.get(finish_reason or "")
        status = "completed" if reason is None else "incomplete"
        self.response |= {"status": status, "usage": _usage(usage)}
        if reason is None:
            self.response["completed_at"] = int(time.time())
        else:
            self.response["incomplete_details"] = {"reason": reason}
        return [*events, self._event(f"response.{status}", response=self.response)]

    def fail(self, message: str, code: str = "server_error") -> list[Json]:
        """There is no whole response; the text says why."""
        if self._open is not None:
            number = self._number
            self._close()
            self._number = number  # its events are not sent
            self._output[-1]["status"] = "incomplete"
        self.response |= {"status": "failed", "error": {"code": code, "message": message}}
        return [
            self._event("error", code=code, message=message, param=None),
            self._event("response.failed", response=self.response),
        ]

    def _open_item(self, item: Json) -> list[Json]:
        self._open = item["type"]
        self._output.append(item)
        return [self._event("response.output_item.added", **self._in_output, item=dict(item))]

    def _close(self) -> list[Json]:
        """End the open item, if there is one."""
        whole, self._pieces = "".join(self._pieces), []
        kind, self._open = self._open, None
        if kind is None:
            return []
        item = self._output[-1]
        if kind == "message":
            events = self._close_text(item, whole)
        else:
            item["arguments"] = whole
            about = {**self._in_item, "name": item["name"], "arguments": whole}
            events = [self._event("response.function_call_arguments.done", **about)]
        item["status"] = "completed"
        return [*events, self._event("response.output_item.done", **self._in_output, item=item)]

    def _close_text(self, item: Json, whole: str) -> list[Json]:
        part = _text_part(whole)
        item["content"] = [part]
        return [
            self._event("response.output_text.done", **self._in_text, text=whole, logprobs=[]),
            self._event("response.content_part.done", **self._in_text, part=part),
        ]

    @property
    def _in_output(self) -> Json:
        return {"output_index": len(self._output) - 1}

    @property
    def _in_item(self) -> Json:
        return {"item_id": self._output[-1]["id"], **self._in_output}

    @property
    def _in_text(self) -> Json:
        return {**self._in_item, "content_index": 0}

    def _event(self, kind: str, **about: Any) -> Json:
        event = {"type": kind, "sequence_number": self._number, **about}
        self._number += 1
        return event


def response_object(
    request: ResponsesRequest,
    model: str,
    message: Json,
    usage: Json | None = None,
    finish_reason: str | None = None,
) -> Json:
    """The whole response of an assistant message; usage and reason are a chat completion's."""
    stream = ResponseStream(request, model)
    stream.message(message)
    stream.end(usage, finish_reason)
    return stream.response


def event_bytes(event: Json) -> bytes:
    """An event as a server-sent event."""
    return b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), encoded(event))


def _head(request: ResponsesRequest, identity: str, model: str) -> Json:
    extra = request.model_extra or {}
    tools = flat_tools(request.chat_tools() or [])
    return {
        "id": identity,
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": request.instructions,
        "model": model,
        "output": [],
        "parallel_tool_calls": extra.get("parallel_tool_calls", True) is not False,
        "store": request.store is not False,
        "tool_choice": request.tool_choice or "auto",
        "tools": tools,
        "truncation": "disabled",
        "usage": None,
        **{name: getattr(request, name) for name in _ECHOED},
        **{name: extra.get(name) for name in _ECHOED_SETTINGS},
    } | ({} if request.text else {"text": {"format": {"type": "text"}}})


def _message_item() -> Json:
    about = {"id": _new_id("msg"), "type": "message", "status": "in_progress"}
    return {**about, "role": "assistant", "content": []}


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _new_id(kind: str) -> str:
    return f"{kind}_{uuid4().hex}"


def _usage(usage: Json | None) -> Json | None:
    """The usage of a chat completion in the words of the Responses API; the cost stays."""
    if usage is None:
        return None
    sent, received = (count_of(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    if sent is None and received is None:
        return None
    read, written = (as_dict(usage.get(f"{k}_tokens_details")) for k in ("prompt", "completion"))
    cached, wrote = count_of(read.get("cached_tokens")), count_of(read.get("cache_write_tokens"))
    thought = count_of(written.get("reasoning_tokens"))
    told: Json = {
        "input_tokens": sent or 0,
        "input_tokens_details": {"cached_tokens": cached or 0, "cache_write_tokens": wrote or 0},
        "output_tokens": received or 0,
        "output_tokens_details": {"reasoning_tokens": thought or 0},
        "total_tokens": (sent or 0) + (received or 0),
    }
    return told | ({"cost": usage["cost"]} if usage.get("cost") is not None else {})
