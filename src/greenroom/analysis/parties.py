"""What each party did in an episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import StepRecord, UserCallRecord
from greenroom.trajectories import Party

PARTIES: Final[tuple[Party, ...]] = ("agent", "user")

Done = StepRecord | UserCallRecord
"""An action of either party, with what came of it."""


def calls_by(episode: EpisodeRecord, party: Party) -> Iterator[tuple[int | None, Done]]:
    """What a party did, each with its step: a user acts within the step that they answer.

    What the user did before their first message has no step.
    """
    if party == "user":
        yield from ((None, call) for call in episode.opening_calls)
    for place, step in enumerate(episode.steps):
        if party == "agent":
            yield place, step
        else:
            yield from ((place, call) for call in step.user_calls)
