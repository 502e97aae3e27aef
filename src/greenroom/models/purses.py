"""What is spent: the budget of a run, and the purses of agent, user and judge in each episode."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import anyio

from greenroom.models.faults import NO_TOKENS, Tokens
from greenroom.models.types import BudgetExhausted, Completion, Model, ModelRequest, Purse
from greenroom.tracing import Span, spans

if TYPE_CHECKING:
    from greenroom.store.records import Usage

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


@dataclass(slots=True)
class Spending:
    """Calls of one kind; the cost is None as soon as one of them has no known price."""

    calls: int = 0
    tokens: Tokens = NO_TOKENS
    cost: float | None = 0.0

    def add(self, tokens: Tokens, cost: float | None) -> None:
        self.calls += 1
        self.tokens += tokens
        self.cost = None if self.cost is None or cost is None else self.cost + cost


class _Account:
    def __init__(self) -> None:
        self.billed = Spending()
        self.from_cache = Spending()
        self.retries = 0
        self.lost = 0
        self.seconds: list[float] = []


class Ledger:
    """The accounts of one episode; what was answered from our own cache is kept apart.

    Calls that `call` and `model` count spend the budget. A ModelClient spends its own.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._accounts: dict[str, _Account] = {}
        self._cell = CellSpending()

    @asynccontextmanager
    async def reserved(self) -> AsyncGenerator[None]:
        """Reserve what may be reported here, as far as cells before this one tell."""
        async with self._budget.reserve_cell() as self._cell:
            yield

    def model(self, purse: Purse, client: Model) -> Model:
        """The same model, with everything that it takes counted in the purse."""
        return _Counted(self, purse, client)

    @asynccontextmanager
    async def call(
        self, purse: Purse, *, operation: str = "chat", name: str = ""
    ) -> AsyncGenerator[Callable[[Completion], None]]:
        """Make a call that is paid from the purse and the budget; give its answer to the function.

        A call that raises is counted as lost, because nobody knows what it cost, unless the error
        says that it is not `billable`. `operation` and `name` are those of its span.
        """
        if spans.active is None:
            async with self._called(purse, spans.NOTHING) as count:
                yield count
            return
        # Models know about ledgers.
        from greenroom.models.traced import counted_span

        with counted_span(purse, operation, name) as span:
            async with self._called(purse, span) as count:
                yield count

    @asynccontextmanager
    async def _called(
        self, purse: Purse, span: Span
    ) -> AsyncGenerator[Callable[[Completion], None]]:
        def count(completion: Completion) -> None:
            self.add(purse, completion)
            if span is not spans.NOTHING:
                from greenroom.models.traced import answer_attributes

                span.set(answer_attributes(completion))
            if not completion.from_cache:
                tokens = completion.prompt_tokens + completion.completion_tokens
                self._budget.spend(completion.cost, tokens)

        async with self._budget.reserve():
            try:
                yield count
            except BudgetExhausted:
                raise  # nothing was asked
            except BaseException as error:
                lost = all(getattr(one, "billable", True) for one in (error, error.__cause__))
                if lost:
                    self._budget.spend(None, 0)
                self.add_failure(purse, getattr(error, "retries", 0), lost=int(lost))
                raise

    def add(self, purse: Purse, completion: Completion, *, lost: int = 0) -> None:
        """Count an answer, and attempts before it that were lost."""
        account = self._account(purse)
        tokens = Tokens(completion.prompt_tokens, completion.completion_tokens)
        if completion.from_cache:
            account.from_cache.add(tokens, completion.cost)
        else:
            account.billed.add(tokens, completion.cost)
            account.retries += completion.retries
            account.lost += lost
            account.seconds.append(round(completion.seconds, 4))

    def add_failure(
        self,
        purse: Purse,
        retries: int,
        tokens: Tokens = NO_TOKENS,
        cost: float | None = 0.0,
        *,
        lost: int = 0,
    ) -> None:
        """Count a call without an answer: what its attempts cost, and how many of them were lost.

        A lost attempt was sent, and no answer said what it cost.
        """
        account = self._account(purse)
        account.billed.add(tokens, cost)
        account.retries += retries
        account.lost += lost

    def report(
        self,
        purse: Purse,
        *,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cost: float | None = None,
    ) -> None:
        """Count a call that was made and paid for elsewhere, in the purse and in the budget.

        Raises BudgetExhausted if nothing was left before it: whoever reports makes no further one.
        """
        tokens = Tokens(prompt_tokens or 0, completion_tokens or 0)
        if spans.active is not None:
            # Models know about ledgers.
            from greenroom.models.traced import counted_span, spent

            with counted_span(purse, "chat", "") as span:
                span.set(spent(tokens, cost))
        exhausted = self._budget.exhausted
        self._account(purse).billed.add(tokens, cost)
        self._budget.spend(cost, tokens.total)
        self._cell.cost += cost or 0.0
        self._cell.tokens += tokens.total
        if exhausted:
            self._budget.check()

    def usage(self) -> dict[str, Usage]:
        """What every purse that was used holds."""
        # The store is not needed to ask a model, and takes a while to import.
        from greenroom.store.records import Usage

        return {
            purse: Usage(
                calls=account.billed.calls,
                prompt_tokens=account.billed.tokens.prompt,
                completion_tokens=account.billed.tokens.completion,
                cost=account.billed.cost,
                cached_calls=account.from_cache.calls,
                cached_prompt_tokens=account.from_cache.tokens.prompt,
                cached_completion_tokens=account.from_cache.tokens.completion,
                cached_cost=account.from_cache.cost,
                retries=account.retries,
                lost_calls=account.lost,
            )
            for purse, account in self._accounts.items()
        }

    def latencies(self) -> dict[str, list[float]]:
        """Seconds of every answer that a provider gave, by purse and in order.

        They include retries and waiting for a place. Answers from the cache took no time, and calls
        that failed or were cancelled have none.
        """
        return {
            purse: list(account.seconds)
            for purse, account in self._accounts.items()
            if account.seconds
        }

    def _account(self, purse: Purse) -> _Account:
        return self._accounts.setdefault(purse, _Account())


@dataclass(frozen=True)
class _Counted:
    ledger: Ledger
    purse: Purse
    client: Model

    async def complete(self, request: ModelRequest) -> Completion:
        started = perf_counter()
        async with self.ledger.call(self.purse) as count:
            completion = await self.client.complete(request)
            # A model that does not measure itself is measured here.
            seconds = completion.seconds or perf_counter() - started
            count(replace(completion, seconds=seconds))
        return completion
