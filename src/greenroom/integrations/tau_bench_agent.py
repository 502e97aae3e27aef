"""Our agents as Tau Bench's `run` calls them: `solve(env, task_index)`."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio

from greenroom._version import __version__
from greenroom.agents import Agent
from greenroom.benchmark import RunContext
from greenroom.errors import EpisodeOver, InputError, redacted
from greenroom.integrations.tau_bench_stage import UpstreamEnv, UpstreamStage
from greenroom.models import BudgetExhausted
from greenroom.models.purses import Ledger
from greenroom.reports.tau_bench import OwnInfo, exported_messages
from greenroom.store import NO_RESULT, Outcome, outcome_of
from greenroom.trajectories import write_conversation
from greenroom.trials import cell_seed

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

_SECONDS_BETWEEN_ATTEMPTS = 0.5


class RunStopped(BaseException):
    """Ends Tau Bench's run for an error of the input, or because the budget is spent.

    It is no Exception: Tau Bench would score that as 0 and continue.
    """

    def __init__(self, reason: InputError | BudgetExhausted) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class _Attempt:
    """One attempt at an episode and its result."""

    stage: UpstreamStage
    number: int
    ledger: Ledger
    """What the episode cost, failed attempts included."""
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
    """An agent of ours for Tau Bench's run; its threads may call `solve` at the same time."""

    def __init__(self, context: RunContext, types: Any, portal: BlockingPortal) -> None:
        self._context = context
        self._types = types
        """The module `tau_bench.types` of the installed Tau Bench."""
        self._portal = portal
        self._trials = Counter[int | None]()
        self._lock = threading.Lock()
        self._stopped: InputError | BudgetExhausted | None = None

    def solve(
        self, env: UpstreamEnv, task_index: int | None = None, max_num_steps: int | None = None
    ) -> Any:
        """Play one episode in Tau Bench's environment; return its `SolveResult`."""
        if self._stopped is not None:
            raise RunStopped(self._stopped)
        with self._lock:
            # Tau Bench does not say which trial it is; it plays them one after the other.
            trial = self._trials[task_index]
            self._trials[task_index] += 1
        try:
            return self._portal.call(self._solve, env, task_index, trial, max_num_steps)
        except (InputError, BudgetExhausted) as error:
            self._stopped = error
            raise RunStopped(error) from error

    async def _solve(
        self, env: UpstreamEnv, task_index: int | None, trial: int, max_num_steps: int | None
    ) -> Any:
        # As in our own runs, the episode starts again if something other than the agent broke.
        config = self._context.config
        pool = self._context.pool
        number, ledger = 1, Ledger(pool.budget if pool else None)
        while True:
            stage = UpstreamStage(
                env,
                self._types.Action,
                self._context.domain,
                max_steps=max_num_steps or self._context.max_steps,
            )
            attempt = _Attempt(stage, number, ledger)
            await self._play(attempt, task_index, trial)
            if attempt.outcome != NO_RESULT or number > config.max_retries:
                return self._result(attempt, task_index, trial)
            await anyio.sleep(_SECONDS_BETWEEN_ATTEMPTS * number)
            number += 1

    async def _play(self, attempt: _Attempt, task_index: int | None, trial: int) -> None:
        strategy, config = self._context.strategy, self._context.config
        context = self._context.agent_context(_number(task_index), trial, attempt.ledger)
        with anyio.move_on_after(config.max_episode_seconds or math.inf) as limit:
            try:
                attempt.agent = strategy.create(context)
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
        stage, config = attempt.stage, self._context.config
        messages: list[dict[str, Any]] | None = getattr(attempt.agent, "messages", None)
        usage = attempt.ledger.usage()
        own = OwnInfo(
            version=__version__,
            agent_strategy=self._context.strategy.name,
            facts=getattr(attempt.agent, "facts", {}),
            tallies=getattr(attempt.agent, "tallies", {}),
            outcome=attempt.outcome,
            attempts=attempt.number,
            seed=cell_seed(config.seed, _number(task_index), trial),
            started_at=attempt.started_at,
            seconds=time.monotonic() - attempt.started,
            usage=usage,
            made_from_steps=messages is None,
        ).model_dump(mode="json")
        info = {**stage.info, "greenroom": own}
        if attempt.outcome == NO_RESULT:
            problem = redacted(f"{type(attempt.problem).__name__}: {attempt.problem}")
            info |= {"error": problem, "infrastructure_error": True}
        if messages is None:
            messages = write_conversation(stage.policy, stage.opening, stage.steps)
        messages = exported_messages(messages)
        agent = usage.get("agent")
        return self._types.SolveResult(
            reward=stage.reward if stage.done else 0.0,
            messages=messages,
            info=info,
            total_cost=agent.cost if agent is not None else 0.0,
        )


def _number(task_index: int | None) -> int:
    # Tau Bench plays a random task if it gives no index.
    return -1 if task_index is None else task_index
