"""Agents, their contexts and strategies, and finding a strategy by name."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel

from greenroom.domains.past import past_messages
from greenroom.options import Settings, check_settings
from greenroom.registry import Registry, maker
from greenroom.util.framework_hints import advice

if TYPE_CHECKING:
    from greenroom.agents.history import History, Playback
    from greenroom.domains.domain import Domain
    from greenroom.domains.environment import Environment, SimulatedUser
    from greenroom.domains.tasks import Action, Task
    from greenroom.domains.tools import ToolInfo
    from greenroom.models import ChatMessage, Model

ENTRY_POINTS = "greenroom.agents"

TakesOver = Literal["replay", "history", "never"]
"""How agents go on in the middle of an episode that was played before.

replay    the agent plays from the beginning; its stage and its model answer from the record until
          it takes over. For agents that depend on nothing but what these two answer.
history   the agent reads `context.history`, and its stage stands at the place.
never     the agent cannot: what it knows is elsewhere.
"""


class Stage:
    """The agent's side of an environment: it can act and read observations.

    The task and its ground truth stay hidden, and the reward until the episode is over.
    """

    __slots__ = ("_environment", "greeting", "opening", "past", "policy", "tool_infos")

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        task = environment.task
        self.past: list[ChatMessage] = [] if task is None else past_messages(task, "agent")
        """What was said and done before the episode begins, in tasks that have such a history."""
        # A conversation that is under way does not begin again.
        self.greeting = None if self.past else environment.domain.edition.greeting
        """What the agent has said before the user's first message; None in most domains."""
        self.opening = environment.opening
        if not self.opening and self.past and self.past[-1]["role"] == "user":
            # The history ends with the user's message: it is the one to answer.
            self.opening = str(self.past.pop()["content"])
        self.policy = environment.policy
        self.tool_infos: list[ToolInfo] = environment.domain.tool_infos

    @property
    def opening_messages(self) -> list[ChatMessage]:
        """How the conversation begins, as chat messages.

        First comes the greeting, or what a task says was said and done before, then the user.
        """
        before = list(self.past)
        if self.greeting is not None:
            before = [{"role": "assistant", "content": self.greeting}]
        if before and not self.opening:  # the agent goes on after the result of a call
            return before
        return [*before, {"role": "user", "content": self.opening}]

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self._environment.over

    @property
    def last_failed(self) -> bool:
        """Whether the last step was a call that failed: the tool refused it, or it was invalid."""
        steps = self._environment.steps
        return bool(steps) and steps[-1].failed

    @property
    def final_reward(self) -> float | None:
        """The reward, once no further step is possible; None before."""
        reward = self._environment.reward
        if not self.over:
            return None
        return 0.0 if reward is None else reward.value

    async def step(self, action: Action) -> str:
        """Take a step; return the observation."""
        return (await self._environment.step(action)).observation


class Agent(Protocol):
    """Plays one episode."""

    async def play(self, stage: Stage) -> None:
        """Step until the episode is over, or until the agent gives up."""
        ...


@dataclass(frozen=True)
class Script:
    """The ground truth, for agents that know the answer, such as the oracle."""

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


class DomainView(Protocol):
    """What agents may know about a domain before the first episode."""

    @property
    def name(self) -> str:
        """The name of the domain."""
        ...

    @property
    def policy(self) -> str:
        """The policy that agents follow, as text."""
        ...

    @property
    def tool_infos(self) -> list[ToolInfo]:
        """The schemas of the tools."""
        ...


@dataclass(frozen=True)
class AgentContext:
    """The input for creating an agent for one episode."""

    task_index: int
    trial: int
    run_seed: int
    """The seed of the whole run, the same for all of its episodes."""
    settings: Any = field(default_factory=Settings)
    """An instance of the strategy's model of settings."""
    script: Script | None = None
    """Only for strategies that read the script."""
    model: Model | None = None
    """Only for strategies that need one."""
    model_name: str | None = None
    """The name of the model, as the run has it."""
    seed: int = 0
    """The seed of this episode, for the model and the agent's own draws: each trial has another."""
    role_models: Mapping[str, Model] = field(default_factory=dict[str, "Model"])
    """Models for some of the agent's roles, if its settings name them."""
    shared: Any = None
    """What the strategy's `prepare` made for the whole run."""
    history: History | None = None
    """What was played before, for an agent that takes over in the middle of an episode."""
    playback: Playback | None = None
    """How far the agent has come in its history, for a strategy that takes over by replay."""


@dataclass(frozen=True)
class AgentStrategy:
    """Creates agents of a kind; registered by entry point under its name."""

    name: str
    create: Callable[[AgentContext], Agent]
    summary: str = ""
    """A one-line description."""
    settings: type[BaseModel] = Settings
    """The settings that its agents take: each field is an option and a flag."""
    needs_model: bool = False
    """The agent needs a language model."""
    offers_model: bool = False
    """The agent is told where to ask the run's model, if the run names one."""
    reads_script: bool = False
    """The agent knows the ground truth, so its results say nothing about a model."""
    create_user: Callable[[AgentContext], SimulatedUser] | None = None
    """Creates the agent's own user, for agents that need one, such as replay."""
    create_model: Callable[[AgentContext], Model] | None = None
    """Creates the agent's own model for an episode; the agent's budget pays for it."""
    prepare: Callable[[DomainView, Any, int], AbstractAsyncContextManager[Any]] | None = None
    """Makes what the agents of a run share, such as processes. It gets the domain, the settings and
    the step limit, is opened before a run's first episode and closed after its last, and may refuse
    the run before it costs anything."""
    takes_over: TakesOver = "replay"
    """How its agents go on in the middle of an episode."""
    write_reply: Callable[[Action], ChatMessage] | None = None
    """The reply of a model that makes its agents take an action. With it, they take over episodes
    of other agents by replay."""
    worker_memory: float | None = None
    """The GB that a worker on Ray reserves for its agents, unless `--worker-memory` says."""

    def check(self, given: Mapping[str, Any] | BaseModel | None = None) -> BaseModel:
        """The settings for its agents; raises InputError for what is wrong."""
        owner = f"the {self.name} agent"
        return check_settings(owner, self.settings, given, option="--agent-option ")


def wrap_agent(found: Any, name: str) -> AgentStrategy | None:
    """A strategy from a class with `play(stage)`, a function of the stage, or a chat workflow.

    An object that has a `strategy`, such as what `from_langgraph` gives, is taken by it.

    A class gets the context if its constructor takes one. The context has a model if the run names
    one. A function whose first parameter is `messages` counts as a chat workflow.
    """
    if isinstance(ready := getattr(found, "strategy", None), AgentStrategy):
        return ready
    about = (inspect.getdoc(found) or "").partition("\n")[0]
    if _is_chat(found):
        from greenroom.agents.workflow_agent import strategy_of

        return strategy_of(found)
    if inspect.iscoroutinefunction(found):
        return AgentStrategy(name, lambda context: _FunctionAgent(found, context), about)
    if not inspect.isclass(found) or not inspect.iscoroutinefunction(getattr(found, "play", None)):
        return None
    return AgentStrategy(
        name,
        maker(found),
        about,
        settings=getattr(found, "settings", Settings),
        needs_model=bool(getattr(found, "needs_model", False)),
        takes_over=getattr(found, "takes_over", "replay"),
        worker_memory=getattr(found, "worker_memory", None),
    )


def _is_chat(found: Any) -> bool:
    from greenroom.workflows.declare import Workflow, takes_messages

    return isinstance(found, Workflow) or (inspect.isfunction(found) and takes_messages(found))


class _FunctionAgent:
    """Plays with a function of the stage, and of the context if it takes one."""

    def __init__(self, function: Callable[..., Awaitable[None]], context: AgentContext) -> None:
        self._function = function
        self._context = context

    async def play(self, stage: Stage) -> None:
        takes_context = len(inspect.signature(self._function).parameters) > 1
        await self._function(*((stage, self._context) if takes_context else (stage,)))


_REGISTRY = Registry(ENTRY_POINTS, AgentStrategy, "agent strategy", wrap_agent, advice)

strategy_names = _REGISTRY.names
"""The names of all installed strategies."""
name_of_strategy = _REGISTRY.name_of
"""Register an agent object; return the name by which `find_strategy` finds it."""
find_strategy = _REGISTRY.load
"""The strategy with a name, or the one at `file.py:name` or `module:name`."""
