"""How a job stands while it is under way: one line for runs, evaluations and judgings."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from greenroom.store import CellRecord
from greenroom.trials.display import progress_bar
from greenroom.trials.engine import Plan


@dataclass(frozen=True)
class Watcher:
    """What a job calls while it is under way."""

    on_plan: Callable[[Plan[Any, Any]], None]
    on_result: Callable[[Any], None]


@contextmanager
def watch_job(
    title: str,
    left: int,
    figure: str,
    value: Callable[[Any], float | None],
    *,
    before: Iterable[float | None] = (),
    shown: bool = True,
) -> Generator[Watcher]:
    """Show how a job stands while the block runs; `left` is how many cells are to do.

    `figure` names the mean that is shown, `value` is what a result adds to it, and `before` holds
    the values of earlier results.
    """
    standing = Progress(figure, before)
    with progress_bar(title, left, shown=shown) as advance:

        def note(record: CellRecord) -> None:
            standing.add(record, value(record))
            advance(str(standing))

        yield Watcher(standing.watch, note)


class Progress:
    """Counts results as they come; as text, it says how the job stands."""

    def __init__(self, figure: str, before: Iterable[float | None]) -> None:
        values = [value for value in before if value is not None]
        self._figure = figure
        self._sum, self._counted = sum(values), len(values)
        self._broken = 0
        self._plan: Plan[Any, Any] | None = None
        self._start = time.monotonic()

    def watch(self, plan: Plan[Any, Any]) -> None:
        """Follow what the plan's models do and spend."""
        self._plan = plan

    def add(self, record: CellRecord, value: float | None) -> None:
        """Count a result with its value; a cell without a result is counted apart."""
        if not record.has_result:
            self._broken += 1
        elif value is not None:
            self._sum += value
            self._counted += 1

    def __str__(self) -> str:
        parts: list[str] = []
        if self._figure and self._counted:
            parts.append(f"{self._figure} {self._sum / self._counted:.2f}")
        if self._broken:
            parts.append(f"{self._broken} error{'s' if self._broken > 1 else ''}")
        if self._plan is not None:
            parts += self._spent(self._plan)
        return ", ".join(parts)

    def _spent(self, plan: Plan[Any, Any]) -> list[str]:
        budget, counters = plan.pool.budget, [client.counters for client in plan.pool.clients]
        parts: list[str] = []
        if budget.cost or budget.max_cost is not None:
            # Calls of unknown price are in no sum, so the sum is told to be a part.
            more = " or more" if budget.unpriced_calls else ""
            most = f" of ${budget.max_cost:.2f}" if budget.max_cost is not None else ""
            parts.append(f"${budget.cost:.2f}{more}{most}")
        if budget.max_tokens is not None:
            parts.append(f"{budget.tokens:,} of {budget.max_tokens:,} tokens")
        if counters:
            calls = sum(counter.calls for counter in counters)
            parts.append(f"{calls / max(time.monotonic() - self._start, 1e-9):.0f} calls/s")
        if retries := sum(counter.retries for counter in counters):
            parts.append(f"{retries} retries")
        if hits := sum(counter.cache_hits for counter in counters):
            parts.append(f"{hits} from cache")
        if limits := [counter.limit for counter in counters if counter.limit is not None]:
            parts.append(f"limit {min(limits)}")
        return parts
