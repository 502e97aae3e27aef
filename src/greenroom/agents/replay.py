"""The replay agent: plays recorded trajectories again, with the recorded user messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from greenroom.agents.recordings import RecordedEpisode, load_recordings
from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Stage
from greenroom.errors import DataError
from greenroom.options import Settings
from greenroom.users import ScriptedUser

if TYPE_CHECKING:
    from greenroom.domains.environment import SimulatedUser


class ReplaySettings(Settings):
    """The settings of the replay agent."""

    file: Path = Field(description="A Tau Bench result file.")

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        load_recordings(self.file)
        return self


class Replay:
    """Repeats the recorded actions until the episode ends."""

    def __init__(self, recording: RecordedEpisode) -> None:
        self._recording = recording

    async def play(self, stage: Stage) -> None:
        for step in self._recording.steps:
            if stage.over:
                return
            await stage.step(step.action)


def recorded_user(recording: RecordedEpisode) -> ScriptedUser:
    """A user with the recorded messages."""
    return ScriptedUser(recording.user_replies, opening=recording.opening)


def _recording(context: AgentContext) -> RecordedEpisode:
    path = context.settings.file
    for episode in load_recordings(path):
        if (episode.task_index, episode.trial) == (context.task_index, context.trial):
            return episode
    raise DataError(f"{path} has no episode of task {context.task_index}, trial {context.trial}.")


def _create(context: AgentContext) -> Agent:
    return Replay(_recording(context))


def _create_user(context: AgentContext) -> SimulatedUser:
    return recorded_user(_recording(context))


strategy = AgentStrategy(
    "replay",
    _create,
    "plays recorded episodes again",
    settings=ReplaySettings,
    create_user=_create_user,
)
