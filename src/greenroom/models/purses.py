"""What was spent: the purses of agent, user and judge in each episode."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from greenroom.models.budgets import Budget, CellSpending
from greenroom.models.faults import NO_TOKENS, Tokens
from greenroom.models.types import BudgetExhausted, Completion, Model, ModelRequest, Purse
from greenroom.tracing import Span, spans

if TYPE_CHECKING:
    from greenroom.store.records import Usage


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
