"""The Responses API on the gateway's wire: each request is asked as a chat completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

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
"""Responses of an episode that a later request may name; the oldest are forgotten first."""
_NAME_SHOWN = 80


@dataclass(frozen=True)
class KeptResponse:
    """A response, and what was said until then, its own words included."""

    response: dict[str, Any]
    messages: list[dict[str, Any]]


class KeptResponses:
    """The responses of an episode, for requests that continue one, read it again or delete it."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptResponse] = {}

    def until(self, response_id: str | None) -> list[dict[str, Any]]:
        """The messages until a response; raises a WireError for an unknown one."""
        if response_id is None:
            return []
        found = self._kept.get(response_id)
        if found is None:
            raise WireError(
                f"Previous response with id '{response_id[:_NAME_SHOWN]}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return found.messages

    def keep(self, response: dict[str, Any], messages: list[dict[str, Any]]) -> None:
        """Keep a response with what was said until then."""
        self._kept[response["id"]] = KeptResponse(response, messages)
        if len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]

    def find(self, response_id: str) -> dict[str, Any]:
        """A response as it was answered; raises a Refusal for an unknown one."""
        found = self._kept.get(response_id)
        if found is None:
            text = f"Response with id '{response_id[:_NAME_SHOWN]}' not found."
            raise wire.refusal(404, text, "invalid_request_error", "not_found", param="id")
        return found.response

    def forget(self, response_id: str) -> None:
        """Keep a response no longer; raises a Refusal for an unknown one."""
        self.find(response_id)
        del self._kept[response_id]


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
        endpoint.responses.keep(stream.response, [*said, completion.message])
    if not request.stream:
        await exchange.answer(200, stream.response, asked.headers)
        return
    await exchange.begin(b"text/event-stream", asked.headers)
    await exchange.piece(b"".join(map(event_bytes, events)))
    await exchange.end()


async def respond_again(endpoint: EpisodeEndpoint, exchange: Exchange, response_id: str) -> None:
    """`/v1/responses/ID`: a response of this episode once more, or its end."""
    if exchange.method == "DELETE":
        endpoint.responses.forget(response_id)
        deleted = {"id": response_id, "object": "response", "deleted": True}
        await exchange.answer(200, deleted)
        return
    response = endpoint.responses.find(response_id)
    if parse_qs(exchange.scope["query_string"]).get(b"stream") == [b"true"]:
        raise wire.unsupported("stream")
    await exchange.answer(200, response)


def _as_chat(request: ResponsesRequest, messages: list[dict[str, Any]]) -> dict[str, Any]:
    settings = request.settings()
    return settings | {"messages": messages, "tools": request.chat_tools(), "model": request.model}
