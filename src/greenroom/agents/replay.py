"""The replay agent: plays recorded trajectories again, with the recorded user messages.

The recordings are Tau Bench's result files, logs of Inspect, or trajectories in ATIF.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from greenroom.reports.recorded_files import load_trajectories
from greenroom.reports.recorded_trajectories import RecordedTrajectory
from greenroom.reports.tau_bench import ResultRow
from greenroom.trajectories import SpokenStep, read_conversation
from greenroom.users import ScriptedUser


@dataclass(frozen=True)
class RecordedEpisode:
    """One episode of a result file."""

    task_index: int
    trial: int
    reward: float | None
    """None where none was recorded."""
    opening: str
    steps: tuple[SpokenStep, ...]
    crashed: bool = False
    """It was never played: an error ended it."""
    opening_calls: tuple[SpokenStep, ...] = ()
    """What the user did before their first message."""

    @property
    def user_lines(self) -> list[str | Action]:
        """What the user did and answered, in order."""
        lines: list[str | Action] = []
        for step in self.steps:
            if step.name == RESPOND:
                lines += _calls(step.user_calls)
                lines += [] if step.observation is None else [step.observation]
        return lines


_result_rows = TypeAdapter(list[ResultRow])


def load_recordings(
    path: Path, task_indices: Mapping[str, int] | None = None
) -> tuple[RecordedEpisode, ...]:
    """The episodes of a result file; an unchanged file is read once.

    Files of others may name tasks by their ids: `task_indices` tells which these are.
    """
    try:
        found = path.stat()
    except OSError:
        return _rows(path, 0, 0)  # which says what is wrong with it
    place = path.resolve(), found.st_mtime_ns, found.st_size
    trajectories = _trajectories(*place)
    if trajectories is None:
        return _rows(*place)
    return tuple(_recorded(one, task_indices or {}) for one in trajectories)


def holds_trajectories(path: Path) -> bool:
    """Whether a file is a log of Inspect or ATIF."""
    found = path.stat()
    return _trajectories(path.resolve(), found.st_mtime_ns, found.st_size) is not None


def place_of(path: Path) -> dict[str, str]:
    """The domain and the split that all trajectories of a file name; empty if they do not."""
    found = path.stat()
    trajectories = _trajectories(path.resolve(), found.st_mtime_ns, found.st_size) or ()
    places: dict[str, set[str | None]] = {
        "env": {one.facts.env for one in trajectories},
        "task_split": {one.facts.task_split for one in trajectories},
    }
    agreed = {name: found.pop() for name, found in places.items() if len(found) == 1}
    return {name: one for name, one in agreed.items() if one is not None}


@lru_cache(maxsize=4)
def _trajectories(path: Path, changed_at: int, size: int) -> tuple[RecordedTrajectory, ...] | None:
    found = load_trajectories(path)
    return None if found is None else tuple(found)


def _recorded(one: RecordedTrajectory, task_indices: Mapping[str, int]) -> RecordedEpisode:
    facts, spoken = one.facts, one.conversation()
    index = facts.task if isinstance(facts.task, int) else task_indices.get(facts.task)
    if index is None and str(facts.task).isdecimal():
        index = int(facts.task)
    if index is None:
        raise DataError(f"{facts.place} is of the task '{facts.task}', which is not known here.")
    return RecordedEpisode(
        index,
        facts.trial,
        facts.reward,
        spoken.opening,
        spoken.steps,
        facts.broken,
        spoken.opening_calls,
    )


@lru_cache(maxsize=4)
def _rows(path: Path, changed_at: int, size: int) -> tuple[RecordedEpisode, ...]:
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
            row.task_id,
            row.trial,
            row.reward,
            spoken.opening,
            spoken.steps,
            row.crashed,
            spoken.opening_calls,
        )
        for row in rows
        for spoken in (row.with_user_calls(read_conversation(row.traj)),)
    )


def _calls(steps: Iterable[SpokenStep]) -> list[Action]:
    return [Action(step.name, step.kwargs, "user", joined=step.joined) for step in steps]


class ReplaySettings(Settings):
    """The settings of the replay agent."""

    file: Path = Field(
        description="A result file of Tau Bench, a log of Inspect, or trajectories in ATIF."
    )

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        load_recordings(self.file)
        return self


class Replay:
    """Repeats the recorded actions until the episode ends."""

    def __init__(self, recording: RecordedEpisode, *, start: int = 0) -> None:
        self._steps = recording.steps[start:]

    async def play(self, stage: Stage) -> None:
        for step in self._steps:
            if stage.over:
                return
            action = Action(step.name, step.kwargs, aside=step.aside, joined=step.joined)
            await stage.step(action)


def recorded_user(recording: RecordedEpisode) -> ScriptedUser:
    """A user with the recorded messages and calls."""
    return ScriptedUser(
        recording.user_lines,
        opening=recording.opening,
        opening_calls=_calls(recording.opening_calls),
    )


def _recording(context: AgentContext) -> RecordedEpisode:
    path, history = context.settings.file, context.history
    trial = context.trial if history is None else history.trial
    for episode in load_recordings(path):
        if (episode.task_index, episode.trial) == (context.task_index, trial):
            if episode.crashed:
                raise GreenroomError("The recorded episode crashed and was never played.")
            return episode
    raise DataError(f"{path} has no episode of task {context.task_index}, trial {trial}.")


def _create(context: AgentContext) -> Replay:
    history = context.history
    return Replay(_recording(context), start=0 if history is None else len(history.steps))


strategy = AgentStrategy(
    "replay",
    _create,
    "plays recorded episodes again",
    settings=ReplaySettings,
    create_user=lambda context: recorded_user(_recording(context)),
    takes_over="history",
)
