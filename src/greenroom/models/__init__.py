"""Language models: one protocol, whatever stands behind it."""

from __future__ import annotations

from greenroom.models.types import (
    BudgetExhausted,
    ChatMessage,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    FakeModel,
    Model,
    ModelError,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    Purse,
)

__all__ = [
    "BudgetExhausted",
    "ChatMessage",
    "Completion",
    "ContentFiltered",
    "ContextWindowExceeded",
    "FakeModel",
    "Model",
    "ModelError",
    "ModelRequest",
    "ModelSettings",
    "ModelUnavailable",
    "Purse",
]
