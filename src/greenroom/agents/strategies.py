"""Agents: what they get, what they do, and how a strategy is found by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from greenroom.errors import UnknownName
from greenroom.registry import Registry

if TYPE_CHECKING:
    from greenroom.domains.actions import Action
    from greenroom.domains.domain import Domain
    from greenroom.domains.environment import Environment, SimulatedUser
    from greenroom.domains.tasks import Task
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import Model

ENTRY_POINTS = "greenroom.agents"


class Stage:
    """The agent's side of an environment: it can act and see what comes back, and nothing else.

    The task, its ground truth and the reward stay on the other side.
    """

    __slots__ = ("_environment", "opening", "policy", "tool_infos")

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.opening = environment.opening
        self.policy = environment.domain.policy
        self.tool_infos: list[ToolInfo] = environment.domain.tool_infos

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self._environment.over

    async def step(self, action: Action) -> str:
        """Do something: the observation."""
        return (await self._environment.step(action)).observation


class Agent(Protocol):
    """Plays one episode."""

    async def play(self, stage: Stage) -> None:
        """Step until the episode is over, or until the agent gives up."""
        ...


@dataclass(frozen=True)
class Script:
    """What is behind the stage: for agents that know the answer, such as the oracle."""

    domain: Domain
    split: str
    task_index: int

    @property
    def task(self) -> Task:
        """The task with its ground truth."""
        return self.domain.task(self.task_index, self.split)

    @property
    def decisive_actions(self) -> tuple[int, ...]:
        """Indices of the actions without which the database would end up different."""
        return self.domain.decisive_actions(self.task_index, self.split)


@dataclass(frozen=True)
class Setting:
    """What the agents of a run have in common: known before the first episode, nothing secret."""

    env: str
    policy: str
    tool_infos: list[ToolInfo]
    options: Mapping[str, str]
    max_steps: int


@dataclass(frozen=True)
class AgentContext:
    """What an agent is made from, for one episode."""

    task_index: int
    trial: int
    seed: int
    """The run's seed: what an agent draws is a function of this, the task and the trial."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    script: Script | None = None
    """Only for strategies that read the script."""
    model: Model | None = None
    """Only for strategies that need one."""
    episode_seed: int = 0
    """A seed for the model, different for every episode of the run."""
    role_models: Mapping[str, Model] = field(default_factory=dict[str, "Model"])
    """Models for some of the agent's roles, where options name them."""
    shared: Any = None
    """What the strategy's `prepare` made for the whole run."""


@dataclass(frozen=True)
class AgentStrategy:
    """How agents of a kind are made; registered by entry point under its name."""

    name: str
    create: Callable[[AgentContext], Agent]
    summary: str = ""
    """What it is, in a line."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """The options that it takes, each with a line about it."""
    check_options: Callable[[Mapping[str, str]], None] = lambda options: None
    """Raises InputError for values that will not do, before anything is run."""
    needs_model: bool = False
    """It asks a language model."""
    reads_script: bool = False
    """It knows the ground truth: a rehearsal aid, not a contestant."""
    create_user: Callable[[AgentContext], SimulatedUser] | None = None
    """Set where the agent only makes sense with a user of its own, as a recording does."""
    create_model: Callable[[AgentContext], Model] | None = None
    """Set where the agent brings the model of an episode itself; the agent's purse pays for it."""
    prepare: Callable[[Setting], AbstractAsyncContextManager[Any]] | None = None
    """Opened before a run's first episode and closed after its last: what the agents share, such
    as processes. It is the place to refuse a run before it costs anything."""
    model_options: Mapping[str, str] = field(default_factory=dict[str, str])
    """For roles that may have a model of their own: the option that names it."""


_REGISTRY = Registry(ENTRY_POINTS, AgentStrategy, "agent strategy")


def strategy_names() -> list[str]:
    """The names of all installed strategies."""
    return _REGISTRY.names()


def load_strategy(name: str) -> AgentStrategy:
    """The strategy of that name."""
    return _REGISTRY.load(name)


def find_strategy(name: str, options: Mapping[str, str] | None = None) -> AgentStrategy:
    """The strategy of that name, with its options checked."""
    strategy = load_strategy(name)
    for option in options or {}:
        if option not in strategy.options:
            raise UnknownName(f"option of the {name} agent", option, strategy.options)
    strategy.check_options(options or {})
    return strategy
