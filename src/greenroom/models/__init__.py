"""Language models: one protocol, whatever stands behind it."""

from __future__ import annotations

from greenroom.models.budgets import Budget
from greenroom.models.cache import AnswerCache, answer_cache, answer_key, clear_answers
from greenroom.models.client import Counters, ModelClient
from greenroom.models.endpoints import Endpoint, endpoint_of
from greenroom.models.faults import Fault, Tokens
from greenroom.models.limits import AdaptiveLimit
from greenroom.models.pool import ModelPool
from greenroom.models.prices import Price, Prices, Rates
from greenroom.models.purses import Ledger
from greenroom.models.retries import RetryPolicy
from greenroom.models.transports import (
    Provider,
    Transport,
    TransportName,
    open_transport,
    transport_name,
)
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
    RequestRefused,
)

__all__ = [
    "AdaptiveLimit",
    "AnswerCache",
    "Budget",
    "BudgetExhausted",
    "ChatMessage",
    "Completion",
    "ContentFiltered",
    "ContextWindowExceeded",
    "Counters",
    "Endpoint",
    "FakeModel",
    "Fault",
    "Ledger",
    "Model",
    "ModelClient",
    "ModelError",
    "ModelPool",
    "ModelRequest",
    "ModelSettings",
    "ModelUnavailable",
    "Price",
    "Prices",
    "Provider",
    "Purse",
    "Rates",
    "RequestRefused",
    "RetryPolicy",
    "Tokens",
    "Transport",
    "TransportName",
    "answer_cache",
    "answer_key",
    "clear_answers",
    "endpoint_of",
    "open_transport",
    "transport_name",
]
