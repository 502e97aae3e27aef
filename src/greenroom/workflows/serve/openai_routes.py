"""OpenAI's routes: chat workflows as models of `/v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal
from uuid import uuid4

from greenroom.messages import messages_of
from greenroom.workflows.calls import SERVER_ERROR, Answer, CallError, Event, InvalidCall
from greenroom.workflows.serve import bodies
from greenroom.workflows.serve.bodies import Json
from greenroom.workflows.serve.exchange import (
    DONE,
    Exchange,
    Refusal,
    invalid_body,
    reason_of,
    sse,
)
from greenroom.workflows.serve.headers import CallIds, call_ids
from greenroom.workflows.serve.one_message import JoinedText, as_one_message
from greenroom.workflows.serve.openai_settings import openai_error, refused, with_settings
from greenroom.workflows.serve.runner import TIMEOUT, CallRunner, error_status, error_text
from greenroom.workflows.usage import openai_usage

_NO_REPETITION = (b"x-should-retry", b"false")


async def list_models(runners: Mapping[str, CallRunner], exchange: Exchange) -> None:
    """`/v1/models`: the chat workflows by their names in addresses."""
    listed: bodies.Models = {"object": "list", "data": [_model(slug) for slug in runners]}
    await exchange.answer(200, listed)


async def show_model(runners: Mapping[str, CallRunner], exchange: Exchange) -> None:
    """`/v1/models/NAME`: one of them."""
    name: str = exchange.scope["path_params"]["name"]
    await exchange.answer(200, _model(_named(runners, name).workflow.slug))


def _model(slug: str) -> bodies.OpenAIModel:
    return {"id": slug, "object": "model", "created": 0, "owned_by": "greenroom"}


async def complete_chat(
    runners: Mapping[str, CallRunner], max_body: int, exchange: Exchange
) -> None:
    """`/v1/chat/completions`: call the chat workflow that the body names as its model."""
    body = bodies.read_body(bodies.CompletionBody, await exchange.json(max_body))
    runner = chosen(runners, body.model)
    ids = call_ids(exchange, body.session_id)
    if body.stream_options is not None and not body.stream:
        text = "The 'stream_options' are only for streams: set 'stream'."
        raise refused(text, param="stream_options")
    call, ignored = with_settings(body.call(ids), body.settings, runner)
    headers = [*ids.headers, *ignored]
    head = {
        "id": f"chatcmpl-{uuid4().hex}",
        "created": int(time.time()),
        "model": runner.workflow.slug,
    }
    try:
        if body.stream:
            writer = ChunkWriter(head, usage=body.wants_usage)
            await runner.stream(exchange, call, writer, headers)
            return
        answer = await runner.answer(exchange, call)
    except InvalidCall as error:
        raise invalid_body(error.problems, ()) from error
    except CallError as error:
        raise failed_call(error, ids) from error
    await exchange.answer(200, _completion(head, answer), headers)


def chosen(runners: Mapping[str, CallRunner], model: str | None) -> CallRunner:
    """The chat workflow that a body names as its model; the only one goes by any name."""
    if len(runners) == 1:
        return next(iter(runners.values()))  # clients use many names for the only model
    return _named(runners, model)


def _named(runners: Mapping[str, CallRunner], model: str | None) -> CallRunner:
    for slug, runner in runners.items():
        if model in (slug, runner.workflow.name):
            return runner
    raise _no_model(runners, model)


def _no_model(runners: Mapping[str, CallRunner], model: str | None) -> Refusal:
    known = ", ".join(runners) or "none, since none of its workflows is a chat workflow"
    if model is None:
        text = f"The body names no model. This server has: {known}."
        return refused(text, param="model", code="missing_required_parameter")
    text = f"There is no model '{model}'. This server has: {known}."
    return refused(text, param="model", code="model_not_found", status=404)


def failed_call(error: CallError, ids: CallIds) -> Refusal:
    """The refusal of a call whose workflow failed."""
    status = error_status(error)
    told = openai_error(error_text(error), error.kind or _kind_of(status))
    # The clients repeat what failed on the server; a plain function that was too slow runs on.
    once = [_NO_REPETITION] if error.kind == TIMEOUT else []
    return Refusal(status, told, [*ids.headers, *once])


def _completion(head: Json, answer: Answer) -> Json:
    message = as_one_message(messages_of(answer.outputs) or [])
    reason = _finish_reason(message)
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    usage = openai_usage(answer)
    whole = {**head, "object": "chat.completion", "choices": [choice]}
    return whole if usage is None else {**whole, "usage": usage}


class ChunkWriter:
    """Writes an answer as chunks of one completion."""

    content_type = b"text/event-stream"

    def __init__(self, head: Json, *, usage: bool) -> None:
        self._head = {**head, "object": "chat.completion.chunk"}
        self._usage = usage
        self._begun = False
        self._text = JoinedText()

    def frames(self, event: Event) -> bytes:
        if event.kind == "end":
            return self._end(event.data)
        text = self._text.piece(event)
        return self._delta({"content": text}) if text else b""

    def failed(self, error: CallError) -> bytes:
        return sse(openai_error(error_text(error), error.kind or "server_error")) + DONE

    def _end(self, answer: Answer) -> bytes:
        message = as_one_message(messages_of(answer.outputs) or [])
        frames: list[bytes] = []
        for index, call in enumerate(message.get("tool_calls", ())):
            frames.append(self._delta({"tool_calls": [{"index": index, **call}]}))
        frames.append(self._delta({}, _finish_reason(message)))
        if self._usage:
            frames.append(sse({**self._head, "choices": [], "usage": openai_usage(answer)}))
        return b"".join([*frames, DONE])

    def _delta(self, delta: Json, finish_reason: str | None = None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant"} | delta
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return sse({**self._head, "choices": [choice]})


def openai_shape(refusal: Refusal) -> Refusal:
    """A refusal as OpenAI's clients read it."""
    if "error" in refusal.body:
        return refusal
    status = 400 if refusal.status == 422 else refusal.status
    error = openai_error(reason_of(refusal), _kind_of(status))
    return Refusal(status, error, refusal.headers)


def _kind_of(status: int) -> str:
    return "server_error" if status >= SERVER_ERROR else "invalid_request_error"


def _finish_reason(message: Json) -> Literal["stop", "tool_calls"]:
    return "tool_calls" if message.get("tool_calls") else "stop"
