"""The replay agent: plays recorded trajectories again, with the recorded user messages.

The recordings are Tau Bench's result files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.domains.packs import read_json
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import DataError, GreenroomError
from greenroom.options import Settings
from greenroom.reports.tau_bench import ResultRow
from greenroom.trajectories import SpokenStep, read_conversation
from greenroom.users import ScriptedUser


@dataclass(frozen=True)
class RecordedEpisode:
    """One row of a result file."""

    task_index: int
    trial: int
    reward: float
    opening: str
    steps: tuple[SpokenStep, ...]
    crashed: bool = False
    """It was never played: an error ended it."""

    @property
    def user_replies(self) -> list[str]:
        """The user's answers, in order."""
        said = [step.observation for step in self.steps if step.name == RESPOND]
        return [words for words in said if words is not None]


_result_rows = TypeAdapter(list[ResultRow])


def load_recordings(path: Path) -> tuple[RecordedEpisode, ...]:
    """The episodes of a Tau Bench result file; an unchanged file is read once."""
    try:
        found = path.stat()
    except OSError:
        return _load(path, 0, 0)  # which says what is wrong with it
    return _load(path.resolve(), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, changed_at: int, size: int) -> tuple[RecordedEpisode, ...]:
    try:
        rows = _result_rows.validate_python(read_json(path, list))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"{path} is not a Tau Bench result file: {place}: {first['msg']}. "
            "It should be a list of {task_id, reward, info, traj, trial}."
        ) from error
    return tuple(
        RecordedEpisode(
            row.task_id, row.trial, row.reward, spoken.opening, spoken.steps, row.crashed
        )
        for row in rows
        for spoken in (read_conversation(row.traj),)
    )


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
            await stage.step(Action(step.name, step.kwargs))


def recorded_user(recording: RecordedEpisode) -> ScriptedUser:
    """A user with the recorded messages."""
    return ScriptedUser(recording.user_replies, opening=recording.opening)


def _recording(context: AgentContext) -> RecordedEpisode:
    path = context.settings.file
    for episode in load_recordings(path):
        if (episode.task_index, episode.trial) == (context.task_index, context.trial):
            if episode.crashed:
                raise GreenroomError("The recorded episode crashed and was never played.")
            return episode
    raise DataError(f"{path} has no episode of task {context.task_index}, trial {context.trial}.")


strategy = AgentStrategy(
    "replay",
    lambda context: Replay(_recording(context)),
    "plays recorded episodes again",
    settings=ReplaySettings,
    create_user=lambda context: recorded_user(_recording(context)),
)
