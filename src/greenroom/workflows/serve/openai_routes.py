"""OpenAI's routes: chat workflows as models of `/v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from greenroom.messages import messages_of, text_of
from greenroom.workflows.calls import Answer, CallError, Event, InvalidCall
from greenroom.workflows.serve.bodies import (
    BodyProblem,
    ChatCompletion,
    CompletionBody,
    Json,
    Models,
    OpenAIError,
    read_body,
)
from greenroom.workflows.serve.event_stream import tool_calls_of
from greenroom.workflows.serve.exchange import Exchange, Refusal, sse
from greenroom.workflows.serve.headers import call_ids
from greenroom.workflows.serve.runner import CallRunner, error_status, error_text
from greenroom.workflows.usage import openai_usage

BAD_REQUEST = 400
NOT_FOUND = 404

_BETWEEN_MESSAGES = "\n\n"
_DONE = b"data: [DONE]\n\n"


class ListModels:
    """`/v1/models`: the chat workflows by their names in addresses."""

    def __init__(self, runners: Mapping[str, CallRunner]) -> None:
        self._answer: Models = {
            "object": "list",
            "data": [
                {"id": slug, "object": "model", "created": 0, "owned_by": "greenroom"}
                for slug in runners
            ],
        }

    async def __call__(self, exchange: Exchange) -> None:
        """List them."""
        await exchange.answer(200, self._answer)


class ChatCompletions:
    """`/v1/chat/completions`."""

    def __init__(self, runners: Mapping[str, CallRunner], max_body: int) -> None:
        self._runners = runners
        self._max_body = max_body

    async def __call__(self, exchange: Exchange) -> None:
        """Call the chat workflow that the body names as its model."""
        body = read_body(CompletionBody, await exchange.json(self._max_body))
        runner = self._chosen(body.model)
        ids = call_ids(exchange, body.session_id)
        call = body.request().call(ids)
        head = CompletionHead(f"chatcmpl-{uuid4().hex}", int(time.time()), runner.workflow.slug)
        try:
            if body.stream:
                writer = ChunkWriter(head, usage=body.wants_usage)
                await runner.stream(exchange, call, writer, ids.headers)
                return
            answer = await runner.answer(exchange, call)
        except InvalidCall as error:
            raise Refusal(BAD_REQUEST, _error(str(error), "invalid_request_error")) from error
        except CallError as error:
            status, kind = error_status(error), error.kind or "server_error"
            raise Refusal(status, _error(error_text(error), kind), ids.headers) from error
        await exchange.answer(200, head.whole(answer), ids.headers)

    def _chosen(self, model: str | None) -> CallRunner:
        if len(self._runners) == 1:
            return next(iter(self._runners.values()))  # clients use many names for the only model
        for slug, runner in self._runners.items():
            if model in (slug, runner.workflow.name):
                return runner
        known = ", ".join(self._runners) or "none, since none of its workflows is a chat workflow"
        raise Refusal(
            NOT_FOUND,
            _error(
                f"There is no model '{model}'. This server has: {known}.",
                "invalid_request_error",
                code="model_not_found",
            ),
        )


@dataclass(frozen=True)
class CompletionHead:
    """What all chunks of a completion have in common."""

    identity: str
    created: int
    model: str

    def whole(self, answer: Answer) -> ChatCompletion:
        """The whole answer."""
        message: Any = as_one_message(messages_of(answer.outputs) or [])
        whole: ChatCompletion = {
            "id": self.identity,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": _finish_reason(message),
                    "logprobs": None,
                }
            ],
        }
        usage = openai_usage(answer)
        if usage is not None:
            whole["usage"] = usage
        return whole

    def chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        """A piece of the answer."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return self._chunk() | {"choices": [choice]}

    def usage_chunk(self, answer: Answer) -> Json:
        """The last piece, with the usage."""
        return self._chunk() | {"choices": [], "usage": openai_usage(answer)}

    def _chunk(self) -> Json:
        kind = "chat.completion.chunk"
        return {"id": self.identity, "object": kind, "created": self.created, "model": self.model}


class ChunkWriter:
    """Writes an answer as chunks of one completion."""

    content_type = b"text/event-stream"

    def __init__(self, head: CompletionHead, *, usage: bool) -> None:
        self._head = head
        self._usage = usage
        self._begun = False
        self._open = False
        self._said = False

    def frames(self, event: Event) -> bytes:
        match event.kind:
            case "delta":
                return self._text(event.text)
            case "message":
                return self._message(event.data)
            case "end":
                return self._end(event.data)
            case _:
                return b""  # the workflow runs its own tools

    def failed(self, error: CallError) -> bytes:
        return sse(_error(error_text(error), error.kind or "server_error")) + _DONE

    def _text(self, text: str) -> bytes:
        if not text:
            return b""
        between = _BETWEEN_MESSAGES if self._said and not self._open else ""
        self._open = self._said = True
        return self._delta({"content": between + text})

    def _message(self, message: Json) -> bytes:
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
            frames.append(sse(self._head.usage_chunk(answer)))
        return b"".join([*frames, _DONE])

    def _delta(self, delta: Json, finish_reason: str | None = None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant"} | delta
        return sse(self._head.chunk(delta, finish_reason))


def as_one_message(messages: list[Json]) -> Json:
    """Several messages as the one that OpenAI's clients expect.

    Texts of the assistant are joined. Tool calls without a later answer are for the client.
    """
    own = [message for message in messages if message.get("role") == "assistant"]
    texts = [text for message in own if (text := text_of(message.get("content")))]
    answered = [message.get("tool_call_id") for message in messages if message["role"] == "tool"]
    calls = [call for m in own for call in tool_calls_of(m) if call.get("id") not in answered]
    one: Json = dict(own[-1]) if own else {"role": "assistant"}
    one["content"] = _BETWEEN_MESSAGES.join(texts) if texts or not calls else None
    one.pop("tool_calls", None)
    return one | {"tool_calls": calls} if calls else one


def openai_shape(refusal: Refusal) -> Refusal:
    """A refusal as OpenAI's clients read it."""
    if "error" in refusal.body:
        return refusal
    detail: str | list[BodyProblem] = refusal.body["detail"]
    if isinstance(detail, list):
        detail = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in detail)
    status = BAD_REQUEST if refusal.status == 422 else refusal.status
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return Refusal(status, _error(detail, kind), refusal.headers)


def _finish_reason(message: Json) -> Literal["stop", "tool_calls"]:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _error(message: str, kind: str, code: str | None = None) -> OpenAIError:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
