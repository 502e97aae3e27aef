"""The part of a job's budget that this worker may spend."""

from __future__ import annotations

from typing import Any

import anyio

from greenroom.models import Budget
from greenroom.store.allowances import NOTHING, Allowance
from greenroom.trials.membership import LOOK_SECONDS, Membership
from greenroom.trials.work import JobWork

_DIGITS = 9
"""Sums of parts of a budget are as exact as the budget."""
_SURPLUS = 0.5
"""A worker that has joined gets what others have not spent; they give back this part of it."""


class SharedBudget:
    """What this worker was given of the budget, as its `Budget` asks for it."""

    def __init__(self, work: JobWork[Any, Any], membership: Membership, budget: Budget) -> None:
        self._work = work
        self._membership = membership
        self._budget = budget
        self._asking = anyio.Lock()
        self._owner = membership.owner
        self._workers = 1
        self._most = budget.max_cost, budget.max_tokens
        self._granted: Allowance = NOTHING
        self._base = budget.cost, budget.tokens
        self.dry = False
        budget.grants = self
        membership.spent = self.spent

    @property
    def cost(self) -> float:
        """The cost that this process may reach, counted as its budget counts."""
        return round(self._base[0] + self._granted.cost, _DIGITS)

    @property
    def tokens(self) -> int:
        """The tokens that this process may reach."""
        return self._base[1] + self._granted.tokens

    @property
    def alone(self) -> bool:
        """No other worker spends just now."""
        return len(self._membership.look.workers) <= 1

    def spent(self) -> Allowance:
        """What was spent of what was given."""
        if self._granted == NOTHING or self._is_lost:
            return NOTHING
        return Allowance(
            max(self._budget.cost - self._base[0], 0.0), max(self._budget.tokens - self._base[1], 0)
        )

    async def more(self, cost: float, tokens: int) -> bool:
        """Ask the store for so much more: whether there was more."""
        before = self._granted
        async with self._asking:
            if self._granted != before:
                return True  # another call has asked in the meantime
            self._begin_again()
            allowances, budget = self._work.jobs.allowances, self._budget
            now: Allowance | None = await self._work.in_store(
                allowances.take,
                self._work.job.id,
                self._membership.owner,
                (budget.max_cost, budget.max_tokens),
                Allowance(cost, tokens),
            )
            if now is not None:
                grew = now.cost > self._granted.cost or now.tokens > self._granted.tokens
                self._granted, self.dry = now, not grew
                return grew
        # It joins again at its next look.
        await anyio.sleep(LOOK_SECONDS)
        return True

    async def settle(self) -> None:
        """Ask for more if what was given is spent, as far as nobody has waited for it.

        Costs that are told once they were spent ask for nothing before.
        """
        while self._budget.limited and self._spent_all():
            if not await self.more(0.0, 0):
                break

    def _spent_all(self) -> bool:
        budget = self._budget
        return (budget.max_cost is not None and budget.cost >= self.cost) or (
            budget.max_tokens is not None and budget.tokens >= self.tokens
        )

    async def balance(self) -> None:
        """Give back what is not needed soon once others have joined, and all once it is less."""
        budget, workers = self._budget, len(self._membership.look.workers)
        joined, self._workers = workers > self._workers, workers
        before, self._most = self._most, (budget.max_cost, budget.max_tokens)
        if _is_less(self._most, before):
            await self._give_back(1.0)
        elif joined:
            await self._give_back(_SURPLUS)

    async def _give_back(self, part: float) -> None:
        """Give back this part of what is neither spent nor reserved."""
        if not self._budget.limited or self._granted == NOTHING:
            return
        async with self._asking:
            spent, reserved, given = self.spent(), self._budget.reserved, self._granted
            cost = min(spent.cost + reserved[0], given.cost)
            tokens = min(spent.tokens + reserved[1], given.tokens)
            kept = Allowance(
                cost + (given.cost - cost) * (1 - part),
                tokens + int((given.tokens - tokens) * (1 - part)),
            )
            await self._work.in_store(
                self._work.jobs.allowances.give_back,
                self._work.job.id,
                self._membership.owner,
                kept,
            )
            self._granted = kept

    @property
    def _is_lost(self) -> bool:
        """Whether what was given counts as spent: others thought that this worker was gone."""
        return self._owner != self._membership.owner

    def _begin_again(self) -> None:
        """Count from here if nothing was given yet, or all of it counts as spent by a lost one."""
        if self._is_lost or self._granted == NOTHING:
            self._owner = self._membership.owner
            self._granted = NOTHING
            self._base = self._budget.cost, self._budget.tokens


def _is_less(now: tuple[float | None, int | None], before: tuple[float | None, int | None]) -> bool:
    return any(
        limit is not None and earlier is not None and limit < earlier
        for limit, earlier in zip(now, before, strict=True)
    )
