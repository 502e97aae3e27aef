"""Making environments by name."""

from __future__ import annotations

from .base import Env


def get_env(
    env_name: str,
    user_strategy: str,
    user_model: str,
    task_split: str,
    user_provider: str | None = None,
    task_index: int | None = None,
) -> Env:
    return Env(env_name, user_strategy, user_model, task_split, task_index)
