"""One episode: an agent in an environment with a user, until it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from greenroom.agents import Agent
from greenroom.benchmark.context import RunContext
from greenroom.benchmark.episode_trace import EpisodeTrace
from greenroom.benchmark.restoring import begin, stage_of
from greenroom.benchmark.sentences import judged
from greenroom.domains.environment import Environment, SimulatedUser, Step, UserCall, UserTools
from greenroom.domains.reward import Reward
from greenroom.errors import EpisodeOver, InputError, OutsideFault, SetUpFailed, redacted
from greenroom.models import BudgetExhausted, Ledger
from greenroom.store import NO_RESULT, Outcome, Usage, outcome_of
from greenroom.store.tallies import Tallies
from greenroom.tracing import spans
from greenroom.trials import outside_fault
from greenroom.users import ScriptedUser
from greenroom.users.strategies import Exchanges
from greenroom.util.attempt_logs import log_error, log_text
from greenroom.util.exits import no_exit
from greenroom.workflows.usage import ReportedUsage, current_usage


@dataclass(frozen=True)
class Episode:
    """What came of one trial of a task."""

    task_index: int
    trial: int
    outcome: Outcome
    opening: str
    opening_calls: tuple[UserCall, ...]
    """What the user did before their first message."""
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
    tallies: Tallies = field(default_factory=Tallies)
    """What the agent counted beyond the usual."""
    user_tallies: Tallies = field(default_factory=Tallies)
    """What the simulated user counted."""
    printed: str = field(default="", repr=False)
    """What the agent's program printed beside what it said."""

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

    Whatever breaks on the way becomes the episode's outcome, and so does a set-up that fails. Only
    another InputError and an exhausted budget are raised.
    """
    ledger = ledger or Ledger()
    if spans.active is None:
        return await _played(context, task_index, trial, ledger, None)
    with EpisodeTrace(spans.active, context, task_index, trial) as trace:
        episode = await _played(context, task_index, trial, ledger, trace)
        trace.tell(episode)
        return episode


async def _played(
    context: RunContext, task_index: int, trial: int, ledger: Ledger, trace: EpisodeTrace | None
) -> Episode:
    config, strategy = context.config, context.strategy
    agent_context = context.agent_context(task_index, trial, ledger)
    user = _EpisodeUser(ScriptedUser(), context, trace)
    environment = Environment(
        context.domain, user, split=context.split, max_steps=context.max_steps
    )
    agent: Agent | None = None
    started_at, start = datetime.now(UTC), time.monotonic()
    problem: Exception | None = None
    seconds = config.max_episode_seconds
    with (
        _counted_reports(ledger),
        anyio.move_on_after(math.inf if seconds is None else seconds) as limit,
    ):
        try:
            with outside_fault("The simulated user"):
                user.user = context.create_user(agent_context, ledger)
            with no_exit():
                agent = strategy.create(agent_context)
            with outside_fault("The environment"):
                await begin(environment, task_index, context.history)
            with no_exit():
                await agent.play(stage_of(environment, agent_context))
            if agent_context.playback is not None:
                agent_context.playback.check_over()
        except EpisodeOver:
            pass  # the agent went on after the end: the episode counts as it ended
        except SetUpFailed as failure:
            problem = failure  # of this task: the others are played
            log_error(failure)
        except (InputError, BudgetExhausted):
            raise
        except Exception as exception:
            problem = exception
            log_error(exception)
    seconds_played = time.monotonic() - start
    printed = getattr(agent, "printed", "")
    if problem is not None:
        log_text(printed)
    reward = await judged_reward(context, environment, trial, ledger)
    outcome = outcome_of(
        None if reward is None else reward.value,
        problem,
        timed_out=limit.cancelled_caught,
        over=environment.over,
        too_many_errors=environment.too_many_errors,
    )
    return Episode(
        task_index=task_index,
        trial=trial,
        outcome=outcome,
        opening=environment.opening,
        opening_calls=environment.opening_calls,
        steps=tuple(environment.steps),
        started_at=started_at,
        seconds=seconds_played,
        seed=agent_context.seed,
        details=reward,
        error=_error_text(problem) if outcome in (NO_RESULT, "crashed") else None,
        messages=getattr(agent, "messages", None),
        usage=ledger.usage(),
        model_seconds=ledger.latencies(),
        turn_seconds=user.turn_seconds,
        facts=getattr(agent, "facts", {}),
        tallies=getattr(agent, "tallies", {}),
        user_tallies=getattr(user.user, "tallies", {}),
        printed=printed,
    )


@contextmanager
def _counted_reports(ledger: Ledger) -> Generator[None]:
    """Count what the agent reports by `report_usage` while the block runs."""
    token = current_usage.set(_AgentReports(ledger))
    try:
        yield
    finally:
        current_usage.reset(token)


@dataclass(frozen=True)
class _AgentReports:
    ledger: Ledger

    def add(self, step: ReportedUsage) -> None:
        usable = ReportedUsage()
        usable.add(step)
        if usable != ReportedUsage():
            self.ledger.report("agent", **usable.to_json())


async def judged_reward(
    context: RunContext, environment: Environment, trial: int, ledger: Ledger
) -> Reward | None:
    """The reward, with a judge's verdicts where the task has sentences and the run has a judge."""
    reward, task = environment.reward, environment.task
    if reward is None or task is None or not reward.unjudged:
        return reward
    model = context.create_judge(environment.task_index, trial, ledger)
    if model is None:
        return reward
    return await judged(model, reward, context.domain, task, environment.trajectory)


class _EpisodeUser:
    """Times the agent's turns, and keeps faults of the user from counting against the agent."""

    def __init__(
        self, user: SimulatedUser, context: RunContext, trace: EpisodeTrace | None
    ) -> None:
        self.user = user
        self._context = context
        self._trace = trace
        self.turn_seconds: list[float] = []
        self._turn_began = 0.0

    def equip(self, tools: UserTools) -> None:
        equip = getattr(self.user, "equip", None)
        if equip is not None:
            equip(tools)

    async def open(self, instruction: str) -> str:
        with outside_fault("The simulated user"), self._turn():
            said = _said(await self.user.open(instruction))
        return self._heard(said)

    async def reply(self, content: str) -> str:
        self.turn_seconds.append(round(time.perf_counter() - self._turn_began, 4))
        with outside_fault("The simulated user"), self._turn():
            said = _said(await self.user.reply(content))
        return self._heard(said)

    async def take_over(self, instruction: str, opening: str, exchanges: Exchanges) -> None:
        with outside_fault("The simulated user"):
            await self._context.bring_user(self.user, instruction, opening, exchanges)
        self._heard(opening)

    def _turn(self) -> AbstractContextManager[None]:
        return nullcontext() if self._trace is None else self._trace.users_turn()

    def _heard(self, said: str) -> str:
        """It is the agent's turn."""
        self._turn_began = time.perf_counter()
        if self._trace is not None:
            self._trace.begin_turn(said)
        return said


def _said(answer: Any) -> str:
    if not isinstance(answer, str):
        raise TypeError(f"it answered with {type(answer).__name__} instead of a text")
    return answer


def _error_text(problem: Exception | None) -> str:
    kind = "" if isinstance(problem, OutsideFault | SetUpFailed) else f"{type(problem).__name__}: "
    return redacted(f"{kind}{problem}")
