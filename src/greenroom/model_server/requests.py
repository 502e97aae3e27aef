"""Parse and check chat-completion requests."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import orjson
from jsonschema import Draft202012Validator, SchemaError

from greenroom.errors import GreenroomError
from greenroom.messages import text_of
from greenroom.models.types import ChatMessage
from greenroom.util.json_values import as_dict, as_list


class BadRequest(GreenroomError):
    """An invalid request; the text says what is wrong with it."""

    def __init__(self, message: str, *, code: str = "invalid_request", status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One chat-completion request: the fields that shape the answer."""

    model: str
    messages: list[ChatMessage]
    tools: list[dict[str, Any]]
    schema: dict[str, Any] | None
    """The JSON schema that the answer must fit, if any; empty for any JSON object."""
    stream: bool
    include_usage: bool
    """End a stream with its token usage."""
    seed: int | None
    max_tokens: int | None
    stop: tuple[str, ...]
    prompt_tokens: int
    """Four characters of what a model reads are a token, however a client writes it."""

    @property
    def system(self) -> str:
        """The text of the system messages."""
        return "\n".join(self.said_by("system", "developer"))

    def said_by(self, *roles: str) -> list[str]:
        """The text of every message of these roles, in order."""
        return [text_of(one.get("content")) for one in self.messages if one["role"] in roles]


def read_request(body: bytes) -> ChatRequest:
    """Parse a request body; raise BadRequest if it is invalid."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The request is not JSON: {error.msg}.") from error
    if not isinstance(value, dict):
        raise BadRequest("The request should be a JSON object.")
    given = cast("dict[str, Any]", value)
    messages, tools = _messages(given.get("messages")), _tools(given)
    _json([messages, tools])  # refuses what is nested too deeply
    return ChatRequest(
        model=_model(given.get("model")),
        messages=messages,
        tools=tools,
        schema=_schema(given.get("response_format")),
        stream=given.get("stream") is True,
        include_usage=as_dict(given.get("stream_options")).get("include_usage") is True,
        seed=_count(given, "seed"),
        max_tokens=_count(given, "max_completion_tokens") or _count(given, "max_tokens"),
        stop=_stop(given.get("stop")),
        prompt_tokens=len(_json([_read(messages), [_read_tool(tool) for tool in tools]])) // 4,
    )


def _read(messages: list[ChatMessage]) -> list[Any]:
    """What a model reads of messages: clients differ in ids, blanks and empty fields."""
    return [
        [
            message["role"],
            message.get("content") or "",
            [_read_call(as_dict(call)) for call in as_list(message.get("tool_calls"))],
        ]
        for message in messages
    ]


def _read_call(call: dict[str, Any]) -> list[Any]:
    function = as_dict(call.get("function"))
    arguments = function.get("arguments")
    with suppress(orjson.JSONDecodeError):  # else it reads what it wrote
        arguments = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    return [function.get("name"), arguments]


def _read_tool(tool: dict[str, Any]) -> list[Any]:
    function = as_dict(tool.get("function"))
    return [function.get("name"), function.get("description"), function.get("parameters")]


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError as error:  # parsed JSON fails here only if nested too deeply
        raise BadRequest(f"The request is nested too deeply: {error}.") from error


def _model(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest("The request names no model.", code="model_missing")
    return value


def _messages(value: Any) -> list[ChatMessage]:
    messages = as_list(value)
    if not messages:
        raise BadRequest("'messages' should be a list of at least one message.")
    for place, message in enumerate(messages):
        if not isinstance(as_dict(message).get("role"), str):
            raise BadRequest(f"messages[{place}] should be an object with a role.")
    return messages


def _tools(given: dict[str, Any]) -> list[dict[str, Any]]:
    if given.get("tool_choice") == "none":
        return []
    return [tool for tool in as_list(given.get("tools")) if isinstance(tool, dict)]


def _schema(value: Any) -> dict[str, Any] | None:
    wanted = as_dict(value)
    if wanted.get("type") == "json_object":
        return {}
    if wanted.get("type") != "json_schema":
        return None
    schema: Any = as_dict(wanted.get("json_schema")).get("schema")
    if not isinstance(schema, dict):
        raise BadRequest("response_format has the type json_schema but no schema.")
    problem = _schema_problem(_json(schema))
    if problem is not None:
        raise BadRequest(f"The schema in response_format is not valid: {problem}.")
    return cast("dict[str, Any]", schema)


@lru_cache(maxsize=1000)
def _schema_problem(schema: bytes) -> str | None:
    try:
        Draft202012Validator.check_schema(orjson.loads(schema))
    except SchemaError as error:
        return str(error.message)
    except RecursionError:
        return "it is nested too deeply"
    return None


def _count(given: dict[str, Any], name: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"'{name}' should be a whole number.")
    return value


def _stop(value: Any) -> tuple[str, ...]:
    stops = as_list(value) or [value]
    return tuple(stop for stop in stops if isinstance(stop, str) and stop)
