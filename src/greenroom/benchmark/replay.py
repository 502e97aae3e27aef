"""Recorded episodes played again: does our environment score them as they were scored?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from greenroom.agents import Stage
from greenroom.agents.replay import RecordedEpisode, Replay, recorded_user
from greenroom.benchmark.restoring import ObservationDifference
from greenroom.domains.environment import Environment, UserCall
from greenroom.domains.tasks import RESPOND
from greenroom.trajectories import SpokenStep

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain


@dataclass(frozen=True)
class ReplayedEpisode:
    """A recording beside what playing it again comes to."""

    recording: RecordedEpisode
    reward: float
    differences: tuple[ObservationDifference, ...]

    @property
    def agrees(self) -> bool:
        """The reward is the one that was recorded, if one was."""
        return self.recording.reward in (None, self.reward)


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
        max_steps=_enough_steps(domain, recording),
    )
    await environment.reset(recording.task_index)
    await Replay(recording).play(Stage(environment))
    differences = tuple(_differences(recording, environment))
    reward = environment.reward.value if environment.reward is not None else 0.0
    return ReplayedEpisode(recording, reward, differences)


def _enough_steps(domain: Domain, recording: RecordedEpisode) -> int:
    if not domain.edition.counts_messages:
        return max(1, len(recording.steps))
    calls = len(recording.opening_calls) + sum(len(step.user_calls) for step in recording.steps)
    return max(domain.edition.max_steps, 2 * (1 + len(recording.steps) + calls))


def _differences(
    recording: RecordedEpisode, environment: Environment
) -> Iterator[ObservationDifference]:
    """Where tools of either party answer otherwise than they did."""
    yield from _of_user(0, recording.opening_calls, environment.opening_calls)
    for number, (then, now) in enumerate(zip(recording.steps, environment.steps, strict=False)):
        differs = then.observation is not None and then.observation != now.observation
        if then.name != RESPOND and differs:
            yield ObservationDifference(number, then.name, then.observation or "", now.observation)
        yield from _of_user(number, then.user_calls, now.user_calls)


def _of_user(
    number: int, then: Sequence[SpokenStep], now: Sequence[UserCall]
) -> Iterator[ObservationDifference]:
    for past, call in zip(then, now, strict=False):
        if past.observation is not None and past.observation != call.observation:
            yield ObservationDifference(number, past.name, past.observation, call.observation)
