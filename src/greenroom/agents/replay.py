"""The replay agent: plays recorded trajectories again, with the user's recorded words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from greenroom.agents.recordings import RecordedEpisode, load_recordings
from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Stage
from greenroom.errors import DataError, InputError
from greenroom.users import ScriptedUser

if TYPE_CHECKING:
    from greenroom.domains.environment import SimulatedUser


class Replay:
    """Does again what was recorded, for as long as the episode lasts."""

    def __init__(self, recording: RecordedEpisode) -> None:
        self._recording = recording

    async def play(self, stage: Stage) -> None:
        for step in self._recording.steps:
            if stage.over:
                return
            await stage.step(step.action)


def recorded_user(recording: RecordedEpisode) -> ScriptedUser:
    """A user who says what the recorded one said."""
    return ScriptedUser(recording.user_replies, opening=recording.opening)


def _recording(context: AgentContext) -> RecordedEpisode:
    path = Path(context.options["file"])
    for episode in load_recordings(path):
        if (episode.task_index, episode.trial) == (context.task_index, context.trial):
            return episode
    raise DataError(f"{path} has no episode of task {context.task_index}, trial {context.trial}.")


def _create(context: AgentContext) -> Agent:
    return Replay(_recording(context))


def _create_user(context: AgentContext) -> SimulatedUser:
    return recorded_user(_recording(context))


def _check_options(options: Mapping[str, str]) -> None:
    if "file" not in options:
        raise InputError("The replay agent needs a recording: --agent-option file=RESULTS.json.")
    load_recordings(Path(options["file"]))


strategy = AgentStrategy(
    "replay",
    _create,
    "plays recorded episodes again",
    options={"file": "a Tau Bench result file"},
    check_options=_check_options,
    create_user=_create_user,
)
