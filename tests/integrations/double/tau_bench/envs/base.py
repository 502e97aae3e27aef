"""The environment: synchronous, with the ground truth in every answer."""

from __future__ import annotations

from greenroom.domains import load_domain
from greenroom.domains.tau_bench import Env as OurEnv

from ..types import Action, EnvResetResponse, EnvResponse
from .user import ModelUser


class Env:
    def __init__(
        self,
        env_name: str,
        user_strategy: str,
        user_model: str,
        task_split: str,
        task_index: int | None = None,
    ) -> None:
        self._env = OurEnv(
            load_domain(env_name), ModelUser(user_model), split=task_split, task_index=task_index
        )
        self.tasks = self._env.tasks
        self.tools_info = self._env.tools_info
        self.wiki = self._env.wiki

    def reset(self, task_index: int | None = None) -> EnvResetResponse:
        return EnvResetResponse.model_validate(self._env.reset(task_index).model_dump())

    def step(self, action: Action) -> EnvResponse:
        assert isinstance(action, Action), "an agent passed an action that is not Tau Bench's"
        return EnvResponse.model_validate(self._env.step(action).model_dump())
