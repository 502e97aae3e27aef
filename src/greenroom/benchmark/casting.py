"""Casting: the models and users that a run's configuration names, made ready to be asked."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from pydantic import BaseModel

from greenroom.agents import AgentContext, AgentStrategy
from greenroom.benchmark.config import RunConfig
from greenroom.domains.environment import SimulatedUser
from greenroom.errors import InputError
from greenroom.models import (
    ContentFiltered,
    ContextWindowExceeded,
    Model,
    ModelSettings,
    ModelUnavailable,
    Purse,
)
from greenroom.models.budgets import Budget
from greenroom.models.cache import AnswerCache
from greenroom.models.client import ModelClient
from greenroom.models.endpoints import endpoint_of
from greenroom.models.limits import EndpointLimits
from greenroom.models.local import PROVIDER as LOCAL
from greenroom.models.local import LocalModel
from greenroom.models.prices import Prices
from greenroom.models.purses import Ledger
from greenroom.options import role_models
from greenroom.users import UserContext, UserStrategy, find_user_strategy
from greenroom.util.caches import cache_root


@dataclass(frozen=True)
class Cast:
    """Who takes part in a run besides the agent's own code."""

    agent: ModelClient | LocalModel | None
    user: ModelClient | LocalModel | None
    user_strategy: UserStrategy
    user_settings: BaseModel
    budget: Budget
    cache: AnswerCache | None
    roles: Mapping[str, ModelClient | LocalModel] = field(
        default_factory=dict[str, ModelClient | LocalModel]
    )
    """Models for some of the agent's roles; its own plays the others."""

    def role_models(self, ledger: Ledger, scope: str, seed: int) -> dict[str, Model]:
        """The models of the agent's roles for one episode, paid from the agent's purse."""
        found = {
            role: _for_episode(source, "agent", ledger, f"{scope}/{role}", seed)
            for role, source in self.roles.items()
        }
        return {role: model for role, model in found.items() if model is not None}

    def agent_model(self, ledger: Ledger, scope: str, seed: int) -> Model | None:
        """The agent's model for one episode, paid from the agent's purse."""
        return _for_episode(self.agent, "agent", ledger, scope, seed)

    def create_user(
        self, strategy: AgentStrategy, context: AgentContext, ledger: Ledger, scope: str
    ) -> SimulatedUser:
        """The user of one episode: the agent's own where it brings one, else the run's."""
        if strategy.create_user is not None:
            return strategy.create_user(context)
        seed = context.episode_seed
        model = _for_episode(self.user, "user", ledger, scope, seed)
        return _GuardedUser(self.user_strategy.create(UserContext(model, seed, self.user_settings)))

    @property
    def clients(self) -> list[ModelClient]:
        """The clients whose counters tell how the run goes."""
        everybody = (self.agent, self.user, *self.roles.values())
        return [client for client in everybody if isinstance(client, ModelClient)]

    async def close(self) -> None:
        """Give back what is open."""
        for client in self.clients:
            await client.close()
        if self.cache is not None:
            self.cache.close()


class _GuardedUser:
    """A user whose model's limits are not held against the agent."""

    def __init__(self, user: SimulatedUser) -> None:
        self._user = user

    async def open(self, instruction: str) -> str:
        with _not_the_agents_fault():
            return await self._user.open(instruction)

    async def reply(self, content: str) -> str:
        with _not_the_agents_fault():
            return await self._user.reply(content)


@contextmanager
def _not_the_agents_fault() -> Generator[None]:
    try:
        yield
    except (ContextWindowExceeded, ContentFiltered) as error:
        raise ModelUnavailable(f"The simulated user's model: {error}") from error


def _for_episode(
    source: ModelClient | LocalModel | None, purse: Purse, ledger: Ledger, scope: str, seed: int
) -> Model | None:
    if isinstance(source, ModelClient):
        return source.for_episode(purse, ledger, scope, seed)
    return ledger.model(purse, source) if source is not None else None


def answer_cache() -> AnswerCache:
    """The answers that models gave before, in the user's cache."""
    return AnswerCache(cache_root() / "answers.db")


def clear_answers() -> None:
    """Forget all answers that were kept."""
    cache = answer_cache()
    anyio.run(cache.clear)
    cache.close()


def check_cast(config: RunConfig, strategy: AgentStrategy) -> UserStrategy:
    """The user's strategy; raises where a model is needed and none is named."""
    if strategy.needs_model and not config.model:
        raise InputError(f"The {strategy.name} agent asks a language model: name it by --model.")
    user_strategy = find_user_strategy(config.user_strategy)
    if user_strategy.needs_model and not config.user_model and strategy.create_user is None:
        raise InputError(
            f"The {user_strategy.name} user asks a language model: name it by --user-model."
        )
    return user_strategy


def make_cast(
    config: RunConfig, strategy: AgentStrategy, *, spent_cost: float = 0.0, spent_tokens: int = 0
) -> Cast:
    """Everything ready to be asked; what an earlier part of the run spent counts."""
    user_strategy = check_cast(config, strategy)
    budget = Budget(
        max_cost=config.max_cost,
        max_tokens=config.max_tokens_total,
        cost=spent_cost,
        tokens=spent_tokens,
    )
    prices = Prices.load(Path(config.prices) if config.prices else None)
    cache = answer_cache() if config.cache else None
    limits = EndpointLimits(config.max_concurrency)

    def client(settings: ModelSettings) -> ModelClient | LocalModel:
        if settings.provider == LOCAL or settings.model.startswith(f"{LOCAL}/"):
            name = settings.model.removeprefix(f"{LOCAL}/")
            return LocalModel.from_settings(replace(settings, model=name, provider=LOCAL))
        # Agent and user share a limit where they share an endpoint.
        return ModelClient(
            settings,
            transport=config.transport,
            limit=limits.of(endpoint_of(settings).name),
            cache=cache,
            prices=prices,
            budget=budget,
        )

    agent_settings, user_settings = _agent_settings(config), _user_settings(config)
    roles = {
        role: client(replace(agent_settings, model=model))
        for role, model in role_models(strategy.check(config.agent_options)).items()
        if agent_settings is not None
    }
    return Cast(
        agent=client(agent_settings) if agent_settings and strategy.needs_model else None,
        user=client(user_settings) if user_settings and user_strategy.needs_model else None,
        user_strategy=user_strategy,
        user_settings=user_strategy.check(config.user_options),
        budget=budget,
        cache=cache,
        roles=roles,
    )


def _agent_settings(config: RunConfig) -> ModelSettings | None:
    if not config.model:
        return None
    return ModelSettings(
        model=config.model,
        provider=config.model_provider,
        api_base=config.api_base,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        reasoning_effort=config.reasoning_effort,
        timeout=config.model_timeout,
        max_retries=config.model_retries,
    )


def _user_settings(config: RunConfig) -> ModelSettings | None:
    if not config.user_model:
        return None
    return ModelSettings(
        model=config.user_model,
        provider=config.user_model_provider,
        api_base=config.user_api_base,
        temperature=None,
        timeout=config.model_timeout,
        max_retries=config.model_retries,
    )
