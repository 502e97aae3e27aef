"""The Responses API on the gateway's wire: each request is asked as a chat completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.agents.gateway import wire
from greenroom.responses_wire import (
    ResponsesRequest,
    ResponseStream,
    WireError,
    event_bytes,
    read_request,
)
from greenroom.workflows.serve.exchange import Exchange
from greenroom.workflows.serve.limits import MAX_BODY

if TYPE_CHECKING:
    from greenroom.agents.gateway.server import EpisodeEndpoint

MAX_KEPT = 1_000
"""Responses of an episode that a later one may continue; the oldest are forgotten first."""


class KeptResponses:
    """What was said until each response of an episode, for requests that continue one."""

    def __init__(self) -> None:
        self._messages: dict[str, list[dict[str, Any]]] = {}

    def until(self, response_id: str | None) -> list[dict[str, Any]]:
        """The messages until a response; raises a WireError for an unknown one."""
        if response_id is None:
            return []
        found = self._messages.get(response_id)
        if found is None:
            raise WireError(
                f"Previous response with id '{response_id[:80]}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return found

    def keep(self, response_id: str, messages: list[dict[str, Any]]) -> None:
        """Keep what was said until a response."""
        self._messages[response_id] = messages
        if len(self._messages) > MAX_KEPT:
            del self._messages[next(iter(self._messages))]


async def respond(endpoint: EpisodeEndpoint, exchange: Exchange) -> None:
    """`/v1/responses`: ask the model of the episode."""
    body = await exchange.json(MAX_BODY)
    try:
        request = read_request(body)
        messages = request.messages(endpoint.responses.until(request.previous_response_id))
        chat = _as_chat(request, messages)
    except WireError as error:
        code = error.code or "invalid_value"
        raise wire.refusal(
            400, str(error), "invalid_request_error", code, param=error.param
        ) from error
    asked = endpoint.read_chat(chat)
    completion = await endpoint.answer(exchange, asked.request)
    stream = ResponseStream(request, endpoint.model_name)
    events = [
        *stream.begin(),
        *stream.message(completion.message),
        *stream.end(wire.usage_of(completion), completion.finish_reason),
    ]
    if request.store is not False:
        said = messages[1:] if request.instructions else messages
        endpoint.responses.keep(stream.id, [*said, completion.message])
    if not request.stream:
        await exchange.answer(200, stream.response, asked.headers)
        return
    await exchange.begin(b"text/event-stream", asked.headers)
    await exchange.piece(b"".join(map(event_bytes, events)))
    await exchange.end()


def _as_chat(request: ResponsesRequest, messages: list[dict[str, Any]]) -> dict[str, Any]:
    settings = request.settings()
    return settings | {"messages": messages, "tools": request.chat_tools(), "model": request.model}
