"""Many episodes: tasks x trials, several at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio

from greenroom.benchmark.episode import Episode, play_episode
from greenroom.domains.environment import MAX_STEPS
from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.agents import AgentStrategy
    from greenroom.domains.domain import Domain


async def run_episodes(
    domain: Domain,
    strategy: AgentStrategy,
    task_indices: Sequence[int],
    on_episode: Callable[[Episode], Awaitable[None]],
    *,
    split: str = "test",
    trials: int = 1,
    seed: int = 10,
    options: Mapping[str, str] | None = None,
    max_concurrency: int = 10,
    max_steps: int = MAX_STEPS,
) -> None:
    """Play every trial of every task; each episode is handed over as soon as it has ended."""
    for name, value in (("trials", trials), ("concurrency", max_concurrency), ("steps", max_steps)):
        if value < 1:
            raise InputError(f"The number of {name} must be at least 1, not {value}.")
    pending = ((index, trial) for trial in range(trials) for index in task_indices)

    async def work() -> None:
        for index, trial in pending:  # shared by all workers: each takes what is next
            await on_episode(
                await play_episode(
                    domain,
                    strategy,
                    index,
                    split=split,
                    trial=trial,
                    seed=seed,
                    options=options,
                    max_steps=max_steps,
                )
            )

    async with anyio.create_task_group() as workers:
        for _ in range(min(max_concurrency, trials * len(task_indices))):
            workers.start_soon(work)
