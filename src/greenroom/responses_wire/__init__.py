"""The wire forms of OpenAI's Responses API, as chat messages and back.

A request becomes chat messages, tools and settings in the form of chat completions. An assistant
message becomes a response, whole or as a stream of typed events.
"""

from __future__ import annotations

from greenroom.responses_wire.errors import WireError
from greenroom.responses_wire.events import ResponseStream, event_bytes, response_object
from greenroom.responses_wire.items import messages_of_items
from greenroom.responses_wire.requests import SETTING_NAMES, ResponsesRequest, read_request
from greenroom.responses_wire.tools import chat_tools, flat_tools

__all__ = [
    "SETTING_NAMES",
    "ResponseStream",
    "ResponsesRequest",
    "WireError",
    "chat_tools",
    "event_bytes",
    "flat_tools",
    "messages_of_items",
    "read_request",
    "response_object",
]
