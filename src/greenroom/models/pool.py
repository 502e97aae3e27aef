"""One way to every model: runs, evaluations and judgings get all their models here."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from greenroom.models.budgets import Budget
from greenroom.models.cache import AnswerCache
from greenroom.models.client import ModelClient
from greenroom.models.limits import AdaptiveLimit
from greenroom.models.pace import OwnSlots, Pace, Slots
from greenroom.models.prices import Prices
from greenroom.models.purses import Ledger
from greenroom.models.retries import RetryPolicy
from greenroom.models.transports import TransportName, open_transport
from greenroom.models.types import DEFAULT_RETRIES, DEFAULT_TIMEOUT, Model, ModelSettings, Purse


class ModelPool:
    """All models of a job: one budget, one cache, one price table, one limit per endpoint.

    `async with` closes it. `timeout` is for settings that name none.
    """

    def __init__(
        self,
        *,
        max_concurrency: int = 10,
        transport: TransportName = "auto",
        cache: AnswerCache | None = None,
        prices: Prices | None = None,
        budget: Budget | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_RETRIES,
        max_calls_per_second: float | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._max_concurrency = max_concurrency
        self._limits: dict[str, AdaptiveLimit] = {}
        self._paces: dict[str, Pace] = {}
        self._max_calls_per_second = max_calls_per_second
        self._slots = slots or OwnSlots()
        self._transport: TransportName = transport
        self._cache = cache
        self._prices = prices or Prices()
        self._timeout = timeout
        self._retries = RetryPolicy(max_retries=max_retries)
        self._clients: dict[ModelSettings, ModelClient] = {}

    @property
    def clients(self) -> list[ModelClient]:
        """All clients so far; their counters show progress."""
        return list(self._clients.values())

    def resize(self, max_concurrency: int) -> None:
        """Give every endpoint so many calls at once from now on."""
        self._max_concurrency = max_concurrency
        for limit in self._limits.values():
            limit.resize(max_concurrency)

    def share_slots(self, slots: Slots) -> None:
        """Have others hand out the moments when calls leave."""
        self._slots = slots
        for pace in self._paces.values():
            pace.share(slots)

    def set_rate(self, max_calls_per_second: float | None) -> None:
        """Let so many calls a second leave for every endpoint; None leaves it as it is."""
        if max_calls_per_second is not None:
            self._max_calls_per_second = max_calls_per_second
            for pace in self._paces.values():
                pace.set(max_calls_per_second)

    def slow_down(self, endpoint: str, at: float, held: float) -> None:
        """An endpoint asked another process for less at some time: ask it less, too, once."""
        if endpoint in self._limits:
            self._paces[endpoint].hold(held)
            if self._paces[endpoint].is_news(at):
                self._limits[endpoint].overloaded()

    def client(self, settings: ModelSettings) -> ModelClient:
        """The client of a model; the same settings give the same client."""
        if settings.timeout is None:
            settings = replace(settings, timeout=self._timeout)
        client = self._clients.get(settings)
        if client is None:
            transport = open_transport(settings, self._transport)
            if self._max_calls_per_second is not None and transport.endpoint.url:
                import_module("aiohttp")  # it takes a while: not once a call has its slot
            limit = self._limits.get(transport.endpoint.name)
            if limit is None:
                limit = AdaptiveLimit(self._max_concurrency)
                self._limits[transport.endpoint.name] = limit
                self._paces[transport.endpoint.name] = Pace(
                    transport.endpoint.name, self._max_calls_per_second, self._slots
                )
            client = self._clients[settings] = ModelClient(
                settings,
                transport=transport,
                limit=limit,
                pace=self._paces[transport.endpoint.name],
                cache=self._cache,
                prices=self._prices,
                budget=self.budget,
                retries=self._retries,
            )
        return client

    def model(
        self,
        settings: ModelSettings,
        purse: Purse,
        ledger: Ledger,
        *,
        scope: str = "",
        seed: int | None = None,
    ) -> Model:
        """The model as one cell asks it: see ModelClient.for_episode."""
        return self.client(settings).for_episode(purse, ledger, scope, seed)

    async def close(self) -> None:
        """Close all connections and the cache; can be called again."""
        for client in self.clients:
            await client.close()
        if self._cache is not None:
            self._cache.close()

    async def __aenter__(self) -> ModelPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
