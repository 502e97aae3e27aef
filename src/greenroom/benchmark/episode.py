"""One episode: an agent in an environment with a user, until it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import BaseModel

from greenroom.agents import Agent, AgentContext, AgentStrategy, Script, Stage
from greenroom.domains.domain import Domain
from greenroom.domains.environment import MAX_STEPS, Environment, SimulatedUser, Step
from greenroom.domains.reward import Reward
from greenroom.errors import EpisodeOver, InputError, redacted
from greenroom.models import BudgetExhausted, ContentFiltered, ContextWindowExceeded
from greenroom.models.purses import Ledger
from greenroom.store import Outcome, Usage
from greenroom.users import ScriptedUser

if TYPE_CHECKING:
    from greenroom.benchmark.casting import Cast


@dataclass(frozen=True)
class Episode:
    """What came of one trial of a task."""

    task_index: int
    trial: int
    outcome: Outcome
    opening: str
    steps: tuple[Step, ...]
    started_at: datetime
    seconds: float
    seed: int = 0
    details: Reward | None = field(default=None, repr=False)
    """The parts of the reward; None where the episode never came to its end."""
    error: str | None = None
    """What broke, for an infrastructure error."""
    messages: list[dict[str, Any]] | None = field(default=None, repr=False)
    """The agent's own chat messages, if it holds any."""
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])
    facts: dict[str, str] = field(default_factory=dict[str, str])
    """What the agent says of itself, such as a version."""
    tallies: dict[str, dict[str, float | None]] = field(
        default_factory=dict[str, dict[str, float | None]]
    )
    """What the agent counted beyond the usual."""

    @property
    def reward(self) -> float | None:
        """Tau Bench's reward: 0 if the episode did not come to its end, None if it broke."""
        if self.outcome == "infrastructure_error":
            return None
        return self.details.value if self.details is not None else 0.0


def episode_seed(seed: int, task_index: int, trial: int) -> int:
    """The seed of an episode: a pure function of the run's seed, the task and the trial."""
    digest = sha256(f"{seed}/{task_index}/{trial}".encode()).digest()
    return int.from_bytes(digest[:4]) & 0x7FFFFFFF


async def play_episode(
    domain: Domain,
    strategy: AgentStrategy,
    task_index: int,
    *,
    split: str = "test",
    trial: int = 0,
    seed: int = 10,
    settings: Mapping[str, Any] | BaseModel | None = None,
    max_steps: int = MAX_STEPS,
    max_seconds: float | None = None,
    cast: Cast | None = None,
    ledger: Ledger | None = None,
    shared: Any = None,
) -> Episode:
    """Play one trial of a task with an agent of the strategy.

    Whatever breaks on the way becomes the episode's outcome. Only what a person has to mend, an
    InputError, and a budget that is used up are raised. Without a cast, the user is scripted and
    there is no model. `shared` is what the strategy's `prepare` made.
    """
    ledger = ledger or Ledger()
    own_seed = episode_seed(seed, task_index, trial)
    scope = f"{seed}/{task_index}/{trial}"
    context = AgentContext(
        task_index,
        trial,
        seed,
        strategy.check(settings),
        script=Script(domain, split, task_index) if strategy.reads_script else None,
        model=cast.agent_model(ledger, scope, own_seed) if cast else None,
        episode_seed=own_seed,
        role_models=cast.role_models(ledger, scope, own_seed) if cast else {},
        shared=shared,
    )
    context = with_own_model(strategy, context, ledger)
    environment = Environment(domain, ScriptedUser(), split=split, max_steps=max_steps)
    agent: Agent | None = None
    started_at, start = datetime.now(UTC), time.monotonic()
    problem: Exception | None = None
    with anyio.move_on_after(math.inf if max_seconds is None else max_seconds) as limit:
        try:
            environment.user = _user(strategy, context, cast, ledger, scope)
            agent = strategy.create(context)
            await environment.reset(task_index)
            await agent.play(Stage(environment))
        except EpisodeOver:
            pass  # the agent went on after the end: the episode counts as it ended
        except (InputError, BudgetExhausted):
            raise
        except Exception as exception:
            problem = exception
    outcome = _outcome(environment, problem, timed_out=limit.cancelled_caught)
    return Episode(
        task_index=task_index,
        trial=trial,
        outcome=outcome,
        opening=environment.opening,
        steps=tuple(environment.steps),
        started_at=started_at,
        seconds=time.monotonic() - start,
        seed=own_seed,
        details=environment.reward,
        error=_error_text(problem) if outcome == "infrastructure_error" else None,
        messages=getattr(agent, "messages", None),
        usage=ledger.usage(),
        facts=getattr(agent, "facts", {}),
        tallies=getattr(agent, "tallies", {}),
    )


def with_own_model(strategy: AgentStrategy, context: AgentContext, ledger: Ledger) -> AgentContext:
    """The context with the model that the strategy brings, if it does; the agent pays for it."""
    if strategy.create_model is None:
        return context
    return replace(context, model=ledger.model("agent", strategy.create_model(context)))


def _user(
    strategy: AgentStrategy,
    context: AgentContext,
    cast: Cast | None,
    ledger: Ledger,
    scope: str,
) -> SimulatedUser:
    if cast is not None:
        return cast.create_user(strategy, context, ledger, scope)
    return strategy.create_user(context) if strategy.create_user else ScriptedUser()


def _outcome(environment: Environment, problem: Exception | None, *, timed_out: bool) -> Outcome:
    if environment.reward is not None:
        return "success" if environment.reward.value == 1.0 else "failure"
    match problem:
        case ContextWindowExceeded():
            return "context_window"
        case ContentFiltered():
            return "content_filter"
        case Exception():
            return "infrastructure_error"
        case None:
            pass
    if timed_out:
        return "max_time"
    return "max_steps" if environment.over else "invalid"


def _error_text(problem: Exception | None) -> str:
    return redacted(f"{type(problem).__name__}: {problem}")
