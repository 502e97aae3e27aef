"""One episode: an agent in an environment with a user, until it is over."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from greenroom.agents import Agent, Stage
from greenroom.benchmark.context import RunContext
from greenroom.domains.environment import Environment, SimulatedUser, Step
from greenroom.domains.reward import Reward
from greenroom.errors import EpisodeOver, InputError, OutsideFault, redacted
from greenroom.models import BudgetExhausted, Ledger
from greenroom.store import NO_RESULT, Outcome, Usage, outcome_of
from greenroom.trials import outside_fault
from greenroom.users import ScriptedUser


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
    """What broke, for a crash or an infrastructure error."""
    messages: list[dict[str, Any]] | None = field(default=None, repr=False)
    """The agent's own chat messages, if it holds any."""
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])
    model_seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    turn_seconds: list[float] = field(default_factory=list[float])
    facts: dict[str, str] = field(default_factory=dict[str, str])
    """What the agent says of itself, such as a version."""
    tallies: dict[str, dict[str, float | None]] = field(
        default_factory=dict[str, dict[str, float | None]]
    )
    """What the agent counted beyond the usual."""

    @property
    def reward(self) -> float | None:
        """Tau Bench's reward: 0 if the episode did not come to its end, None if it broke."""
        if self.outcome == NO_RESULT:
            return None
        return self.details.value if self.details is not None else 0.0


async def play_episode(
    context: RunContext, task_index: int, *, trial: int = 0, ledger: Ledger | None = None
) -> Episode:
    """Play one trial of a task.

    Whatever breaks on the way becomes the episode's outcome. Only an InputError and an exhausted
    budget are raised.
    """
    ledger = ledger or Ledger()
    config, strategy = context.config, context.strategy
    agent_context = context.agent_context(task_index, trial, ledger)
    user = _EpisodeUser(ScriptedUser())
    environment = Environment(
        context.domain, user, split=config.task_split, max_steps=config.max_num_steps
    )
    agent: Agent | None = None
    started_at, start = datetime.now(UTC), time.monotonic()
    problem: Exception | None = None
    seconds = config.max_episode_seconds
    with anyio.move_on_after(math.inf if seconds is None else seconds) as limit:
        try:
            with outside_fault("The simulated user"):
                user.user = context.create_user(agent_context, ledger)
            agent = strategy.create(agent_context)
            with outside_fault("The environment"):
                await environment.reset(task_index)
            await agent.play(Stage(environment))
        except EpisodeOver:
            pass  # the agent went on after the end: the episode counts as it ended
        except (InputError, BudgetExhausted):
            raise
        except Exception as exception:
            problem = exception
    reward = environment.reward
    outcome = outcome_of(
        None if reward is None else reward.value,
        problem,
        timed_out=limit.cancelled_caught,
        over=environment.over,
    )
    return Episode(
        task_index=task_index,
        trial=trial,
        outcome=outcome,
        opening=environment.opening,
        steps=tuple(environment.steps),
        started_at=started_at,
        seconds=time.monotonic() - start,
        seed=agent_context.seed,
        details=reward,
        error=_error_text(problem) if outcome in (NO_RESULT, "crashed") else None,
        messages=getattr(agent, "messages", None),
        usage=ledger.usage(),
        model_seconds=ledger.latencies(),
        turn_seconds=user.turn_seconds,
        facts=getattr(agent, "facts", {}),
        tallies=getattr(agent, "tallies", {}),
    )


class _EpisodeUser:
    """Times the agent's turns, and keeps faults of the user from counting against the agent."""

    def __init__(self, user: SimulatedUser) -> None:
        self.user = user
        self.turn_seconds: list[float] = []
        self._turn_began = 0.0

    async def open(self, instruction: str) -> str:
        with outside_fault("The simulated user"):
            said = _said(await self.user.open(instruction))
        self._turn_began = time.perf_counter()
        return said

    async def reply(self, content: str) -> str:
        self.turn_seconds.append(round(time.perf_counter() - self._turn_began, 4))
        with outside_fault("The simulated user"):
            said = _said(await self.user.reply(content))
        self._turn_began = time.perf_counter()
        return said


def _said(answer: Any) -> str:
    if not isinstance(answer, str):
        raise TypeError(f"it answered with {type(answer).__name__} instead of a text")
    return answer


def _error_text(problem: Exception | None) -> str:
    kind = "" if isinstance(problem, OutsideFault) else f"{type(problem).__name__}: "
    return redacted(f"{kind}{problem}")
