"""What a job may spend: its budget, and what is reserved of it by what is under way."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

import anyio

from greenroom.models.types import BudgetExhausted

_reserving: ContextVar[bool] = ContextVar("greenroom_reserving", default=False)


class Grants(Protocol):
    """A budget that several processes share: each may spend what it was given of it."""

    @property
    def cost(self) -> float:
        """The cost that this process may reach, counted as its budget counts."""
        ...

    @property
    def tokens(self) -> int:
        """The tokens that this process may reach."""
        ...

    @property
    def dry(self) -> bool:
        """Nothing more was there the last time."""
        ...

    @property
    def alone(self) -> bool:
        """No other process spends just now."""
        ...

    async def more(self, cost: float, tokens: int) -> bool:
        """Ask for so much more: whether there was more."""
        ...


@dataclass(eq=False)
class CellSpending:
    """What a cell reports that it paid for on its own, and what is reserved for that."""

    reserved_cost: float = 0.0
    reserved_tokens: int = 0
    cost: float = 0.0
    tokens: int = 0

    @property
    def left(self) -> tuple[float, int]:
        """What is reserved and not reported yet."""
        return max(self.reserved_cost - self.cost, 0.0), max(self.reserved_tokens - self.tokens, 0)


@dataclass
class Budget:
    """A limit on money and tokens, shared by all that spend.

    Each call reserves what it may take. Calls wait if those under way may take what is left, so the
    budget is passed by one call at most, if calls take no more than they reserve. A call of unknown
    price counts as nothing towards the money, and is reported.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    _: KW_ONLY
    cost: float = 0.0
    """Spent so far, also before, by the run that is resumed."""
    tokens: int = 0
    unpriced_calls: int = 0
    grants: Grants | None = None
    """Where to ask for more if other processes share the budget."""
    _under_way: int = field(default=0, init=False)
    _held: tuple[float, int] = field(default=(0.0, 0), init=False)
    _largest: tuple[float, int] | None = field(default=None, init=False)
    """What the largest call so far took."""
    _cells: list[CellSpending] = field(default_factory=list[CellSpending], init=False)
    """Those under way."""
    _most_reported: tuple[float, int] = field(default=(0.0, 0), init=False)
    """What the cell that reported most has spent on its own."""
    _freed: anyio.Event | None = field(default=None, init=False)

    def set(self, max_cost: float | None, max_tokens: int | None) -> None:
        """Change the limits while calls are under way; None leaves one as it is."""
        self.max_cost = self.max_cost if max_cost is None else max_cost
        self.max_tokens = self.max_tokens if max_tokens is None else max_tokens
        self._tell()

    @property
    def reserved(self) -> tuple[float, int]:
        """The cost and the tokens that calls and cells under way may still take."""
        left = [cell.left for cell in self._cells]
        cost = sum((one[0] for one in left), self._held[0])
        return cost, sum((one[1] for one in left), self._held[1])

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.max_cost is not None or self.max_tokens is not None

    def spend(self, cost: float | None, tokens: int) -> None:
        """Count a call that is paid for."""
        self.tokens += tokens
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.cost += cost
        most_cost, most_tokens = self._largest or (0.0, 0)
        self._largest = max(most_cost, cost or 0.0), max(most_tokens, tokens)

    @asynccontextmanager
    async def reserve(
        self, cost: float | None = None, tokens: int | None = None
    ) -> AsyncGenerator[None]:
        """Reserve what a call may take while it is under way; without figures, as the largest did.

        Wait for room. Raise BudgetExhausted if nothing is left and no call is under way: then all
        that was paid for is counted.
        """
        # A model that asks another one reserves once: it would wait for itself.
        if not self.limited or _reserving.get():
            yield
            return
        while (hold := await self._room(cost, tokens)) is None:
            await self._wait()
        self._under_way += 1
        self._held = self._held[0] + hold[0], self._held[1] + hold[1]
        token = _reserving.set(True)
        try:
            yield
        finally:
            _reserving.reset(token)
            self._under_way -= 1
            self._held = self._held[0] - hold[0], self._held[1] - hold[1]
            self._tell()

    @asynccontextmanager
    async def reserve_cell(self) -> AsyncGenerator[CellSpending]:
        """Reserve what a cell may report that it paid for on its own: as much as any did so far.

        Wait for room until no other cell is under way. Calls do not wait for what is reserved so:
        they belong to cells that are under way.
        """
        while not await self._room_for_cell():
            await self._wait()
        cell = CellSpending(*self._most_reported)
        self._cells.append(cell)
        try:
            yield cell
        finally:
            self._cells.remove(cell)
            most_cost, most_tokens = self._most_reported
            self._most_reported = max(most_cost, cell.cost), max(most_tokens, cell.tokens)
            self._tell()

    async def _room_for_cell(self) -> bool:
        while self.limited and any(most := self._most_reported):
            left = [cell.left for cell in self._cells]
            cost = sum((one[0] for one in left), most[0])
            if self._fits((cost, sum((one[1] for one in left), most[1]))):
                break
            if self.grants is None or not await self.grants.more(*most):
                if not self._cells:
                    self.check()
                return not self._cells
        return True

    async def _wait(self) -> None:
        """Wait until a call or a cell has ended."""
        self._freed = self._freed or anyio.Event()
        await self._freed.wait()

    def _tell(self) -> None:
        """Let those that wait look again."""
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    async def _room(self, cost: float | None, tokens: int | None) -> tuple[float, int] | None:
        """What a call may reserve now; None if it has to wait."""
        largest = self._largest or (0.0, 0)
        hold = (largest[0] if cost is None else cost, largest[1] if tokens is None else tokens)
        alone = tokens is None and self._largest is None
        if alone and self._under_way:
            return None  # nobody knows what such a call takes: the first one goes alone
        while self.grants is not None and not self._fits(hold):
            if not await self.grants.more(*hold):
                break
        if alone and self._under_way:
            return None  # another call began while more was asked for
        if not self._under_way:
            self.check()
            return hold
        return hold if self._fits(hold) else None

    def _fits(self, hold: tuple[float, int]) -> bool:
        most_cost, most_tokens = self._limits
        return (most_cost is None or self.cost + self._held[0] + hold[0] < most_cost) and (
            most_tokens is None or self.tokens + self._held[1] + hold[1] < most_tokens
        )

    @property
    def _limits(self) -> tuple[float | None, int | None]:
        """What this process may reach."""
        grants = self.grants
        if grants is None:
            return self.max_cost, self.max_tokens
        return (
            None if self.max_cost is None else grants.cost,
            None if self.max_tokens is None else grants.tokens,
        )

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing left."""
        if self.grants is not None and not self.grants.dry:
            return False
        most_cost, most_tokens = self._limits
        no_money = most_cost is not None and self.cost >= most_cost
        return no_money or (most_tokens is not None and self.tokens >= most_tokens)

    def check(self) -> None:
        """Raise BudgetExhausted if there is nothing left."""
        most_cost, most_tokens = self._limits
        if most_cost is not None and self.cost >= most_cost:
            if self.grants is not None and not self.grants.alone:
                raise BudgetExhausted(f"The budget of ${self.max_cost:.2f} is spent.")
            calls = self.unpriced_calls
            unknown = f"; {calls} calls of unknown price come on top" if calls else ""
            raise BudgetExhausted(
                f"The budget of ${self.max_cost:.2f} is spent (${self.cost:.4f}{unknown})."
            )
        if most_tokens is not None and self.tokens >= most_tokens:
            if self.grants is not None and not self.grants.alone:
                raise BudgetExhausted(f"The budget of {self.max_tokens:,} tokens is spent.")
            raise BudgetExhausted(
                f"The budget of {self.max_tokens:,} tokens is spent ({self.tokens:,})."
            )
