"""The language models of an evaluation: those that judge, and those that play users."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from greenroom.domains.environment import SimulatedUser
from greenroom.errors import InputError
from greenroom.evaluation.config import EvaluationConfig
from greenroom.evaluation.simulated import Brief
from greenroom.models import (
    AnswerCache,
    Budget,
    EndpointLimits,
    Ledger,
    Model,
    ModelClient,
    ModelSettings,
    Prices,
    endpoint_of,
)
from greenroom.models.local import PROVIDER as LOCAL
from greenroom.models.local import LocalModel
from greenroom.users import UserContext, UserStrategy, find_user_strategy
from greenroom.util.caches import cache_root


@dataclass
class Parties:
    """Everybody who takes part besides the workflow; all pay from one budget."""

    config: EvaluationConfig
    budget: Budget
    prices: Prices
    limits: EndpointLimits
    cache: AnswerCache | None
    user_strategy: UserStrategy | None
    """None where all rows bring what the user says."""
    clients: list[ModelClient] = field(default_factory=list[ModelClient])
    _user_model: ModelClient | Model | None = None

    def model(self, settings: ModelSettings) -> ModelClient | Model:
        """A model that is ready to be asked; evaluators get theirs here."""
        if settings.provider == LOCAL or settings.model.startswith(f"{LOCAL}/"):
            name = settings.model.removeprefix(f"{LOCAL}/")
            return LocalModel.from_settings(replace(settings, model=name, provider=LOCAL))
        client = ModelClient(
            replace(settings, max_retries=self.config.model_retries),
            transport=self.config.transport,
            # Judge and user share a limit where they share an endpoint.
            limit=self.limits.of(endpoint_of(settings).name),
            cache=self.cache,
            prices=self.prices,
            budget=self.budget,
        )
        self.clients.append(client)
        return client

    def user(self, ledger: Ledger, scope: str, seed: int) -> SimulatedUser:
        """The simulated user of one conversation, paid from the user's purse."""
        assert self.user_strategy is not None  # it was found when the first goal was seen
        model = self._users_model(ledger, scope, seed) if self.user_strategy.needs_model else None
        settings = self.user_strategy.check(self.config.user_options)
        return self.user_strategy.create(UserContext(model, seed, settings))

    def told(self, brief: Brief) -> str:
        """A brief as the user is told it: who only recites must not recite who they are."""
        strategy = self.user_strategy
        plays = strategy is not None and (strategy.needs_model or strategy.interactive)
        return brief.instruction if plays else brief.goal

    async def close(self) -> None:
        """Give back what is open."""
        for client in self.clients:
            await client.close()
        if self.cache is not None:
            self.cache.close()

    def _users_model(self, ledger: Ledger, scope: str, seed: int) -> Model | None:
        config = self.config
        if not config.user_model:
            return None
        if self._user_model is None:
            self._user_model = self.model(
                ModelSettings(
                    model=config.user_model,
                    provider=config.user_model_provider,
                    api_base=config.user_api_base,
                    temperature=None,
                    timeout=config.model_timeout,
                )
            )
        if isinstance(self._user_model, ModelClient):
            return self._user_model.for_episode("user", ledger, scope, seed)
        return ledger.model("user", self._user_model)


def find_user(config: EvaluationConfig) -> UserStrategy:
    """The strategy of simulated users; raises where a model is needed and none is named."""
    strategy = find_user_strategy(config.user_strategy)
    if strategy.needs_model and not config.user_model:
        raise InputError(
            f"The {strategy.name} user asks a language model: name it by --user-model."
        )
    return strategy


def load_prices(config: EvaluationConfig) -> Prices:
    """What models cost."""
    return Prices.load(Path(config.prices) if config.prices else None)


def make_parties(
    config: EvaluationConfig,
    user: UserStrategy | None,
    *,
    spent_cost: float = 0.0,
    spent_tokens: int = 0,
) -> Parties:
    """Everything ready to be asked; what an earlier part of the evaluation spent counts."""
    return Parties(
        config=config,
        budget=Budget(
            max_cost=config.max_cost,
            max_tokens=config.max_tokens_total,
            cost=spent_cost,
            tokens=spent_tokens,
        ),
        prices=load_prices(config),
        limits=EndpointLimits(config.max_concurrency),
        cache=AnswerCache(cache_root() / "answers.db") if config.cache else None,
        user_strategy=user,
    )


def cell_seed(seed: int, row: int, repeat: int) -> int:
    """The seed of a conversation: a pure function of the evaluation's seed, row and repeat."""
    digest = sha256(f"{seed}/{row}/{repeat}".encode()).digest()
    return int.from_bytes(digest[:4]) & 0x7FFFFFFF
