"""Tokens and money, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from greenroom.store.records import Usage


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum of usages. A cost is None if any price is unknown, or if nothing was bought."""
    used = list(usages)
    counts = {
        name: sum(getattr(usage, name) for usage in used)
        for name in Usage.model_fields
        if name not in ("cost", "cached_cost")
    }
    bought = [u.cost for u in used if u.cost is not None or _was_used(u)]
    cached = [u.cached_cost for u in used if u.cached_calls]
    return Usage(**counts, cost=_sum(bought), cached_cost=_sum(cached))


def usage_by_purse(usages: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """The sums by purse."""
    found: dict[str, list[Usage]] = {}
    for usage in usages:
        for purse, used in usage.items():
            found.setdefault(purse, []).append(used)
    return {purse: total_usage(used) for purse, used in found.items()}


def _was_used(usage: Usage) -> bool:
    return bool(usage.calls or usage.prompt_tokens or usage.completion_tokens)


def _sum(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
