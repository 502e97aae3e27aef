"""Spans of calls of models, by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from greenroom.models.endpoints import OPENAI, Endpoint, provider_of
from greenroom.models.faults import Fault, Tokens
from greenroom.models.retries import RetryTally
from greenroom.models.types import ChatMessage, Completion, ModelRequest, ModelSettings, Purse
from greenroom.tracing import Attributes, Span, names, spans

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere_chat": "cohere",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""What the conventions call providers that have another name here."""
_PORTS = {"http": 80, "https": 443}


def chat_span(
    settings: ModelSettings, endpoint: Endpoint, request: ModelRequest, purse: Purse
) -> AbstractContextManager[Span]:
    """The span of a question and all attempts at its answer."""
    # A server with an address of its own speaks OpenAI's protocol.
    provider = provider_of(settings) or OPENAI
    parts = urlsplit(endpoint.url or "")
    attributes = {
        names.OPERATION: "chat",
        names.PROVIDER: _PROVIDERS.get(provider, provider),
        names.REQUEST_MODEL: endpoint.model,
        names.TEMPERATURE: settings.temperature,
        names.MAX_TOKENS: settings.max_tokens,
        names.SEED: request.seed,
        names.SERVER: parts.hostname,
        names.PORT: parts.port or _PORTS.get(parts.scheme),
        names.PURSE: purse,
        **asked(request),
    }
    return spans.opened(f"chat {endpoint.model}", attributes, kind="client")


def counted_span(purse: Purse, operation: str, name: str) -> AbstractContextManager[Span]:
    """The span of a call that a ledger counts."""
    named = names.AGENT if operation == "invoke_agent" else names.REQUEST_MODEL
    attributes = {names.OPERATION: operation, named: name or None, names.PURSE: purse}
    return spans.opened(f"{operation} {name}".strip(), attributes)


def asked(request: ModelRequest) -> Attributes:
    """What was asked, where that is to be sent."""
    if spans.active is None or not spans.active.captures:
        return {}
    return {names.INPUT_MESSAGES: _as_parts(request.messages)}


def answer_attributes(completion: Completion) -> Attributes:
    """What an answer took; what came from our own cache is apart from what was billed."""
    found: dict[str, Any] = {names.FINISH_REASONS: [completion.finish_reason]}
    if spans.active is not None and spans.active.captures and completion.message:
        found[names.OUTPUT_MESSAGES] = _as_parts([completion.message])
    if completion.from_cache:
        return found | {
            names.CACHE_HIT: True,
            names.CACHED_INPUT_TOKENS: completion.prompt_tokens,
            names.CACHED_OUTPUT_TOKENS: completion.completion_tokens,
            names.CACHED_COST: completion.cost,
        }
    return found | {
        **spent(Tokens(completion.prompt_tokens, completion.completion_tokens), completion.cost),
        names.PROVIDER_CACHED_TOKENS: completion.cached_prompt_tokens or None,
        names.RETRIES: completion.retries or None,
    }


def spent(tokens: Tokens, cost: float | None) -> Attributes:
    """What was billed; an unknown price is left out."""
    return {
        names.INPUT_TOKENS: tokens.prompt,
        names.OUTPUT_TOKENS: tokens.completion,
        names.COST: cost,
    }


def telling(
    span: Span, attempt: Callable[[], Awaitable[Completion]], tally: RetryTally
) -> Callable[[], Awaitable[Completion]]:
    """The same attempt; one that fails is an event of the span."""

    async def told() -> Completion:
        try:
            return await attempt()
        except Fault as fault:
            kind = str(fault.status) if fault.status is not None else "no_answer"
            span.event(names.FAILED_ATTEMPT, {names.ATTEMPT: tally.attempts, names.ERROR: kind})
            raise

    return told


def _as_parts(messages: list[ChatMessage]) -> str:
    return spans.content([{"role": one.get("role"), "parts": _parts(one)} for one in messages])


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        answer = {"type": "tool_call_response", "id": message.get("tool_call_id")}
        return [{**answer, "response": content}]
    found: list[dict[str, Any]] = [{"type": "text", "content": content}] if content else []
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    for call in calls:
        function: dict[str, Any] = call.get("function") or {}
        one = {"type": "tool_call", "id": call.get("id"), "name": function.get("name")}
        found.append({**one, "arguments": function.get("arguments")})
    return found
