"""A run's configuration with everything that it names at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenroom.agents import AgentStrategy, find_strategy
from greenroom.benchmark.config import RunConfig
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.tasks import select_tasks
from greenroom.users import find_user_strategy

_PATH_OPTIONS = ("file", "few_shot_displays_path", "tool_map", "workflow_path")


@dataclass(frozen=True)
class PreparedRun:
    """A configuration with everything that it names at hand."""

    config: RunConfig
    domain: Domain
    strategy: AgentStrategy
    task_indices: list[int]
    interactive: bool = False
    """A person takes part: one episode at a time."""


def prepare_run(config: RunConfig) -> PreparedRun:
    """Find the domain, its data, the strategy and the tasks; raises for whatever is not there."""
    strategy = find_strategy(config.agent_strategy, config.agent_options)
    domain = load_domain(config.env, config.data)
    indices = select_tasks(
        len(domain.tasks(config.task_split)),
        task_ids=config.task_ids,
        start_index=config.start_index,
        end_index=config.end_index,
        shuffle_seed=config.seed if config.shuffle else None,
    )
    if config.data is not None and Path(config.data).exists():
        # A run is resumed from wherever its owner stands then.
        config = config.model_copy(update={"data": str(Path(config.data).resolve())})
    options = {
        name: str(Path(value).resolve()) if name in _PATH_OPTIONS else value
        for name, value in config.agent_options.items()
    }
    config = config.model_copy(update={"agent_options": options})
    interactive = find_user_strategy(config.user_strategy).interactive
    if interactive:
        config = config.model_copy(update={"max_concurrency": 1})
    return PreparedRun(config, domain, strategy, indices, interactive)
