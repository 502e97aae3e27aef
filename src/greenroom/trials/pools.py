"""The models of a job, from its configuration."""

from __future__ import annotations

from collections.abc import Sequence

from greenroom.config import WorkConfig
from greenroom.models.pool import ModelPool, open_pool
from greenroom.store import Usage


def open_models(config: WorkConfig, used: Sequence[Usage] = ()) -> ModelPool:
    """The models of a job; what it has used before counts towards its budget."""
    return open_pool(
        max_cost=config.max_cost,
        max_tokens_total=config.max_tokens_total,
        prices=config.prices,
        cache=config.cache,
        transport=config.transport,
        model_timeout=config.model_timeout,
        model_retries=config.model_retries,
        max_concurrency=config.max_concurrency,
        spent_cost=sum(usage.cost or 0.0 for usage in used),
        spent_tokens=sum(usage.tokens for usage in used),
    )
