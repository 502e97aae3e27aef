"""What the episodes of a run share, and what each of them is made from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from greenroom.agents import AgentContext, AgentStrategy, Script, Setting, find_strategy
from greenroom.benchmark.config import RunConfig
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import SimulatedUser
from greenroom.domains.tasks import select_tasks
from greenroom.errors import InputError
from greenroom.models import Ledger, ModelSettings
from greenroom.models.pool import ModelPool, open_pool
from greenroom.store import Usage
from greenroom.trials import cell_seed
from greenroom.users import UserContext, UserStrategy, find_user_strategy

_PATH_OPTIONS = ("file", "few_shot_displays_path", "tool_map", "workflow_path")


def _scripted() -> UserStrategy:
    return find_user_strategy("scripted")


@dataclass(frozen=True)
class RunContext:
    """Everything that the episodes of a run share.

    `prepare_run` makes one from a configuration. `opened` adds what has to be closed again: the
    models, and what the agents prepare.
    """

    domain: Domain
    strategy: AgentStrategy
    config: RunConfig = field(default_factory=RunConfig)
    user_strategy: UserStrategy = field(default_factory=_scripted)
    task_indices: Sequence[int] = ()
    pool: ModelPool | None = None
    shared: Any = None
    """What the strategy's `prepare` made."""

    @property
    def interactive(self) -> bool:
        """Whether a person takes part: one episode at a time."""
        return self.user_strategy.interactive

    @asynccontextmanager
    async def opened(self, used: Sequence[Usage] = ()) -> AsyncGenerator[RunContext]:
        """The context with its models and its agents' shared parts open.

        `used` is what the run has used before; it counts towards the budget.
        """
        config = self.config
        async with open_run_pool(config, used) as pool:
            context = replace(self, pool=pool)
            if self.strategy.prepare is None:
                yield context
                return
            setting = Setting(
                env=config.env,
                policy=self.domain.policy,
                tool_infos=self.domain.tool_infos,
                options=config.agent_options,
                max_steps=config.max_num_steps,
            )
            async with self.strategy.prepare(setting) as shared:
                yield replace(context, shared=shared)

    def agent_context(
        self, task_index: int, trial: int, ledger: Ledger, *, scope: str | None = None
    ) -> AgentContext:
        """What the agent of one episode is made from; see `make_agent_context`."""
        script = Script(self.domain, self.config.task_split, task_index)
        return make_agent_context(
            self.strategy,
            self.config,
            self.pool,
            AgentContext(
                task_index,
                trial,
                self.config.seed,
                script=script if self.strategy.reads_script else None,
                shared=self.shared,
            ),
            ledger,
            scope=scope,
        )

    def create_user(self, agent: AgentContext, ledger: Ledger) -> SimulatedUser:
        """The user of one episode: the agent's own if it brings one, else the run's."""
        if self.strategy.create_user is not None:
            return self.strategy.create_user(agent)
        config, seed = self.config, agent.episode_seed
        settings = _user_settings(config) if self.user_strategy.needs_model else None
        model = None
        if settings is not None and self.pool is not None:
            scope = f"{config.seed}/{agent.task_index}/{agent.trial}"
            model = self.pool.model(settings, "user", ledger, scope=scope, seed=seed)
        return self.user_strategy.create(UserContext(model=model, seed=seed))


def prepare_run(config: RunConfig) -> RunContext:
    """Find the domain, its data, the strategies and the tasks; raises for what is missing."""
    strategy = find_strategy(config.agent_strategy, config.agent_options)
    domain = load_domain(config.env, config.data)
    indices = select_tasks(
        len(domain.tasks(config.task_split)),
        task_ids=config.task_ids,
        start_index=config.start_index,
        end_index=config.end_index,
        shuffle_seed=config.seed if config.shuffle else None,
    )
    if config.data is not None and Path(config.data).exists():
        # A run can be resumed from another folder.
        config = config.model_copy(update={"data": str(Path(config.data).resolve())})
    options = {
        name: str(Path(value).resolve()) if name in _PATH_OPTIONS else value
        for name, value in config.agent_options.items()
    }
    config = config.model_copy(update={"agent_options": options})
    user_strategy = check_models(config, strategy)
    if user_strategy.interactive:
        config = config.model_copy(update={"max_concurrency": 1})
    return RunContext(domain, strategy, config, user_strategy, indices)


def open_run_pool(config: RunConfig, used: Sequence[Usage] = ()) -> ModelPool:
    """The models of a run; what it has used before counts towards its budget."""
    return open_pool(
        max_cost=config.max_cost,
        max_tokens_total=config.max_tokens_total,
        prices=config.prices,
        cache=config.cache,
        transport=config.transport,
        model_timeout=config.model_timeout,
        model_retries=config.model_retries,
        max_concurrency=config.max_concurrency,
        spent_cost=sum(usage.cost or 0.0 for usage in used),
        spent_tokens=sum(usage.tokens for usage in used),
    )


def make_agent_context(
    strategy: AgentStrategy,
    config: RunConfig,
    pool: ModelPool | None,
    context: AgentContext,
    ledger: Ledger,
    *,
    scope: str | None = None,
) -> AgentContext:
    """The context with the agent's options, seed and models; the agent's purse pays for them.

    `scope` sets cached answers apart; by default it is the run's seed, the task and the trial.
    """
    place = (config.seed, context.task_index, context.trial)
    seed, scope = cell_seed(*place), scope or "/".join(map(str, place))
    context = replace(context, options=config.agent_options, episode_seed=seed)
    settings = _agent_settings(config) if strategy.needs_model else None
    if settings is not None and pool is not None:
        roles = {
            role: replace(settings, model=config.agent_options[option])
            for role, option in strategy.model_options.items()
            if option in config.agent_options
        }
        context = replace(
            context,
            model=pool.model(settings, "agent", ledger, scope=scope, seed=seed),
            role_models={
                role: pool.model(own, "agent", ledger, scope=f"{scope}/{role}", seed=seed)
                for role, own in roles.items()
            },
        )
    if strategy.create_model is not None:
        own_model = ledger.model("agent", strategy.create_model(context))
        context = replace(context, model=own_model)
    return context


def check_models(config: RunConfig, strategy: AgentStrategy) -> UserStrategy:
    """The user's strategy; raises where a model is needed and none is named."""
    if strategy.needs_model and not config.model:
        raise InputError(f"The {strategy.name} agent asks a language model: name it by --model.")
    user_strategy = find_user_strategy(config.user_strategy)
    if user_strategy.needs_model and not config.user_model and strategy.create_user is None:
        raise InputError(
            f"The {user_strategy.name} user asks a language model: name it by --user-model."
        )
    return user_strategy


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
    )


def _user_settings(config: RunConfig) -> ModelSettings | None:
    if not config.user_model:
        return None
    return ModelSettings(
        model=config.user_model,
        provider=config.user_model_provider,
        api_base=config.user_api_base,
        temperature=None,
    )
