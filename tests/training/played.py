"""Twenty tasks that were played here, and what the other faces of an environment must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio

from greenroom.benchmark import Episode, check_config, play_episode, prepare_run

TASKS = 20


@dataclass(frozen=True)
class PlayedEpisode:
    """What was done and answered in an episode, and its reward."""

    task: int
    actions: list[dict[str, Any]]
    observations: list[str]
    reward: float
    calls: list[tuple[str, dict[str, Any]]]


def natively_played(api_base: str) -> list[PlayedEpisode]:
    """The first tasks of retail, played by a scripted model that fails half of them."""
    config = {
        "agent_strategy": "tool-calling",
        "model": "synthetic-0.5",
        "api_base": api_base,
        "user_model": "user",
        "user_api_base": api_base,
    }

    async def play_all() -> list[Episode]:
        async with prepare_run(check_config(config)).opened() as context:
            return [await play_episode(context, task) for task in range(TASKS)]

    found = [_played(one) for one in anyio.run(play_all)]
    assert {one.reward for one in found} == {0.0, 1.0}
    return found


def _played(episode: Episode) -> PlayedEpisode:
    assert episode.reward is not None
    made = [(step.action.name, dict(step.action.kwargs)) for step in episode.steps]
    return PlayedEpisode(
        task=episode.task_index,
        actions=[{"name": name, "arguments": kwargs} for name, kwargs in made],
        observations=[episode.opening, *(step.observation for step in episode.steps)],
        reward=episode.reward,
        calls=[one for one in made if one[0] != "respond"],
    )
