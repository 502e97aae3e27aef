"""Tau Bench's own `Env` as a stage for our agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import anyio
import anyio.to_thread

from greenroom.agents import DomainView, Stage
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import EpisodeOver
from greenroom.trajectories import SpokenStep
from greenroom.trials import outside_fault


class UpstreamEnv(Protocol):
    """What we use of Tau Bench's `Env`."""

    def reset(self, task_index: int | None = None) -> Any:
        """Begin an episode: `EnvResetResponse`."""
        ...

    def step(self, action: Any) -> Any:
        """Do something: `EnvResponse`."""
        ...


class UpstreamStage(Stage):
    """A stage over Tau Bench's `Env`, which blocks: each step is taken in a thread.

    The answers of `Env` carry the task and its ground truth. The agent gets only the observation;
    the rest is kept here for the result.
    """

    __slots__ = ("_action", "_env", "_max_steps", "_turn", "done", "info", "reward", "steps")

    def __init__(
        self,
        env: UpstreamEnv,
        action: Callable[..., Any],
        domain: DomainView,
        *,
        max_steps: int,
    ) -> None:
        # The initialisation of Stage takes an environment of ours.
        self.greeting = None
        self.past = []
        self.opening = ""
        self.policy = domain.policy
        self.tool_infos = domain.tool_infos
        self.done = False
        self.reward = 0.0
        self.info: dict[str, Any] = {}
        self.steps: list[SpokenStep] = []
        self._env = env
        self._action = action
        self._max_steps = max_steps
        self._turn = anyio.CapacityLimiter(1)

    @property
    def over(self) -> bool:
        """No further step is possible."""
        return self.done or len(self.steps) >= self._max_steps

    @property
    def last_failed(self) -> bool:
        """Whether the last step was a call that failed, as Tau Bench's tools tell it."""
        return bool(self.steps) and (self.steps[-1].observation or "").startswith("Error")

    @property
    def final_reward(self) -> float | None:
        """The reward, once no further step is possible; None before."""
        if not self.over:
            return None
        return self.reward if self.done else 0.0

    async def open(self, task_index: int | None) -> None:
        """Begin an episode of a task."""
        response = await self._in_thread(self._env.reset, task_index)
        self.opening = str(response.observation)
        self.info = response.info.model_dump()

    async def step(self, action: Action) -> str:
        """Do something: the observation."""
        if self.over:
            raise EpisodeOver("The episode is over: no further step is possible.")
        kwargs = dict(action.kwargs)
        if action.name == RESPOND and not isinstance(kwargs.get("content"), str):
            # Tau Bench would raise an error that the agent never sees.
            observation = "Error: respond needs the argument 'content', a text."
        else:
            response = await self._in_thread(
                self._env.step, self._action(name=action.name, kwargs=kwargs)
            )
            observation = str(response.observation)
            self.done = bool(response.done)
            self.reward = float(response.reward)
            self.info = response.info.model_dump()
        self.steps.append(SpokenStep(action.name, kwargs, observation))
        return observation

    async def _in_thread(self, function: Callable[[Any], Any], argument: Any) -> Any:
        # Each stage has a limiter of its own, so that no episode waits for another's user.
        with outside_fault("Tau Bench's environment"):
            return await anyio.to_thread.run_sync(function, argument, limiter=self._turn)
