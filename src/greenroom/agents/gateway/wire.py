"""Chat completions on the gateway's wire: what a client asks, and answers and errors as OpenAI's.

What the run decides is not for the agent to change: the model, its temperature, its seed. Such
settings are left out and named in a header. A setting without which the answer would not be what
was asked for is refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from greenroom.errors import GreenroomError, redacted
from greenroom.models import (
    BudgetExhausted,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    ModelRequest,
    ModelUnavailable,
)
from greenroom.util.json_values import as_dict, as_list
from greenroom.workflows.calls import Problem
from greenroom.workflows.serve.exchange import DONE, Headers, Refusal, invalid_body, sse

Json = dict[str, Any]

IGNORED_HEADER = b"x-greenroom-ignored"
"""The header of an answer that names the settings that were left out."""
NO_RETRY: Headers = [(b"x-should-retry", b"false")]
"""Tells OpenAI's clients not to ask again: the run has done so already."""
_TOO_MANY = 429

_TAKEN = frozenset(
    {
        *("messages", "model", "tools", "tool_choice", "response_format", "stop", "stream"),
        *("stream_options", "parallel_tool_calls", "max_tokens", "max_completion_tokens"),
    }
)
_WITHOUT_EFFECT = frozenset(
    {"metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}
)
"""They shape no answer, so nobody has to be told that they are left out."""
_REFUSED: Json = {
    "audio": None,
    "function_call": None,
    "functions": None,
    "logprobs": False,
    "modalities": ["text"],
    "n": 1,
    "web_search_options": None,
}
"""Settings that change the form of an answer, each with the value that is the usual one."""
_CUT_SHORT = frozenset({"content_filter", "length"})
_NAME = re.compile(r"\w{1,64}", re.ASCII)
_NAMES_TOLD = 20
"""How many of the settings that are left out are told."""


class RequestNotTaken(GreenroomError):
    """The provider does not take what the agent asked: the text says why."""

    outcome = "crashed"


@dataclass(frozen=True)
class Asked:
    """A request for a chat completion."""

    request: ModelRequest
    model: str | None
    stream: bool
    wants_usage: bool
    ignored: tuple[str, ...]
    """Settings that were left out: the first ones, by name."""

    @property
    def headers(self) -> Headers:
        """The headers of its answer."""
        names = ", ".join(self.ignored).encode()
        return [(IGNORED_HEADER, names)] if names else []


def read_chat(body: Json, seed: int | None) -> Asked:
    """What a body asks for; raises a Refusal. The seed is that of the episode."""
    given = {name: value for name, value in body.items() if value is not None}
    for name, usual in _REFUSED.items():
        if name in given and given[name] != usual:
            raise unsupported(name)
    limits = (given.get("max_completion_tokens"), given.get("max_tokens"))
    request = ModelRequest(
        messages=_objects(given, "messages"),
        tools=_objects(given, "tools") if given.get("tools") else None,
        response_format=_typed(given, "response_format", dict),
        seed=seed,
        stop=_stops(given.get("stop")),
        tool_choice=_typed(given, "tool_choice", str, dict),
        parallel_tool_calls=_typed(given, "parallel_tool_calls", bool),
        max_tokens=next((_count(limit) for limit in limits if limit is not None), None),
    )
    if not request.messages:
        raise _wrong("messages", "There has to be a message.")
    known = _TAKEN | _WITHOUT_EFFECT | _REFUSED.keys()
    ignored = sorted(name for name in given.keys() - known if _NAME.fullmatch(name))
    return Asked(
        request,
        _typed(given, "model", str),
        given.get("stream") is True,
        as_dict(given.get("stream_options")).get("include_usage") is True,
        tuple(ignored[:_NAMES_TOLD]),
    )


def unsupported(name: str) -> Refusal:
    """The refusal of a setting that changes the form of an answer."""
    text = f"'{name}' is not supported by this run's endpoint."
    return refusal(400, text, "invalid_request_error", "unsupported_parameter", param=name)


def _wrong(name: str, text: str) -> Refusal:
    return invalid_body([Problem((name,), text)])


def _objects(given: Json, name: str) -> list[Json]:
    found = given.get(name)
    items = as_list(found)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in items):
        raise _wrong(name, "This must be an array of objects.")
    return items


def _typed(given: Json, name: str, *kinds: type) -> Any:
    value = given.get(name)
    if value is not None and not isinstance(value, kinds):
        raise _wrong(name, f"This must be of the type {' or '.join(k.__name__ for k in kinds)}.")
    return value


def _stops(given: Any) -> list[str] | None:
    stops = [given] if isinstance(given, str) else as_list(given)
    if not all(isinstance(stop, str) for stop in stops):
        raise _wrong("stop", "This must be a text, or an array of them.")
    return stops or None


def _count(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise _wrong("max_tokens", "This must be a number from 1 on.")
    return given


def usage_of(completion: Completion) -> Json:
    """The usage as OpenAI writes it, and the cost if it is known."""
    prompt, answered = completion.prompt_tokens, completion.completion_tokens
    usage: Json = {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "prompt_tokens_details": {"cached_tokens": completion.cached_prompt_tokens},
    }
    return usage if completion.cost is None else usage | {"cost": completion.cost}


def whole(model: str, completion: Completion) -> Json:
    """The answer as one object."""
    message = {"role": "assistant", "content": None} | completion.message
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _finish_reason(completion),
        "logprobs": None,
    }
    return {
        **_head(model),
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage_of(completion),
    }


def streamed(model: str, completion: Completion, *, usage: bool) -> Iterator[bytes]:
    """The same as a stream of server-sent events."""
    head = _head(model) | {"object": "chat.completion.chunk"}

    def chunk(delta: Json, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return sse({**head, "choices": [choice]})

    message = {name: one for name, one in completion.message.items() if one is not None}
    calls = as_list(message.pop("tool_calls", None))
    yield chunk({"role": "assistant", "content": None if calls else ""} | message)
    for index, call in enumerate(calls):
        yield chunk({"tool_calls": [{"index": index, **as_dict(call)}]})
    yield chunk({}, _finish_reason(completion))
    if usage:
        yield sse({**head, "choices": [], "usage": usage_of(completion)})
    yield DONE


def models(names: list[str]) -> Json:
    """The list of models."""
    return {"object": "list", "data": [model_object(name) for name in names]}


def model_object(name: str) -> Json:
    """A model as it is listed."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "greenroom"}


def _finish_reason(completion: Completion) -> str:
    """One of OpenAI's reasons: some servers have others, and strict clients refuse these."""
    reason = completion.finish_reason
    if reason in _CUT_SHORT:
        return reason
    return "tool_calls" if completion.tool_calls else "stop"


def _head(model: str) -> Json:
    return {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": model}


def refusal(
    status: int,
    text: str,
    kind: str,
    code: str,
    *,
    param: str | None = None,
    headers: Headers = NO_RETRY,
) -> Refusal:
    """A refusal in the shape of OpenAI's errors."""
    error = {"message": text, "type": kind, "param": param, "code": code}
    return Refusal(status, {"error": error}, headers)


def failure(problem: Exception) -> Refusal:
    """What a client is told of a model that gave no answer."""
    text = redacted(str(problem))
    match problem:
        case ContextWindowExceeded():
            return refusal(400, text, "invalid_request_error", "context_length_exceeded")
        case ContentFiltered():
            return refusal(400, text, "invalid_request_error", "content_filter")
        case RequestNotTaken():
            return refusal(400, text, "invalid_request_error", "invalid_request")
        case BudgetExhausted():
            return refusal(429, text, "insufficient_quota", "insufficient_quota")
        case ModelUnavailable(status=status) if status == _TOO_MANY:
            return refusal(429, text, "rate_limit_error", "rate_limit_exceeded")
        case _:
            return refusal(503, text, "server_error", "model_unavailable")
