"""What is asked, in the words of the chat-completion protocol."""

from __future__ import annotations

import re
from typing import Any

from greenroom.models.types import ModelRequest, ModelSettings

_REASONS = re.compile(r"(?:openai/)?(?:o[1-9](?:-|$)|gpt-5(?!.*-chat))")
"""OpenAI's models that think first."""


def parameters(settings: ModelSettings, request: ModelRequest) -> dict[str, Any]:
    """Everything but the model's name; what is None is left out."""
    asked: dict[str, Any] = {
        "messages": request.messages,
        "temperature": settings.temperature,
        "max_tokens": most_tokens(settings.max_tokens, request),
        "reasoning_effort": settings.reasoning_effort,
        "tools": request.tools or None,
        "tool_choice": request.tool_choice,
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_format": request.response_format,
        "seed": request.seed,
        "stop": request.stop or None,
    }
    return {name: value for name, value in asked.items() if value is not None}


def most_tokens(allowed: int | None, request: ModelRequest) -> int | None:
    """The most tokens that the answer may have: the smaller of what both sides say."""
    return min(
        (limit for limit in (allowed, request.max_tokens) if limit is not None), default=None
    )


def openai_parameters(settings: ModelSettings, request: ModelRequest) -> dict[str, Any]:
    """The same for OpenAI itself.

    It has a new name for max_tokens, and its reasoning models take no temperature: they are asked
    without one, as litellm does too.
    """
    asked = parameters(settings, request)
    if "max_tokens" in asked:
        asked["max_completion_tokens"] = asked.pop("max_tokens")
    if _REASONS.match(settings.model) and settings.reasoning_effort != "none":
        asked.pop("temperature", None)
    return asked
