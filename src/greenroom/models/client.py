"""Asking a model: budget, cache, limit, retries and cost in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import anyio

from greenroom.errors import GreenroomError
from greenroom.models.budgets import Budget
from greenroom.models.cache import AnswerCache, answer_key
from greenroom.models.endpoints import Endpoint
from greenroom.models.faults import NO_TOKENS, Fault, Tokens, excerpt
from greenroom.models.limits import AdaptiveLimit
from greenroom.models.pace import Pace
from greenroom.models.payloads import most_tokens
from greenroom.models.prices import Prices
from greenroom.models.purses import Ledger
from greenroom.models.retries import RetryPolicy, RetryTally, answered
from greenroom.models.traced import answer_attributes, chat_span, spent, telling
from greenroom.models.transports import Transport, TransportName, open_transport
from greenroom.models.types import Completion, Model, ModelRequest, ModelSettings, Purse
from greenroom.tracing import Span, spans
from greenroom.util.json_values import encoded

_SEEDS = 2**31
"""Some providers take no more than 31 bits."""
_TOKENS_PER_BYTE, _LONGEST_ANSWER = 0.35, 1_000
"""What a question may take, until answers show that it takes more."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What a client has done and is doing, for progress displays."""

    calls: int
    """Questions that were answered, or given up, by the provider."""
    retries: int
    cache_hits: int
    in_flight: int
    """Attempts under way; those of other clients at the same limit are not counted."""
    limit: int | None
    """How many the endpoint is given at once just now; None: as many as there are."""


class ModelClient:
    """A model that many episodes ask at once.

    Limit, cache, prices and budget may be shared with other clients; the client closes none of
    them. A question that is about to leave reserves what it may take of the budget: answers from
    the cache are free.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        transport: TransportName | Transport = "auto",
        limit: AdaptiveLimit | None = None,
        pace: Pace | None = None,
        cache: AnswerCache | None = None,
        prices: Prices | None = None,
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self.settings = settings
        self._transport = (
            open_transport(settings, transport) if isinstance(transport, str) else transport
        )
        self._limit = limit
        self._pace = pace
        self._cache = cache
        self._price = (prices or Prices()).price(settings)
        self._budget = budget or Budget()
        self._policy = retries or RetryPolicy()
        self._calls = 0
        self._retries = 0
        self._cache_hits = 0
        self._in_flight = 0
        self._tokens_per_byte, self._longest = _TOKENS_PER_BYTE, _LONGEST_ANSWER

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is asked."""
        return self._transport.endpoint

    @property
    def counters(self) -> Counters:
        """What the client has done and is doing."""
        limit = self._limit.current if self._limit else None
        return Counters(self._calls, self._retries, self._cache_hits, self._in_flight, limit)

    def for_episode(
        self, purse: Purse, ledger: Ledger, scope: str = "", seed: int | None = None
    ) -> Model:
        """The model as one episode asks it: paid from the purse, with answers of its own.

        `scope` sets apart what must not share cached answers: run seed, task and trial (the purse
        is added here). `seed` is for questions that bring none.
        """
        return _EpisodeModel(self, purse, ledger, f"{purse}\n{scope}", seed)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def answer(
        self, request: ModelRequest, purse: Purse, ledger: Ledger, scope: str
    ) -> Completion:
        """The answer, from the cache if it is there; the ledger has what it took, answer or not."""
        if spans.active is None:
            return await self._answer(request, purse, ledger, scope, spans.NOTHING)
        with chat_span(self.settings, self._transport.endpoint, request, purse) as span:
            completion = await self._answer(request, purse, ledger, scope, span)
            span.set(answer_attributes(completion))
            return completion

    async def _answer(
        self, request: ModelRequest, purse: Purse, ledger: Ledger, scope: str, span: Span
    ) -> Completion:
        key = answer_key(self.settings, request, scope) if self._cache else b""
        if self._cache and (kept := await self._cache.get(key)) is not None:
            self._cache_hits += 1
            ledger.add(purse, kept)
            return kept
        started, tally = perf_counter(), RetryTally()
        attempt = partial(self._attempt, request, tally)
        if span is not spans.NOTHING:
            attempt = telling(span, attempt, tally)
        try:
            completion = await answered(attempt, self._policy, tally, self._transport.endpoint.name)
        except BaseException:
            # Also if the episode is cancelled: what was spent until then is counted.
            if tally.attempts:
                self._count(tally)
                cost = self._wasted_cost(tally.wasted)
                ledger.add_failure(purse, tally.retries, tally.wasted, cost, lost=tally.lost)
                span.set(spent(tally.wasted, cost))
            raise
        self._count(tally)
        tokens = tally.wasted + _tokens(completion)
        if self._price:
            cost = self._price.cost(tokens)
        else:
            told, wasted = completion.cost, self._wasted_cost(tally.wasted)
            cost = None if told is None or wasted is None else told + wasted
        completion = replace(
            completion,
            prompt_tokens=tokens.prompt,
            completion_tokens=tokens.completion,
            cached_prompt_tokens=tokens.cached,
            cost=cost,
            retries=tally.retries,
            seconds=perf_counter() - started,
        )
        ledger.add(purse, completion, lost=tally.lost)
        if self._cache:
            # It is paid for: keep it even if the job is being stopped.
            with anyio.CancelScope(shield=True):
                await self._cache.put(key, self.settings.model, completion)
        return completion

    def _wasted_cost(self, wasted: Tokens) -> float | None:
        """What attempts without a usable answer cost: nothing, as long as they used no tokens."""
        if wasted.total:
            return self._price.cost(wasted) if self._price else None
        return 0.0

    async def _attempt(self, request: ModelRequest, tally: RetryTally) -> Completion:
        if self._limit is None:
            return await self._send(request, tally)
        async with self._limit:
            slot = 0.0 if self._pace is None else await self._pace.wait()
            try:
                completion = await self._send(request, tally, slot)
            except Fault as fault:
                if fault.overloaded:
                    self._limit.overloaded()
                    if self._pace is not None:
                        await self._pace.overloaded(self._policy.asked(fault.retry_after))
                raise
            self._limit.succeeded()
            return completion

    async def _send(
        self, request: ModelRequest, tally: RetryTally, slot: float = 0.0
    ) -> Completion:
        asked = [request.messages, request.tools, request.response_format]
        size = len(encoded(asked)) if self._budget.limited else 0
        # Only now, with a place: while this call waited, others may have spent what was left.
        async with self._budget.reserve(*self._may_take(size, request)):
            if self._pace is not None and not self._pace.is_timely(slot):
                await self._pace.wait()  # its slot went by while it waited for money
            tally.attempts += 1
            self._in_flight += 1
            try:
                completion = await self._transport.send(request)
            except BaseException as error:
                failure = self._failure(error)
            else:
                tokens = _tokens(completion)
                cost = self._price.cost(tokens) if self._price else completion.cost
                self._budget.spend(cost, tokens.total)
                self._longest = max(self._longest, tokens.completion)
                if size:
                    self._tokens_per_byte = max(self._tokens_per_byte, tokens.prompt / size)
                return completion
            finally:
                self._in_flight -= 1
            self._count_failure(failure, tally)
            # Raised here, and not where it was caught, so that no secret can hide in a context.
            raise failure

    def _may_take(self, size: int, request: ModelRequest) -> tuple[float | None, int]:
        """What the answer to a question of this size may cost and take."""
        prompt = math.ceil(size * self._tokens_per_byte)
        tokens = Tokens(prompt, most_tokens(self.settings.max_tokens, request) or self._longest)
        return self._price.cost(tokens) if self._price else None, tokens.total

    def _failure(self, error: BaseException) -> BaseException:
        if isinstance(error, (Fault, GreenroomError)) or not isinstance(error, Exception):
            return error
        # A transport raises nothing else. One that does is broken, and not who asked it.
        said = excerpt(f"{type(error).__name__}: {error}", self._transport.endpoint.key())
        return Fault(f"its transport failed: {said}")

    def _count_failure(self, failure: BaseException, tally: RetryTally) -> None:
        wasted = failure.tokens if isinstance(failure, Fault) else NO_TOKENS
        tally.wasted += wasted
        if wasted.total:
            self._budget.spend(self._wasted_cost(wasted), wasted.total)
        elif self._transport.endpoint.free:
            return
        elif not isinstance(failure, Exception) or (isinstance(failure, Fault) and failure.lost):
            tally.lost += 1
            self._budget.spend(None, 0)

    def _count(self, tally: RetryTally) -> None:
        self._calls += 1
        self._retries += tally.retries


def _tokens(completion: Completion) -> Tokens:
    return Tokens(
        completion.prompt_tokens, completion.completion_tokens, completion.cached_prompt_tokens
    )


@dataclass(frozen=True)
class _EpisodeModel:
    client: ModelClient
    purse: Purse
    ledger: Ledger
    scope: str
    seed: int | None

    async def complete(self, request: ModelRequest) -> Completion:
        if request.seed is None and self.seed is not None:
            request = replace(request, seed=self.seed % _SEEDS)
        return await self.client.answer(request, self.purse, self.ledger, self.scope)
