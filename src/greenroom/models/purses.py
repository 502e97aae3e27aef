"""What is spent: the budget of a run, and the purses of agent, user and judge in each episode."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from greenroom.models.faults import NO_TOKENS, Tokens
from greenroom.models.types import (
    BudgetExhausted,
    Completion,
    Model,
    ModelError,
    ModelRequest,
    ModelUnavailable,
    Purse,
)

if TYPE_CHECKING:
    from greenroom.store.records import Usage


@dataclass
class Budget:
    """A limit on money and tokens, shared by all that spend.

    It is checked before a call, so it can be passed by what the calls under way cost. A call of
    unknown price counts as nothing towards the money, and is reported.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    _: KW_ONLY
    cost: float = 0.0
    """Spent so far, also before, by the run that is resumed."""
    tokens: int = 0
    unpriced_calls: int = 0

    def spend(self, cost: float | None, tokens: int) -> None:
        """Count a call that is paid for."""
        self.tokens += tokens
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.cost += cost

    def check(self) -> None:
        """Raise BudgetExhausted if there is nothing left."""
        if self.max_cost is not None and self.cost >= self.max_cost:
            calls = self.unpriced_calls
            unknown = f"; {calls} calls of unknown price come on top" if calls else ""
            raise BudgetExhausted(
                f"The budget of ${self.max_cost:.2f} is spent (${self.cost:.4f}{unknown})."
            )
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
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
        self.seconds: list[float] = []


class Ledger:
    """The accounts of one episode; what was answered from our own cache is kept apart."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def model(self, purse: Purse, client: Model) -> Model:
        """The same model, with everything that it takes counted in the purse."""
        return _Counted(self, purse, client)

    def add(self, purse: Purse, completion: Completion) -> None:
        """Count an answer."""
        account = self._account(purse)
        tokens = Tokens(completion.prompt_tokens, completion.completion_tokens)
        if completion.from_cache:
            account.from_cache.add(tokens, completion.cost)
        else:
            account.billed.add(tokens, completion.cost)
            account.retries += completion.retries
            account.seconds.append(round(completion.seconds, 4))

    def add_failure(
        self, purse: Purse, retries: int, tokens: Tokens = NO_TOKENS, cost: float | None = 0.0
    ) -> None:
        """Count a call that came to nothing; what its attempts cost is billed all the same."""
        account = self._account(purse)
        account.billed.add(tokens, cost)
        account.retries += retries

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
        try:
            completion = await self.client.complete(request)
        except BudgetExhausted:
            raise  # nothing was asked
        except ModelUnavailable as error:
            self.ledger.add_failure(self.purse, error.retries)
            raise
        except ModelError:
            self.ledger.add_failure(self.purse, 0)
            raise
        # A model that does not measure itself is measured here.
        seconds = completion.seconds or perf_counter() - started
        self.ledger.add(self.purse, replace(completion, seconds=seconds))
        return completion
