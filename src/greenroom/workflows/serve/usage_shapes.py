"""What a call took, by the names that each wire has for it; None where nobody said."""

from __future__ import annotations

from typing import Any

from greenroom.workflows.call.calls import Answer


def openai_usage(answer: Answer) -> dict[str, Any] | None:
    """OpenAI's usage."""
    total = _total(answer)
    if total is None:
        return None
    return {
        "prompt_tokens": answer.prompt_tokens or 0,
        "completion_tokens": answer.completion_tokens or 0,
        "total_tokens": total,
    } | _cost(answer)


def agenta_usage(answer: Answer) -> dict[str, Any] | None:
    """Agenta's usage."""
    total = _total(answer)
    if total is None:
        return _cost(answer) or None
    return {
        "input": answer.prompt_tokens or 0,
        "output": answer.completion_tokens or 0,
        "total": total,
    } | _cost(answer)


def _total(answer: Answer) -> int | None:
    if answer.prompt_tokens is None and answer.completion_tokens is None:
        return None
    return (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)


def _cost(answer: Answer) -> dict[str, Any]:
    return {} if answer.cost is None else {"cost": answer.cost}


__all__ = ["agenta_usage", "openai_usage"]
