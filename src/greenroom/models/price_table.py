"""What common models cost, for installations without litellm and its larger table.

As of November 2026, without prices that are announced to end. A model that is missing here has an
unknown price. A test compares every row with litellm's table, so a new version of litellm shows
which prices have changed.
"""

from __future__ import annotations

from collections.abc import Mapping

Row = tuple[float, float, float]
"""US dollars for a million tokens: of the prompt, of the completion, of the prompt from cache."""

PER_MILLION: Mapping[str, Row] = {
    "openai/gpt-4o": (2.5, 10, 1.25),
    "openai/gpt-4o-mini": (0.15, 0.6, 0.075),
    "openai/gpt-4.1": (2, 8, 0.5),
    "openai/gpt-4.1-mini": (0.4, 1.6, 0.1),
    "openai/gpt-5": (1.25, 10, 0.125),
    "openai/gpt-5-mini": (0.25, 2, 0.025),
    "openai/gpt-5-nano": (0.05, 0.4, 0.005),
    "openai/gpt-5.1": (1.25, 10, 0.125),
    "openai/gpt-5.4": (2.5, 15, 0.25),
    "openai/gpt-5.4-mini": (0.75, 4.5, 0.075),
    "openai/gpt-5.4-nano": (0.2, 1.25, 0.02),
    "openai/gpt-5.5": (5, 30, 0.5),
    "openai/gpt-5.6-luna": (0.2, 1.2, 0.02),
    "openai/gpt-5.6-terra": (2, 12, 0.2),
    "openai/gpt-6-astra": (10, 50, 1),
    "openai/gpt-6-luna": (0.1, 0.5, 0.01),
    "openai/gpt-6-sol": (2, 10, 0.2),
    "openai/o3": (2, 8, 0.5),
    "anthropic/claude-fable-5": (10, 50, 1),
    "anthropic/claude-fable-5-1": (10, 50, 0.25),
    "anthropic/claude-haiku-4-5": (1, 5, 0.1),
    "anthropic/claude-haiku-5-5": (0.1, 0.5, 0.01),
    "anthropic/claude-opus-4-5": (5, 25, 0.5),
    "anthropic/claude-opus-4-6": (5, 25, 0.5),
    "anthropic/claude-opus-4-7": (5, 25, 0.5),
    "anthropic/claude-opus-4-8": (5, 25, 0.5),
    "anthropic/claude-opus-5": (5, 25, 0.5),
    "anthropic/claude-opus-5-5": (4, 20, 0.2),
    "anthropic/claude-sonnet-4-5": (3, 15, 0.3),
    "anthropic/claude-sonnet-4-6": (3, 15, 0.3),
    "anthropic/claude-sonnet-5": (2, 10, 0.2),
    "anthropic/claude-sonnet-5-5": (2, 10, 0.1),
    "gemini/gemini-2.5-flash": (0.3, 2.5, 0.03),
    "gemini/gemini-2.5-flash-lite": (0.1, 0.4, 0.01),
    "gemini/gemini-2.5-pro": (1.25, 10, 0.125),
    "gemini/gemini-3.1-pro-preview": (2, 12, 0.2),
}

LONG_PROMPTS: Mapping[str, tuple[int, Row]] = {
    "openai/gpt-5.4": (272_000, (5, 22.5, 0.5)),
    "openai/gpt-5.5": (272_000, (10, 45, 1)),
    "openai/gpt-5.6-luna": (272_000, (0.4, 1.8, 0.04)),
    "openai/gpt-5.6-terra": (272_000, (4, 18, 0.4)),
    "openai/gpt-6-astra": (272_000, (20, 75, 2)),
    "openai/gpt-6-luna": (272_000, (0.2, 0.75, 0.02)),
    "openai/gpt-6-sol": (272_000, (4, 15, 0.4)),
    "anthropic/claude-haiku-5-5": (100_000, (0.5, 2.5, 0.05)),
    "gemini/gemini-2.5-pro": (200_000, (2.5, 15, 0.25)),
    "gemini/gemini-3.1-pro-preview": (200_000, (4, 18, 0.4)),
}
"""The rates of a whole call whose prompt has more than so many tokens."""
