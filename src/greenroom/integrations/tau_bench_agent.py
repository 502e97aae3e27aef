"""Our agents in the shape in which Tau Bench's `run` asks for one: `solve(env, task_index)`."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from greenroom._version import __version__
from greenroom.agents import Agent, AgentContext, AgentStrategy
from greenroom.benchmark import RunConfig
from greenroom.benchmark.context import make_agent_context
from greenroom.errors import EpisodeOver, InputError, redacted
from greenroom.integrations.tau_bench_stage import UpstreamEnv, UpstreamStage
from greenroom.models import BudgetExhausted
from greenroom.models.pool import ModelPool
from greenroom.models.purses import Ledger
from greenroom.reports.tau_bench import OwnInfo
from greenroom.store import NO_RESULT, Outcome, outcome_of
from greenroom.trajectories import write_conversation
from greenroom.trials import cell_seed

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from greenroom.domains.tools import ToolInfo

_SECONDS_BETWEEN_ATTEMPTS = 0.5


class RunStopped(BaseException):
    """Ends Tau Bench's run for a reason that a person has to mend.

    No Exception: those its run takes for a failure of the agent, scores 0 and goes on.
    """

    def __init__(self, reason: InputError | BudgetExhausted) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Upstream:
    """The types of the `tau_bench` that is installed."""

    action: Callable[..., Any]
    solve_result: Callable[..., Any]


@dataclass(frozen=True)
class RunParts:
    """What all episodes of a run share: who plays, the models, and the loop that they live in."""

    strategy: AgentStrategy
    config: RunConfig
    pool: ModelPool
    portal: BlockingPortal


@dataclass
class _Attempt:
    """One try at an episode, and what came of it."""

    stage: UpstreamStage
    number: int
    ledger: Ledger
    """The episode's: what attempts cost that came to nothing is in it too."""
    agent: Agent | None = None
    problem: Exception | None = None
    timed_out: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.monotonic)

    @property
    def outcome(self) -> Outcome:
        return outcome_of(
            self.stage.reward if self.stage.done else None,
            self.problem,
            timed_out=self.timed_out,
            over=self.stage.over,
        )


class UpstreamAgent:
    """An agent of ours for Tau Bench's run, whose threads may all call `solve` at once."""

    def __init__(
        self,
        parts: RunParts,
        upstream: Upstream,
        *,
        policy: str,
        tool_infos: list[ToolInfo],
        shared: Any = None,
    ) -> None:
        self._parts = parts
        self._upstream = upstream
        self._policy = policy
        self._tool_infos = tool_infos
        self._shared = shared
        self._trials = Counter[int | None]()
        self._lock = threading.Lock()
        self._stopped: InputError | BudgetExhausted | None = None

    def solve(
        self, env: UpstreamEnv, task_index: int | None = None, max_num_steps: int | None = None
    ) -> Any:
        """Play one episode in Tau Bench's environment: its `SolveResult`."""
        if self._stopped is not None:
            raise RunStopped(self._stopped)
        with self._lock:
            # Tau Bench does not say which trial it is; it plays them one after the other.
            trial = self._trials[task_index]
            self._trials[task_index] += 1
        try:
            return self._parts.portal.call(self._solve, env, task_index, trial, max_num_steps)
        except (InputError, BudgetExhausted) as error:
            self._stopped = error
            raise RunStopped(error) from error

    async def _solve(
        self, env: UpstreamEnv, task_index: int | None, trial: int, max_num_steps: int | None
    ) -> Any:
        # As in our own runs, what breaks beside the agent is tried again from the start.
        config = self._parts.config
        number, ledger = 1, Ledger()
        while True:
            stage = UpstreamStage(
                env,
                self._upstream.action,
                policy=self._policy,
                tool_infos=self._tool_infos,
                max_steps=max_num_steps or config.max_num_steps,
            )
            attempt = _Attempt(stage, number, ledger)
            await self._play(attempt, task_index, trial)
            if attempt.outcome != NO_RESULT or number > config.max_retries:
                return self._result(attempt, task_index, trial)
            await anyio.sleep(_SECONDS_BETWEEN_ATTEMPTS * number)
            number += 1

    async def _play(self, attempt: _Attempt, task_index: int | None, trial: int) -> None:
        parts, config = self._parts, self._parts.config
        number = -1 if task_index is None else task_index
        context = make_agent_context(
            parts.strategy,
            config,
            parts.pool,
            AgentContext(
                number,
                trial,
                config.seed,
                parts.strategy.check(config.agent_options),
                shared=self._shared,
            ),
            attempt.ledger,
        )
        with anyio.move_on_after(config.max_episode_seconds or math.inf) as limit:
            try:
                attempt.agent = parts.strategy.create(context)
                await attempt.stage.open(task_index)
                await attempt.agent.play(attempt.stage)
            except EpisodeOver:
                pass  # the agent went on after the end: the episode counts as it ended
            except (InputError, BudgetExhausted):
                raise
            except Exception as problem:
                attempt.problem = problem
        attempt.timed_out = limit.cancelled_caught

    def _result(self, attempt: _Attempt, task_index: int | None, trial: int) -> Any:
        stage, config = attempt.stage, self._parts.config
        messages: list[dict[str, Any]] | None = getattr(attempt.agent, "messages", None)
        usage = attempt.ledger.usage()
        own = OwnInfo(
            outcome=attempt.outcome,
            attempts=attempt.number,
            seed=cell_seed(config.seed, -1 if task_index is None else task_index, trial),
            started_at=attempt.started_at,
            seconds=time.monotonic() - attempt.started,
            usage=usage,
            made_from_steps=messages is None,
        ).model_dump(mode="json")
        about: dict[str, Any] = {
            "version": __version__,
            "agent_strategy": self._parts.strategy.name,
            "facts": getattr(attempt.agent, "facts", {}),
            "tallies": getattr(attempt.agent, "tallies", {}),
        }
        info = {**stage.info, "greenroom": {**about, **own}}
        if attempt.outcome == NO_RESULT:
            problem = redacted(f"{type(attempt.problem).__name__}: {attempt.problem}")
            info |= {"error": problem, "infrastructure_error": True}
        if messages is None:
            messages = write_conversation(stage.policy, stage.opening, stage.steps)
        agent = usage.get("agent")
        return self._upstream.solve_result(
            reward=stage.reward if stage.done else 0.0,
            messages=messages,
            info=info,
            total_cost=agent.cost if agent is not None else 0.0,
        )
