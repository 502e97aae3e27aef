"""A run's configuration with everything that it names at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from greenroom.agents import AgentStrategy, find_strategy
from greenroom.benchmark.config import RunConfig
from greenroom.domains.domain import Domain
from greenroom.domains.plugins import find_pack, find_plugin
from greenroom.domains.tasks import select_tasks
from greenroom.options import stored_settings
from greenroom.users import find_user_strategy


@dataclass(frozen=True)
class PreparedRun:
    """A configuration with everything that it names at hand."""

    config: RunConfig
    domain: Domain
    strategy: AgentStrategy
    settings: BaseModel
    """The agent's settings."""
    task_indices: list[int]
    interactive: bool = False
    """A person takes part: one episode at a time."""


def prepare_run(config: RunConfig) -> PreparedRun:
    """Find the domain, its data, the strategy and the tasks; raises for whatever is not there."""
    strategy = find_strategy(config.agent_strategy)
    settings = strategy.check(config.agent_options)
    plugin = find_plugin(config.env)
    env_settings = plugin.check(config.env_options)
    domain = Domain(plugin.tools, find_pack(plugin, config.data, env_settings))
    user = find_user_strategy(config.user_strategy)
    indices = select_tasks(
        len(domain.tasks(config.task_split)),
        task_ids=config.task_ids,
        start_index=config.start_index,
        end_index=config.end_index,
        shuffle_seed=config.seed if config.shuffle else None,
    )
    changes: dict[str, Any] = {
        "agent_options": stored_settings(settings),
        "env_options": stored_settings(env_settings),
        "user_options": stored_settings(user.check(config.user_options)),
    }
    if user.interactive:
        changes["max_concurrency"] = 1
    config = config.model_copy(update=changes)
    return PreparedRun(config, domain, strategy, settings, indices, user.interactive)
