"""Recorded episodes played again: does our environment score them as they were scored?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from greenroom.agents import Stage
from greenroom.agents.replay import RecordedEpisode, Replay, recorded_user
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import RESPOND

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain


@dataclass(frozen=True)
class ObservationDifference:
    """A tool that answers otherwise than it did when the episode was recorded."""

    step: int
    tool: str
    recorded: str
    replayed: str


@dataclass(frozen=True)
class ReplayedEpisode:
    """A recording beside what playing it again comes to."""

    recording: RecordedEpisode
    reward: float
    differences: tuple[ObservationDifference, ...]

    @property
    def agrees(self) -> bool:
        """The reward is the one that was recorded."""
        return self.reward == self.recording.reward


def replay_recordings(
    domain: Domain, recordings: Sequence[RecordedEpisode], *, split: str = "test"
) -> Iterator[ReplayedEpisode]:
    """Play each recording again on the domain."""
    for recording in recordings:
        yield anyio.run(_replay, domain, recording, split)


async def _replay(domain: Domain, recording: RecordedEpisode, split: str) -> ReplayedEpisode:
    environment = Environment(
        domain,
        recorded_user(recording),
        split=split,
        max_steps=max(1, len(recording.steps)),
    )
    await environment.reset(recording.task_index)
    await Replay(recording).play(Stage(environment))
    differences = tuple(
        ObservationDifference(number, then.name, then.observation, now.observation)
        for number, (then, now) in enumerate(zip(recording.steps, environment.steps, strict=False))
        if then.name != RESPOND
        and then.observation is not None
        and then.observation != now.observation
    )
    reward = environment.reward.value if environment.reward is not None else 0.0
    return ReplayedEpisode(recording, reward, differences)
