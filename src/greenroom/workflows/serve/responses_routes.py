"""OpenAI's Responses API: chat workflows as models of `/v1/responses`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from greenroom.messages import messages_of
from greenroom.responses_wire import (
    SETTING_NAMES,
    ResponseStream,
    WireError,
    event_bytes,
    read_request,
    response_object,
)
from greenroom.workflows.calls import (
    MESSAGES,
    SESSION_TEXT,
    Answer,
    CallError,
    Event,
    InvalidCall,
)
from greenroom.workflows.serve.bodies import Json, ResponsesBody
from greenroom.workflows.serve.exchange import Exchange, invalid_body
from greenroom.workflows.serve.headers import SESSION_HEADER, call_ids
from greenroom.workflows.serve.one_message import JoinedText, as_one_message
from greenroom.workflows.serve.openai_routes import chosen, failed_call
from greenroom.workflows.serve.openai_settings import refused, with_settings
from greenroom.workflows.serve.runner import CallRunner, error_text
from greenroom.workflows.serve.stored_responses import StoredResponse, StoredResponses
from greenroom.workflows.usage import openai_usage


async def create_response(
    runners: Mapping[str, CallRunner],
    stored: StoredResponses,
    max_body: int,
    exchange: Exchange,
) -> None:
    """`/v1/responses`: call the chat workflow that the body names as its model."""
    try:
        body = _read(await exchange.json(max_body))
        runner = chosen(runners, body.model)
        slug = runner.workflow.slug
        before = _continued(stored, body.previous_response_id, slug)
        history = before.messages if before else []
        messages = body.messages(history, partial(stored.find_item, workflow=slug))
        tools, settings = body.chat_tools(), body.settings()
    except WireError as error:
        raise refused(str(error), param=error.param, code=error.code) from error
    session_id = body.session_id
    if session_id is None and before and exchange.header(SESSION_HEADER) is None:
        session_id = before.session_id
    ids = call_ids(exchange, session_id)
    inputs = {**(body.inputs or {}), MESSAGES: messages}
    call = ids.call(inputs, parameters=body.parameters, tools=tools)
    call, ignored = with_settings(call, settings, runner, SETTING_NAMES)
    headers = [*ids.headers, *ignored]
    # Instructions are those of one response, so they are not kept.
    said = messages[1:] if body.instructions else messages

    def keep(response: Json, message: Json) -> None:
        if body.store is not False:
            stored.keep(response, slug, ids.session_id, [*said, message])

    try:
        if body.stream:
            await runner.stream(exchange, call, ResponseWriter(body, slug, keep), headers)
            return
        answer = await runner.answer(exchange, call)
    except InvalidCall as error:
        raise invalid_body(error.problems, ()) from error
    except CallError as error:
        raise failed_call(error, ids) from error
    message = as_one_message(messages_of(answer.outputs) or [])
    response = response_object(body, slug, message, openai_usage(answer))
    keep(response, message)
    await exchange.answer(200, response, headers)


async def stored_response(
    runners: Mapping[str, CallRunner], stored: StoredResponses, exchange: Exchange
) -> None:
    """`/v1/responses/ID`: read a stored response again, or delete it."""
    identity: str = exchange.scope["path_params"]["id"]
    found = next(filter(None, (stored.find(identity, slug) for slug in runners)), None)
    if found is None:
        raise refused(
            f"Response with id '{identity[:80]}' not found: it was never stored, or is no more.",
            param="id",
            status=404,
        )
    if exchange.method == "DELETE":
        stored.forget(identity)
        await exchange.answer(200, {"id": identity, "object": "response", "deleted": True})
        return
    if parse_qs(exchange.scope["query_string"]).get(b"stream") == [b"true"]:
        text = "A response that is there is not streamed again: leave 'stream' out."
        raise refused(text, param="stream")
    await exchange.answer(200, found.response)


async def no_part(exchange: Exchange) -> None:
    """`/v1/responses/ID/input_items`, `/cancel`: OpenAI has them, and here they are not."""
    part: str = exchange.scope["path_params"]["part"]
    text = f"'{part[:80]}' of a response is not offered: read the response itself."
    raise refused(text, param="id", code="not_offered", status=404)


class ResponseWriter:
    """Writes an answer as the events of one response."""

    content_type = b"text/event-stream"

    def __init__(self, body: ResponsesBody, model: str, keep: Callable[[Json, Json], None]) -> None:
        self._stream = ResponseStream(body, model)
        self._keep = keep
        self._begun = False
        self._text = JoinedText()

    def frames(self, event: Event) -> bytes:
        if event.kind == "end":
            return self._end(event.data)
        text = self._text.piece(event)
        return self._framed([*self._begin(), *self._stream.say(text)]) if text else b""

    def failed(self, error: CallError) -> bytes:
        return self._framed([*self._begin(), *self._stream.fail(error_text(error))])

    def _end(self, answer: Answer) -> bytes:
        message = as_one_message(messages_of(answer.outputs) or [])
        calls = {"tool_calls": message.get("tool_calls")}
        events = [*self._begin(), *self._stream.message(calls)]
        events += self._stream.end(openai_usage(answer))
        self._keep(self._stream.response, message)
        return self._framed(events)

    def _begin(self) -> list[Json]:
        if self._begun:
            return []
        self._begun = True
        return self._stream.begin()

    def _framed(self, events: list[Json]) -> bytes:
        return b"".join(map(event_bytes, events))


def _read(body: Mapping[str, Any]) -> ResponsesBody:
    try:
        return read_request(body, ResponsesBody)
    except WireError as error:
        if error.param == "session_id":
            raise WireError(SESSION_TEXT, param="session_id") from error
        raise


def _continued(
    stored: StoredResponses, identity: str | None, workflow: str
) -> StoredResponse | None:
    if identity is None:
        return None
    found = stored.find(identity, workflow)
    if found is None:
        shown = identity[:80]
        raise refused(
            f"Previous response with id '{shown}' not found: it was never stored, or is no more.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    return found
