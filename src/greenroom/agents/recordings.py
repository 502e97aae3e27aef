"""Recorded episodes: Tau Bench's result files read back as actions and observations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from greenroom.domains.packs import read_json
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import DataError
from greenroom.messages import Message
from greenroom.trajectories import read_conversation


@dataclass(frozen=True)
class RecordedStep:
    """An action and its observation; None if the recording ends before it."""

    action: Action
    observation: str | None


@dataclass(frozen=True)
class RecordedEpisode:
    """One row of a result file."""

    task_index: int
    trial: int
    reward: float
    opening: str
    steps: tuple[RecordedStep, ...]

    @property
    def user_replies(self) -> list[str]:
        """The user's answers, in order."""
        return [
            step.observation
            for step in self.steps
            if step.action.name == RESPOND and step.observation is not None
        ]


class _ResultRow(BaseModel):
    model_config = ConfigDict(extra="ignore")

    task_id: int
    reward: float
    traj: list[Message]
    trial: int = 0


_result_rows = TypeAdapter(list[_ResultRow])


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
    return tuple(_episode(row) for row in rows)


def _episode(row: _ResultRow) -> RecordedEpisode:
    conversation = read_conversation(row.traj)
    steps = tuple(
        RecordedStep(Action(step.name, step.kwargs), step.observation)
        for step in conversation.steps
    )
    return RecordedEpisode(row.task_id, row.trial, row.reward, conversation.opening, steps)
