"""Telling what a call took: tokens and cost, reported from within a handler."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

_Number = TypeVar("_Number", int, float)


@dataclass
class Usage:
    """What a call took so far; None: nobody said."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None

    def add(
        self,
        *,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cost: float | None = None,
    ) -> None:
        """Count what a step of the call took."""
        self.prompt_tokens = _sum(self.prompt_tokens, prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, completion_tokens)
        self.cost = _sum(self.cost, cost)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": self.cost,
        }


def _sum(sofar: _Number | None, more: _Number | None) -> _Number | None:
    if more is None:
        return sofar
    return more if sofar is None else sofar + more


current_usage: ContextVar[Usage | None] = ContextVar("current_usage", default=None)


def report_usage(
    *,
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    cost: float | None = None,
) -> None:
    """Say, within a handler, what a step of the call took; several reports are added up.

    Outside of a call nothing happens, so that a handler can still be called as a function.
    """
    usage = current_usage.get()
    if usage is not None:
        usage.add(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost=cost)


__all__ = ["Usage", "current_usage", "report_usage"]
