"""OpenAI's routes: chat workflows as models of `/v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from greenroom.messages import messages_of, text_of
from greenroom.workflows.call.calls import Answer, CallError, Event
from greenroom.workflows.declare.problems import InvalidCall
from greenroom.workflows.serve.bodies import Asked, session_of, tools_of, value_of
from greenroom.workflows.serve.encoding import encode
from greenroom.workflows.serve.exchange import Exchange, Refusal
from greenroom.workflows.serve.served import Served, identity_headers, status_of, words_of
from greenroom.workflows.serve.tool_calls import tool_calls_of
from greenroom.workflows.serve.traces import trace_of
from greenroom.workflows.serve.usage_shapes import openai_usage

BAD_REQUEST = 400
NOT_FOUND = 404

_BETWEEN_MESSAGES = "\n\n"
_DONE = b"data: [DONE]\n\n"


class Models:
    """`/v1/models`: the chat workflows by their names in addresses."""

    def __init__(self, served: Mapping[str, Served]) -> None:
        models = [
            {"id": slug, "object": "model", "created": 0, "owned_by": "greenroom"}
            for slug in served
        ]
        self._answer = {"object": "list", "data": models}

    async def __call__(self, exchange: Exchange) -> None:
        """List them."""
        await exchange.answer(200, self._answer)


class ChatCompletions:
    """`/v1/chat/completions`."""

    def __init__(self, served: Mapping[str, Served], max_body: int) -> None:
        self._served = served
        self._max_body = max_body

    async def __call__(self, exchange: Exchange) -> None:
        """Call the chat workflow that the body names as its model."""
        body = await exchange.json(self._max_body)
        served, asked = self._chosen(body), _read(body)
        trace, session_id = trace_of(exchange.header(b"traceparent")), session_of(asked, exchange)
        headers, call = identity_headers(trace, session_id), asked.call(session_id, trace)
        completion = Completion(f"chatcmpl-{uuid4().hex}", int(time.time()), served.workflow.slug)
        try:
            if asked.stream:
                writer = ChunkWriter(completion, usage=_wants_usage(body))
                await served.stream(exchange, call, writer, headers)
                return
            answer = await served.answer(exchange, call)
        except InvalidCall as error:
            raise Refusal(BAD_REQUEST, _error(str(error), "invalid_request_error")) from error
        except CallError as error:
            status, kind = status_of(error), error.kind or "server_error"
            raise Refusal(status, _error(words_of(error), kind), headers) from error
        await exchange.answer(200, completion.whole(answer), headers)

    def _chosen(self, body: Mapping[str, Any]) -> Served:
        model = value_of(body, "model", str)
        if len(self._served) == 1:
            return next(iter(self._served.values()))  # clients give the model all sorts of names
        for slug, served in self._served.items():
            if model in (slug, served.workflow.name):
                return served
        known = ", ".join(self._served) or "none, since none of its workflows is a chat workflow"
        raise Refusal(
            NOT_FOUND,
            _error(
                f"There is no model '{model}'. This server has: {known}.",
                "invalid_request_error",
                code="model_not_found",
            ),
        )


@dataclass(frozen=True)
class Completion:
    """What stays the same throughout an answer."""

    identity: str
    created: int
    model: str

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer at once."""
        message = as_one_message(messages_of(answer.outputs) or [])
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": _finish_reason(message),
            "logprobs": None,
        }
        usage = openai_usage(answer)
        whole = self._headed("chat.completion") | {"choices": [choice]}
        return whole | {"usage": usage} if usage is not None else whole

    def chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        """A piece of it."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return self._headed("chat.completion.chunk") | {"choices": [choice]}

    def usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """The piece that tells what it took."""
        headed = self._headed("chat.completion.chunk")
        return headed | {"choices": [], "usage": openai_usage(answer)}

    def _headed(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.identity,
            "object": kind,
            "created": self.created,
            "model": self.model,
        }


class ChunkWriter:
    """Writes an answer as chunks of one completion."""

    content_type = b"text/event-stream"

    def __init__(self, completion: Completion, *, usage: bool) -> None:
        self._completion = completion
        self._usage = usage
        self._begun = False
        self._open = False
        self._said = False

    def frames(self, event: Event) -> bytes:
        """What an event looks like on the wire."""
        match event.kind:
            case "delta":
                return self._text(event.text)
            case "message":
                return self._message(event.data)
            case "end":
                return self._end(event.data)
            case _:
                return b""  # tools that the workflow itself calls are none of the client's business

    def failed(self, error: CallError) -> bytes:
        """The error, and the end."""
        return _frame(_error(words_of(error), error.kind or "server_error")) + _DONE

    def _text(self, text: str) -> bytes:
        if not text:
            return b""
        between = _BETWEEN_MESSAGES if self._said and not self._open else ""
        self._open = self._said = True
        return self._delta({"content": between + text})

    def _message(self, message: dict[str, Any]) -> bytes:
        frames = b""
        if not self._open and message.get("role") == "assistant":
            frames = self._text(text_of(message.get("content")))
        self._open = False
        return frames

    def _end(self, answer: Answer) -> bytes:
        message = as_one_message(messages_of(answer.outputs) or [])
        frames: list[bytes] = []
        for index, call in enumerate(message.get("tool_calls", ())):
            frames.append(self._delta({"tool_calls": [{"index": index, **call}]}))
        frames.append(self._delta({}, _finish_reason(message)))
        if self._usage:
            frames.append(_frame(self._completion.usage_chunk(answer)))
        return b"".join([*frames, _DONE])

    def _delta(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant"} | delta
        return _frame(self._completion.chunk(delta, finish_reason))


def as_one_message(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Several messages as the one that OpenAI's clients expect.

    Texts of the assistant are joined. Tool calls that a later message answers are over and done
    with; the others are for the client.
    """
    own = [message for message in messages if message.get("role") == "assistant"]
    texts = [text for message in own if (text := text_of(message.get("content")))]
    answered = [message.get("tool_call_id") for message in messages if message["role"] == "tool"]
    calls = [call for m in own for call in tool_calls_of(m) if call.get("id") not in answered]
    one: dict[str, Any] = dict(own[-1]) if own else {"role": "assistant"}
    one["content"] = _BETWEEN_MESSAGES.join(texts) if texts or not calls else None
    one.pop("tool_calls", None)
    return one | {"tool_calls": calls} if calls else one


def openai_shape(refusal: Refusal) -> Refusal:
    """A refusal as OpenAI's clients read it."""
    if "error" in refusal.body:
        return refusal
    detail: Any = refusal.body["detail"]
    if isinstance(detail, list):
        told = cast("list[dict[str, Any]]", detail)
        detail = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in told)
    status = BAD_REQUEST if refusal.status == 422 else refusal.status
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return Refusal(status, _error(str(detail), kind), refusal.headers)


def _read(body: Mapping[str, Any]) -> Asked:
    inputs: dict[str, Any] = value_of(body, "inputs", dict) or {}
    messages = value_of(body, "messages", list)
    return Asked(
        inputs=inputs if messages is None else {**inputs, "messages": messages},
        parameters=value_of(body, "parameters", dict),
        tools=tools_of(body),
        session_id=value_of(body, "session_id", str),
        stream=value_of(body, "stream", bool),
    )


def _wants_usage(body: Mapping[str, Any]) -> bool:
    options: dict[str, Any] = value_of(body, "stream_options", dict) or {}
    return options.get("include_usage") is True


def _finish_reason(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _error(message: str, kind: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _frame(value: dict[str, Any]) -> bytes:
    return b"data: " + encode(value) + b"\n\n"


__all__ = ["ChatCompletions", "Models", "as_one_message", "openai_shape"]
