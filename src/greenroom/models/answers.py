"""Reading a chat completion: the provider's JSON becomes a Completion, or a Fault says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenroom.models.faults import Fault, Tokens, excerpt, provider_error, status_fault
from greenroom.models.types import ChatMessage, Completion, ContentFiltered
from greenroom.util.json_values import as_dict, as_list, count_of, decoded, encoded

if TYPE_CHECKING:
    from greenroom.models.endpoints import Endpoint

_OK = 200
_FIRST_ERROR = 400
_QUOTED = 2000


def read_answer(body: bytes, endpoint: Endpoint) -> Completion:
    """The answer in the body of a response that claims to be one."""
    try:
        answer: Any = decoded(body)
    except ValueError:
        said = excerpt(body[:_QUOTED].decode("utf-8", "replace"), endpoint.key())
        raise Fault(f"its answer is not JSON, or not all of it: {said!r}", status=_OK) from None
    return completion_of(answer, endpoint)


def completion_of(answer: Any, endpoint: Endpoint) -> Completion:
    """The Completion that a chat completion's JSON holds."""
    if not isinstance(answer, dict):
        raise Fault("its answer is not a chat completion", status=_OK)
    fields = as_dict(answer)
    tokens = _tokens(as_dict(fields.get("usage")))
    choices = as_list(fields.get("choices"))
    if not choices:
        raise _without_choices(fields, endpoint, tokens)
    choice = as_dict(choices[0])
    message: Any = choice.get("message")
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        declined = ContentFiltered(f"{endpoint.name} declined to answer: its filter stepped in.")
        raise Fault(str(declined), status=_OK, tokens=tokens, final=declined)
    if not isinstance(message, dict):
        raise Fault("its answer holds no message", status=_OK, tokens=tokens)
    return Completion(
        message=_message(as_dict(message)),
        finish_reason=str(finish or "stop"),
        prompt_tokens=tokens.prompt,
        completion_tokens=tokens.completion,
        cached_prompt_tokens=tokens.cached,
    )


def _without_choices(answer: dict[str, Any], endpoint: Endpoint, tokens: Tokens) -> Fault:
    if not answer.get("error"):
        return Fault("its answer holds no choices", status=_OK, tokens=tokens)
    error = provider_error(answer)
    if error.status and error.status >= _FIRST_ERROR:
        return status_fault(error.status, error, endpoint)
    said = excerpt(error.message, endpoint.key())
    return Fault(f"its answer is an error: {said}", status=_OK, tokens=tokens)


def _message(message: dict[str, Any]) -> ChatMessage:
    calls = as_list(message.get("tool_calls"))
    content: Any = message.get("content")
    if isinstance(content, list):
        texts = (as_dict(part).get("text") for part in as_list(content))
        content = "".join(text for text in texts if isinstance(text, str))
    if not content and not message.get("tool_calls") and isinstance(message.get("refusal"), str):
        content = message["refusal"]
    text = content if isinstance(content, str) else None
    result: ChatMessage = {"role": "assistant", "content": text}
    if calls:
        result["tool_calls"] = [
            _tool_call(index, as_dict(call))
            for index, call in enumerate(calls)
            if isinstance(call, dict)
        ]
    if blocks := message.get("thinking_blocks"):
        # Anthropic wants its signed thoughts back, as they were, beside the results of the calls.
        result["thinking_blocks"] = blocks
    return result


def _tool_call(index: int, call: dict[str, Any]) -> dict[str, Any]:
    fields = as_dict(call.get("function"))
    arguments: Any = fields.get("arguments")
    if not isinstance(arguments, str):
        # Some servers give the arguments as an object where the protocol wants its text.
        arguments = encoded({} if arguments is None else arguments).decode()
    return {
        "id": str(call.get("id") or f"call_{index}"),
        "type": "function",
        "function": {"name": str(fields.get("name") or ""), "arguments": arguments},
    }


def _tokens(usage: dict[str, Any]) -> Tokens:
    cached = as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")
    if cached is None:
        cached = usage.get("prompt_cache_hit_tokens")  # as DeepSeek calls it
    prompt = _count(usage.get("prompt_tokens"))
    return Tokens(prompt, _count(usage.get("completion_tokens")), min(_count(cached), prompt))


def _count(value: Any) -> int:
    return count_of(value) or 0
