"""The models of a job, from its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from greenroom.config import WorkConfig
from greenroom.models import Budget, ModelPool, Prices, answer_cache
from greenroom.store import Usage


def open_models(config: WorkConfig, used: Sequence[Usage] = ()) -> ModelPool:
    """The models of a job; what it has used before counts towards its budget."""
    spent = sum(usage.cost or 0.0 for usage in used)
    tokens = sum(usage.tokens for usage in used)
    return ModelPool(
        max_concurrency=config.max_concurrency,
        transport=config.transport,
        cache=answer_cache() if config.cache else None,
        prices=Prices.load(Path(config.prices) if config.prices else None),
        budget=Budget(config.max_cost, config.max_tokens_total, cost=spent, tokens=tokens),
        timeout=config.model_timeout,
        max_retries=config.model_retries,
        max_calls_per_second=config.max_calls_per_second,
    )
