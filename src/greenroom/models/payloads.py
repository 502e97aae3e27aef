"""What is asked, in the words of the chat-completion protocol."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from greenroom.models.types import ModelRequest, ModelSettings

_REASONS = re.compile(r"(?:openai/)?(?:o[1-9](?:-|$)|gpt-5(?!.*-chat))")
"""OpenAI's models that think first."""


def parameters(settings: ModelSettings, request: ModelRequest) -> dict[str, Any]:
    """Everything but the model's name; what is None is left out."""
    asked: dict[str, Any] = {"messages": request.messages}
    if settings.temperature is not None:
        asked["temperature"] = settings.temperature
    if settings.max_tokens is not None:
        asked["max_tokens"] = settings.max_tokens
    if settings.reasoning_effort is not None:
        asked["reasoning_effort"] = settings.reasoning_effort
    if request.tools:
        asked["tools"] = request.tools
    if request.response_format is not None:
        asked["response_format"] = request.response_format
    if request.seed is not None:
        asked["seed"] = request.seed
    if request.stop:
        asked["stop"] = request.stop
    return asked


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


def encoded(value: Any) -> bytes:
    """The value as JSON."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Huge integers and lone surrogates: rare, slower, but no reason to fail.
        return json.dumps(value, separators=(",", ":")).encode()
