"""Tau Bench's `Env` interface: agents written for Tau Bench run here unchanged.

    env = Env(load_domain("retail"), user=ScriptedUser(), task_index=0)
    response = env.reset(task_index=3)
    response = env.step(Action(name="think", kwargs={"thought": "..."}))

`step` blocks and may be called from any thread. All environments share one event loop in a thread
of its own for the asynchronous work.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from greenroom.domains.environment import Environment
from greenroom.domains.packs import DEFAULT_SPLIT
from greenroom.domains.tasks import Action
from greenroom.errors import InputError
from greenroom.util.event_loop import EventLoop

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain
    from greenroom.domains.environment import SimulatedUser
    from greenroom.domains.reward import Reward
    from greenroom.domains.tools import ToolInfo


class TauAction(BaseModel):
    """An action as Tau Bench's agents read it."""

    name: str
    kwargs: dict[str, Any]


class TauTask(BaseModel):
    """A task as Tau Bench's agents read it."""

    user_id: str
    actions: list[TauAction]
    instruction: str
    outputs: list[str]


class RewardActionInfo(BaseModel):
    """The database's part of a reward."""

    r_actions: float
    gt_data_hash: str


class RewardOutputInfo(BaseModel):
    """The outputs' part of a reward."""

    r_outputs: float
    outputs: dict[str, bool]


class RewardResult(BaseModel):
    """A reward with the part that Tau Bench reports, and all parts."""

    reward: float
    info: RewardOutputInfo | RewardActionInfo
    actions: list[TauAction]
    parts: dict[str, Any]


class EnvInfo(BaseModel):
    """The details of an observation."""

    task: TauTask
    source: str | None = None
    user_cost: float | None = None
    reward_info: RewardResult | None = None


class EnvResetResponse(BaseModel):
    """The answer to a reset."""

    observation: str
    info: EnvInfo


class EnvResponse(BaseModel):
    """The answer to a step."""

    observation: str
    reward: float
    done: bool
    info: EnvInfo


class Env:
    """A synchronous environment with Tau Bench's names and types.

    As in Tau Bench, an agent can read `env.task` and counts its own steps.
    """

    def __init__(
        self,
        domain: Domain,
        user: SimulatedUser,
        *,
        split: str = DEFAULT_SPLIT,
        task_index: int | None = None,
        seed: int | None = None,
    ) -> None:
        self._environment = Environment(domain, user, split=split, max_steps=sys.maxsize)
        self._random = random.Random(seed)  # noqa: S311
        self._loop = EventLoop()
        self.tasks = [TauTask.model_validate(task.to_json()) for task in domain.tasks(split)]
        self.tools_info: list[ToolInfo] = domain.tool_infos
        self.tools_map = dict(domain.tools)
        self.terminate_tools = [name for name, t in domain.tools.items() if t.ends_episode]
        self.wiki = domain.policy
        self.rules = list(domain.pack.rules)
        self.user = user
        self.actions: list[Any] = []
        self.task_index = self._index(task_index)
        self.task = self.tasks[self.task_index]

    def reset(self, task_index: int | None = None) -> EnvResetResponse:
        """Begin an episode; without an index, of a random task."""
        self.task_index = self._index(task_index)
        self.task = self.tasks[self.task_index]
        self.actions = []
        observation = self._loop.call(self._environment.reset, self.task_index)
        self.wiki = self._environment.policy
        return EnvResetResponse(
            observation=observation, info=EnvInfo(task=self.task, source="user")
        )

    def step(self, action: Any) -> EnvResponse:
        """Carry out an action: Tau Bench's `Action`, ours, or a mapping."""
        ours = _our_action(action)
        self.actions.append(action)
        step = self._loop.call(self._environment.step, ours)
        info = EnvInfo(task=self.task, source=step.source)
        reward = self._environment.reward
        if reward is not None:
            info.reward_info = self._reward_result(reward)
            info.user_cost = float(getattr(self.user, "total_cost", 0.0))
        return EnvResponse(
            observation=step.observation,
            reward=reward.value if reward is not None else 0.0,
            done=step.done,
            info=info,
        )

    def get_data_hash(self) -> str:
        """The hash of the current database, Tau Bench's or tau2-bench's."""
        return self._environment.domain.hash_world(self._environment.world)

    def _index(self, task_index: int | None) -> int:
        if task_index is None:
            return self._random.randrange(len(self.tasks))
        if not 0 <= task_index < len(self.tasks):
            raise InputError(
                f"There is no task {task_index}: there are 0 to {len(self.tasks) - 1}."
            )
        return task_index

    def _reward_result(self, reward: Reward) -> RewardResult:
        actions = [action for action in self.task.actions if action.name != "respond"]
        info: RewardOutputInfo | RewardActionInfo
        if self.task.outputs:
            info = RewardOutputInfo(
                r_outputs=float(all(reward.outputs.values())), outputs=reward.outputs
            )
        else:
            info = RewardActionInfo(
                r_actions=float(reward.database), gt_data_hash=reward.truth.database_hash
            )
        return RewardResult(reward=reward.value, info=info, actions=actions, parts=reward.to_json())


def _our_action(action: Any) -> Action:
    if isinstance(action, Action):
        return action
    if isinstance(action, Mapping):
        fields = cast("Mapping[str, Any]", action)
        name, kwargs = fields.get("name"), fields.get("kwargs", fields.get("arguments", {}))
    else:
        name, kwargs = getattr(action, "name", None), getattr(action, "kwargs", {})
    if not isinstance(name, str) or not isinstance(kwargs, Mapping):
        raise InputError(f"An action has a name and kwargs; this is {action!r:.80}.")
    return Action(name, dict(cast("Mapping[str, Any]", kwargs)))


__all__ = [
    "Env",
    "EnvInfo",
    "EnvResetResponse",
    "EnvResponse",
    "RewardActionInfo",
    "RewardOutputInfo",
    "RewardResult",
    "TauAction",
    "TauTask",
]
