"""Tau Bench's own `Env`, taken as it is, as our agents meet it: a stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import anyio
import anyio.to_thread

from greenroom.agents import Stage
from greenroom.domains.tasks import RESPOND, Action
from greenroom.domains.tools import ToolInfo
from greenroom.errors import EpisodeOver
from greenroom.trajectories import SpokenStep


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

    The answers of `Env` carry the task and its ground truth. The agent gets the observation alone;
    the rest is kept here for whoever holds the result.
    """

    __slots__ = ("_action", "_env", "_max_steps", "_turn", "done", "info", "reward", "steps")

    def __init__(
        self,
        env: UpstreamEnv,
        action: Callable[..., Any],
        *,
        policy: str,
        tool_infos: list[ToolInfo],
        max_steps: int,
    ) -> None:
        # Not the initialisation of Stage, which takes an environment of ours.
        self.opening = ""
        self.policy = policy
        self.tool_infos = tool_infos
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
            # Upstream would break here, which is no answer for an agent.
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
        # The limiter is this stage's own: other episodes need not wait for its user.
        return await anyio.to_thread.run_sync(function, argument, limiter=self._turn)
