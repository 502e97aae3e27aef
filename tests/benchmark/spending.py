"""What runs have spent."""

from __future__ import annotations

from greenroom.store import RunRecord, Store


def spent_so_far(store: Store, run: RunRecord) -> tuple[float, int]:
    """The money, as far as it is known, and the tokens of a run, failed attempts included."""
    used = store.runs.usages(run.id)
    return sum(usage.cost or 0.0 for usage in used), sum(usage.tokens for usage in used)
