"""Parse and check chat-completion requests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import orjson
from jsonschema import Draft202012Validator, SchemaError

from greenroom.errors import GreenroomError

ChatMessage = dict[str, Any]


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
    """Four characters of the messages' and tools' JSON are a token."""

    @property
    def system(self) -> str:
        """The text of the system messages."""
        texts = [text_of(m) for m in self.messages if m["role"] in ("system", "developer")]
        return "\n".join(texts)

    def said_by(self, role: str) -> list[str]:
        """The text of every message of a role, in order."""
        return [text_of(message) for message in self.messages if message["role"] == role]


def text_of(message: ChatMessage) -> str:
    """The text of a message: its content, or its text parts joined."""
    content: Any = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = cast("list[Any]", content)
    return "".join(part["text"] for part in parts if _is_text(part))


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(cast("ChatMessage", part).get("text"), str)


def read_request(body: bytes) -> ChatRequest:
    """Parse a request body; raise BadRequest if it is invalid."""
    try:
        value: Any = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The request is not JSON: {error.msg}.") from error
    if not isinstance(value, dict):
        raise BadRequest("The request should be a JSON object.")
    given = cast("dict[str, Any]", value)
    options = given.get("stream_options")
    messages, tools = _messages(given.get("messages")), _tools(given)
    return ChatRequest(
        model=_model(given.get("model")),
        messages=messages,
        tools=tools,
        schema=_schema(given.get("response_format")),
        stream=given.get("stream") is True,
        include_usage=isinstance(options, dict)
        and cast("dict[str, Any]", options).get("include_usage") is True,
        seed=_count(given, "seed"),
        max_tokens=_count(given, "max_completion_tokens") or _count(given, "max_tokens"),
        stop=_stop(given.get("stop")),
        prompt_tokens=(len(_json(messages)) + (len(_json(tools)) if tools else 0)) // 4,
    )


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
    messages = cast("list[Any]", value) if isinstance(value, list) else []
    if not messages:
        raise BadRequest("'messages' should be a list of at least one message.")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(
            cast("dict[str, Any]", message).get("role"), str
        ):
            raise BadRequest(f"messages[{place}] should be an object with a role.")
    return messages


def _tools(given: dict[str, Any]) -> list[dict[str, Any]]:
    tools = given.get("tools")
    if not isinstance(tools, list) or given.get("tool_choice") == "none":
        return []
    return [tool for tool in cast("list[Any]", tools) if isinstance(tool, dict)]


def _schema(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    wanted = cast("dict[str, Any]", value)
    if wanted.get("type") == "json_object":
        return {}
    if wanted.get("type") != "json_schema":
        return None
    named: Any = wanted.get("json_schema")
    schema: Any = cast("dict[str, Any]", named).get("schema") if isinstance(named, dict) else None
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
    stops = cast("list[Any]", value) if isinstance(value, list) else [value]
    return tuple(stop for stop in stops if isinstance(stop, str) and stop)
