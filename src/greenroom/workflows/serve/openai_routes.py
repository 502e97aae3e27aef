"""OpenAI's routes: chat workflows as models of `/v1/chat/completions`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal
from uuid import uuid4

from greenroom.messages import messages_of, text_of
from greenroom.workflows.calls import Answer, Call, CallError, Event, InvalidCall, tool_calls_of
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
from greenroom.workflows.serve.headers import call_ids
from greenroom.workflows.serve.runner import CallRunner, error_status, error_text
from greenroom.workflows.usage import openai_usage

IGNORED_HEADER = b"x-greenroom-ignored"
"""The header of an answer that names the settings that the workflow does not take."""

_NEEDED = frozenset({"functions", "logprobs", "modalities", "n", "response_format", "tool_choice"})
_NAME = re.compile(r"\w+", re.ASCII)
_BETWEEN_MESSAGES = "\n\n"


async def list_models(runners: Mapping[str, CallRunner], exchange: Exchange) -> None:
    """`/v1/models`: the chat workflows by their names in addresses."""
    listed: bodies.Models = {"object": "list", "data": [_model(slug) for slug in runners]}
    await exchange.answer(200, listed)


async def show_model(runners: Mapping[str, CallRunner], exchange: Exchange) -> None:
    """`/v1/models/NAME`: one of them."""
    name: str = exchange.scope["path_params"]["name"]
    if name not in runners:
        raise _no_model(runners, name)
    await exchange.answer(200, _model(name))


def _model(slug: str) -> bodies.OpenAIModel:
    return {"id": slug, "object": "model", "created": 0, "owned_by": "greenroom"}


async def complete_chat(
    runners: Mapping[str, CallRunner], max_body: int, exchange: Exchange
) -> None:
    """`/v1/chat/completions`: call the chat workflow that the body names as its model."""
    body = bodies.read_body(bodies.CompletionBody, await exchange.json(max_body))
    runner = _chosen(runners, body.model)
    ids = call_ids(exchange, body.session_id)
    call, ignored = _with_settings(body.call(ids), body.settings, runner)
    headers = [*ids.headers, (IGNORED_HEADER, ignored)] if ignored else ids.headers
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
        status, kind = error_status(error), error.kind or "server_error"
        raise Refusal(status, _error(error_text(error), kind), ids.headers) from error
    await exchange.answer(200, _completion(head, answer), headers)


def _with_settings(call: Call, settings: Json, runner: CallRunner) -> tuple[Call, bytes]:
    """The call with OpenAI's settings as parameters of the same names, and the names of the rest.

    Raises a Refusal for settings without which the answer would not be what was asked for.
    """
    known = (runner.workflow.schemas.parameters or {}).get("properties", {})
    taken = {name: value for name, value in settings.items() if name in known}
    rest = settings.keys() - taken.keys()
    if rest & _NEEDED and not (rest & _NEEDED == {"tool_choice"} and _without_tools(settings)):
        names = ", ".join(sorted(rest & _NEEDED))
        text = f"The workflow '{runner.workflow.name}' has no parameters for this: {names}."
        raise Refusal(400, _error(text, "invalid_request_error", code="unsupported_parameter"))
    if "tool_choice" in rest:
        call, rest = replace(call, tools=None), rest - {"tool_choice"}
    if taken:
        call = replace(call, parameters=taken | (call.parameters or {}))
    return call, ", ".join(name for name in sorted(rest) if _NAME.fullmatch(name)).encode()


def _without_tools(settings: Json) -> bool:
    return settings.get("tool_choice") == "none"


def _chosen(runners: Mapping[str, CallRunner], model: str | None) -> CallRunner:
    if len(runners) == 1:
        return next(iter(runners.values()))  # clients use many names for the only model
    for slug, runner in runners.items():
        if model in (slug, runner.workflow.name):
            return runner
    raise _no_model(runners, model)


def _no_model(runners: Mapping[str, CallRunner], model: str | None) -> Refusal:
    known = ", ".join(runners) or "none, since none of its workflows is a chat workflow"
    if model is None:
        text = f"The body names no model. This server has: {known}."
        return Refusal(400, _error(text, "invalid_request_error", code="missing_model"))
    text = f"There is no model '{model}'. This server has: {known}."
    return Refusal(404, _error(text, "invalid_request_error", code="model_not_found"))


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
        return sse(_error(error_text(error), error.kind or "server_error")) + DONE

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
            frames.append(sse({**self._head, "choices": [], "usage": openai_usage(answer)}))
        return b"".join([*frames, DONE])

    def _delta(self, delta: Json, finish_reason: str | None = None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant"} | delta
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return sse({**self._head, "choices": [choice]})


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
    status = 400 if refusal.status == 422 else refusal.status
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return Refusal(status, _error(reason_of(refusal), kind), refusal.headers)


def _finish_reason(message: Json) -> Literal["stop", "tool_calls"]:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _error(message: str, kind: str, code: str | None = None) -> bodies.OpenAIError:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
