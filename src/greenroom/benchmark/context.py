"""What the episodes of a run share, and what each of them is made from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from greenroom.agents import AgentContext, AgentStrategy, Script, find_strategy
from greenroom.agents.history import History, with_history
from greenroom.benchmark.config import RunConfig
from greenroom.config import JudgeConfig, UserConfig
from greenroom.domains.content import SHOWN, task_hash
from greenroom.domains.domain import Domain, open_domain
from greenroom.domains.environment import SimulatedUser
from greenroom.domains.past import past_messages
from greenroom.domains.plugins import find_plugin
from greenroom.domains.tasks import Task, select_tasks, task_known, task_places
from greenroom.errors import InputError
from greenroom.models import Ledger, Model, ModelSettings
from greenroom.models.pool import ModelPool
from greenroom.options import role_models, stored_settings
from greenroom.reports.exclusions import check_hash, excluded_task, read_exclusions
from greenroom.store import ExcludedTask, Usage
from greenroom.trials import cell_seed, open_models
from greenroom.users import UserContext, UserStrategy, find_user_strategy, scripted
from greenroom.users.strategies import Exchanges
from greenroom.users.taking_over import take_over

MOST_EPISODES = 1_000_000
"""A run's cells are planned in memory."""


@dataclass(frozen=True)
class RunContext:
    """Everything that the episodes of a run share.

    `prepare_run` makes one from a configuration. `opened` adds what has to be closed again: the
    models, and what the agents prepare.
    """

    domain: Domain
    strategy: AgentStrategy
    config: RunConfig = field(default_factory=RunConfig)
    user_strategy: UserStrategy = scripted.strategy
    task_indices: Sequence[int] = ()
    excluded: Sequence[ExcludedTask] = ()
    """Tasks that would be played, and are left out by name."""
    pool: ModelPool | None = None
    shared: Any = None
    """What the strategy's `prepare` made."""
    history: History | None = None
    """What was played before, for episodes that go on in the middle of another one."""

    @cached_property
    def settings(self) -> BaseModel:
        """The agent's settings."""
        return self.strategy.check(self.config.agent_options)

    @cached_property
    def split(self) -> str:
        """The name of the split that is played."""
        return self.domain.pack.split_named(self.config.task_split)

    @cached_property
    def user_settings(self) -> BaseModel:
        """The simulated user's settings."""
        return self.user_strategy.check(self.config.user_options)

    @property
    def max_steps(self) -> int:
        """How many steps an episode may take."""
        return self.config.max_num_steps or self.domain.edition.max_steps

    @property
    def interactive(self) -> bool:
        """Whether a person takes part: one episode at a time."""
        return self.user_strategy.interactive

    @asynccontextmanager
    async def opened(self, used: Sequence[Usage] = ()) -> AsyncGenerator[RunContext]:
        """The context with its models and its agents' shared parts open.

        `used` is what the run has used before; it counts towards the budget.
        """
        async with open_models(self.config, used) as pool:
            context = replace(self, pool=pool)
            self._check_keys(pool)
            if self.strategy.prepare is None:
                yield context
                return
            async with self.strategy.prepare(self.domain, self.settings, self.max_steps) as shared:
                yield replace(context, shared=shared)

    def _check_keys(self, pool: ModelPool) -> None:
        """Raise where a key is missing, before anything heavy is loaded."""
        config, models = self.config, list[ModelSettings]()
        if config.cache:
            return  # kept answers need no key
        if config.model and (self.strategy.needs_model or self.strategy.offers_model):
            agent = _agent_model(config)
            own = role_models(self.settings).values()
            models += [agent, *(replace(agent, model=name) for name in own)]
        if self.user_strategy.needs_model and self.strategy.create_user is None:
            models.append(user_model(config))
        if config.judge_model:
            models.append(judge_model(config))
        for settings in models:
            pool.client(settings).endpoint.usable_key()

    def agent_context(
        self, task_index: int, trial: int, ledger: Ledger, *, scope: str | None = None
    ) -> AgentContext:
        """What the agent of one episode is made from; the agent's purse pays for its models.

        `scope` sets cached answers apart; by default it is the run's seed, the task and the trial.
        """
        config, strategy, pool = self.config, self.strategy, self.pool
        place = (config.seed, task_index, trial)
        seed, scope = cell_seed(*place), scope or "/".join(map(str, place))
        script = Script(self.domain, config.task_split, task_index)
        context = AgentContext(
            task_index,
            trial,
            config.seed,
            self.settings,
            script=script if strategy.reads_script else None,
            seed=seed,
            shared=self.shared,
        )
        model = _agent_model(config) if config.model else None
        if model is not None and pool is not None:
            context = replace(
                context,
                model=pool.model(model, "agent", ledger, scope=scope, seed=seed),
                model_name=model.model,
                role_models={
                    role: pool.model(
                        replace(model, model=own),
                        "agent",
                        ledger,
                        scope=f"{scope}/{role}",
                        seed=seed,
                    )
                    for role, own in role_models(self.settings).items()
                },
            )
        if strategy.create_model is not None:
            own_model = ledger.model("agent", strategy.create_model(context))
            context = replace(context, model=own_model)
        return context if self.history is None else with_history(strategy, context, self.history)

    def create_user(self, agent: AgentContext, ledger: Ledger) -> SimulatedUser:
        """The user of one episode: the agent's own if it brings one, else the run's."""
        if self.strategy.create_user is not None:
            return self.strategy.create_user(agent)
        config, seed = self.config, agent.seed
        model = None
        if config.user_model and self.user_strategy.needs_model and self.pool is not None:
            scope = f"{config.seed}/{agent.task_index}/{agent.trial}"
            model = self.pool.model(user_model(config), "user", ledger, scope=scope, seed=seed)
        return self.user_strategy.create(self.user_context(agent.task_index, model, seed))

    def user_context(
        self, task_index: int, model: Model | None = None, seed: int = 0
    ) -> UserContext:
        """What the user of a task is made from."""
        domain, task = self.domain, self.domain.task(task_index, self.split)
        return UserContext(
            model,
            seed,
            self.user_settings,
            stop_words=domain.edition.stop_words,
            greeting=domain.edition.greeting,
            persona=self.config.user_persona,
            past=past_messages(task, "user"),
            task_index=task_index,
            task_id=task.id,
            user_tools=[info["function"]["name"] for info in domain.user_tool_infos(task)],
        )

    def create_judge(self, task_index: int, trial: int, ledger: Ledger) -> Model | None:
        """The model that judges sentences of a task, if the run names one."""
        config = self.config
        if config.judge_model is None or self.pool is None:
            return None
        place = (config.seed, task_index, trial)
        scope = f"judge {'/'.join(map(str, place))}"
        settings = judge_model(config)
        return self.pool.model(settings, "judge", ledger, scope=scope, seed=cell_seed(*place))

    async def bring_user(
        self, user: SimulatedUser, instruction: str, opening: str, exchanges: Exchanges
    ) -> None:
        """Bring the user of an episode to where all of this has been said."""
        own = self.strategy.create_user is not None
        await take_over(
            user,
            instruction,
            opening,
            exchanges,
            name=self.strategy.name if own else self.user_strategy.name,
            asks_model=not own and self.user_strategy.needs_model,
        )


def prepare_run(config: RunConfig) -> RunContext:
    """Find the domain, its data, the strategies and the tasks; raises for what is missing."""
    strategy = find_strategy(config.agent_strategy)
    plugin = find_plugin(config.env)
    env_settings = plugin.check(config.env_options)
    domain = open_domain(plugin, config.data, env_settings)
    user_strategy = check_models(config, strategy)
    tasks = domain.tasks(config.task_split)
    indices = select_tasks(
        len(tasks),
        task_ids=task_places(tasks, config.task_ids or ()),
        start_index=config.start_index,
        end_index=config.end_index,
        shuffle_seed=config.seed if config.shuffle else None,
    )
    excluded = excluded_tasks(config, tasks, indices)
    left_out = {one.task_index for one in excluded}
    indices = [index for index in indices if index not in left_out]
    if not indices:
        raise InputError("--exclude-tasks leaves nothing to play: it names every chosen task.")
    if len(indices) * config.num_trials > MOST_EPISODES:
        raise InputError(
            f"{len(indices)} tasks times {config.num_trials} trials are too many: a run has at "
            f"most {MOST_EPISODES:,} episodes."
        )
    changes: dict[str, Any] = {
        "agent_options": stored_settings(strategy.check(config.agent_options)),
        "env_options": stored_settings(env_settings),
        "user_options": stored_settings(user_strategy.check(config.user_options)),
        "task_split": domain.pack.split_named(config.task_split),
        "max_num_steps": config.max_num_steps or domain.edition.max_steps,
    }
    if config.task_ids:
        # Ids are of this data; the places are what is played.
        changes["task_ids"] = task_places(tasks, config.task_ids)
    if config.exclude_tasks:
        # So is a file that may be gone tomorrow.
        changes["exclude_tasks"] = sorted(left_out) or None
    if user_strategy.interactive:
        changes["max_concurrency"] = 1
    config = config.model_copy(update=changes)
    context = RunContext(domain, strategy, config, user_strategy, indices, excluded)
    if strategy.create_user is None:
        _check_user(context)
    return context


def _check_user(context: RunContext) -> None:
    """Raise InputError where the user's settings do not fit the tasks."""
    strategy, pack = context.user_strategy, context.domain.pack
    if strategy.named_tasks is not None:
        for name in strategy.named_tasks(context.user_settings):
            # The splits of a pack share tasks, and a file may be for several of them.
            splits = (context.split, *pack.splits)
            if not any(task_known(pack.tasks(split), name) for split in splits):
                place = isinstance(name, str) and name.isdecimal()
                raise InputError(
                    f"The settings of the {strategy.name} user name the task {name!r}, which no "
                    "split has: 'greenroom tasks list' shows places and ids."
                    + (f" A place is written without quotes: {name}." if place else "")
                )
    if strategy.check_case is not None:
        for index in context.task_indices:
            strategy.check_case(context.user_context(index))


def excluded_tasks(
    config: RunConfig, tasks: Sequence[Task], indices: Sequence[int]
) -> list[ExcludedTask]:
    """The chosen tasks that the configuration leaves out."""
    found: dict[int, ExcludedTask] = {}
    for one in read_exclusions(config.exclude_tasks or ()):
        (index,) = task_places(tasks, [one.name])
        if not 0 <= index < len(tasks):
            raise InputError(
                f"--exclude-tasks names task {index}, and this split has the tasks 0 to "
                f"{len(tasks) - 1}."
            )
        mark = task_hash(tasks[index])[:SHOWN]
        check_hash(one, index, mark)
        if index in indices:
            found.setdefault(index, excluded_task(one, index, tasks[index].id, mark))
    return list(found.values())


def check_models(config: RunConfig, strategy: AgentStrategy) -> UserStrategy:
    """The user's strategy; raises where a model is needed and none is named."""
    if strategy.needs_model and not config.model:
        raise InputError(f"The {strategy.name} agent asks a language model: name it by --model.")
    user_strategy = find_user_strategy(config.user_strategy)
    if user_strategy.needs_model and not config.user_model and strategy.create_user is None:
        raise InputError(
            f"The {user_strategy.name} user asks a language model: name it by --user-model."
        )
    if strategy.create_user is None:
        user_strategy.check_persona(config.user_persona)
    return user_strategy


def _agent_model(config: RunConfig) -> ModelSettings:
    return ModelSettings(
        model=config.model or "",
        provider=config.model_provider,
        api_base=config.api_base,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        reasoning_effort=config.reasoning_effort,
    )


def judge_model(config: JudgeConfig) -> ModelSettings:
    """The model that judges sentences of tasks."""
    return ModelSettings(
        model=config.judge_model or "",
        provider=config.judge_model_provider,
        api_base=config.judge_api_base,
    )


def user_model(config: UserConfig) -> ModelSettings:
    """The model of simulated users."""
    return ModelSettings(
        model=config.user_model or "",
        provider=config.user_model_provider,
        api_base=config.user_api_base,
        temperature=None,
    )
