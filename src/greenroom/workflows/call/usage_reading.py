"""Reading what an answer took, by whatever names its server tells it."""

from __future__ import annotations

from typing import Any

from greenroom.util.json_values import mapping
from greenroom.workflows.declare.usage import Usage

_PROMPT = ("prompt_tokens", "input_tokens", "input", "prompt")
_COMPLETION = ("completion_tokens", "output_tokens", "output", "completion")


def usage_of(told: dict[str, Any]) -> Usage:
    """The usage in a mapping of its own: OpenAI's, Anthropic's and Agenta's names are known."""
    prompt, completion = _number(told, *_PROMPT), _number(told, *_COMPLETION)
    return Usage(
        None if prompt is None else int(prompt),
        None if completion is None else int(completion),
        _number(told, "cost"),
    )


def usage_beside(*answers: Any) -> Usage:
    """The usage that the first of the answers to tell one has: under `usage`, and under `cost`."""
    for answer in answers:
        fields = mapping(answer)
        usage = usage_of(mapping(fields.get("usage")))
        if usage.cost is None:
            usage.cost = _number(fields, "cost")
        if usage != Usage():
            return usage
    return Usage()


def _number(told: dict[str, Any], *names: str) -> float | None:
    for name in names:
        value = told.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
            return value
    return None
