"""Trajectories in the formats of others: of which task, what was said, and what it was worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter, ValidationError

from greenroom.errors import DataError
from greenroom.messages import Message
from greenroom.store.records import EpisodeRecord, RunRecord
from greenroom.store.trajectory_records import StepRecord, UserCallRecord
from greenroom.trajectories import (
    RESPOND,
    Conversation,
    SpokenStep,
    made_at_once,
    read_conversation,
    write_conversation,
)
from greenroom.util.json_values import as_dict

OWN = "greenroom"
"""Where other formats leave room for more, ours stands under this key."""

_calls = TypeAdapter(list[UserCallRecord])
_messages = TypeAdapter(list[Message])


@dataclass(frozen=True)
class TrajectoryFacts:
    """What a trajectory says of itself."""

    place: str
    """Where it stands, for errors."""
    task: int | str
    """The task's index in its split, or its id."""
    trial: int
    reward: float | None
    """None where nothing was recorded."""
    broken: bool = False
    """Something other than the agent ended it: it was never played to its end."""
    env: str | None = None
    """The domain, if it says."""
    task_split: str | None = None


@dataclass(frozen=True)
class RecordedTrajectory:
    """One trajectory of a file, as chat messages with the calls of both parties."""

    facts: TrajectoryFacts
    messages: Sequence[Mapping[str, Any]]

    def conversation(self) -> Conversation:
        """The steps of the trajectory."""
        try:
            return read_conversation(_messages.validate_python(self.messages), native=True)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise DataError(f"{self.facts.place} has a message that is none: {where}.") from error


def spoken_step(step: StepRecord) -> SpokenStep:
    """A step as part of a conversation."""
    action = step.action
    return SpokenStep(
        action.name,
        action.kwargs,
        step.observation,
        user_calls=tuple(map(spoken_call, step.user_calls)),
        aside=action.aside,
        joined=action.joined,
    )


def spoken_call(call: UserCallRecord) -> SpokenStep:
    """A call of the user as part of a conversation."""
    return SpokenStep(
        call.action.name, call.action.kwargs, call.observation, joined=call.action.joined
    )


def is_said(step: StepRecord) -> bool:
    """Whether a step is what the agent said to the user."""
    return step.action.name == RESPOND and step.invalid is None


def calls_and_words(steps: Iterable[StepRecord]) -> Iterator[StepRecord | list[StepRecord]]:
    """What the agent said, step by step, and the calls that it made at once."""
    for said, some in groupby(steps, key=is_said):
        if said:
            yield from some
        else:
            yield from made_at_once(some, lambda step: step.action.joined)


def user_messages(text: str, extra: Any, place: str) -> list[dict[str, Any]]:
    """What a user said, behind what they did before it, which stands in what is beside it."""
    try:
        calls = _calls.validate_python(as_dict(extra).get("calls") or [])
    except ValidationError as error:
        raise DataError(f"{place} has calls of the user that are none.") from error
    return write_conversation("", text, (), opening_calls=map(spoken_call, calls))[1:]


def own_facts(run: RunRecord, episode: EpisodeRecord) -> dict[str, Any]:
    """What is written of an episode under the key `greenroom`."""
    return {
        "version": run.greenroom_version,
        "run": run.name,
        "env": run.env,
        "task_split": run.task_split,
        "task_index": episode.task_index,
        "task_id": episode.task.id,
        "trial": episode.trial,
        "seed": episode.seed,
        "outcome": episode.outcome,
        "error": episode.error,
        "reward": episode.reward,
        "has_result": episode.has_result,
    }


def read_facts(
    extra: Mapping[str, Any],
    *,
    task: Any,
    place: str,
    trial: int = 0,
    reward: float | None = None,
    broken: bool = False,
) -> TrajectoryFacts:
    """What a trajectory says under `greenroom`, or else what its own format says."""
    own = as_dict(extra.get(OWN))
    index = own.get("task_index", task)
    if not isinstance(index, (int, str)) or isinstance(index, bool):
        raise DataError(
            f"{place} does not say which task it is of: `{OWN}.task_index` in its extra or "
            "metadata would."
        )
    count, worth = own.get("trial", trial), own.get("reward", reward)
    known = isinstance(worth, (int, float)) and math.isfinite(worth)
    return TrajectoryFacts(
        place=place,
        task=index,
        trial=count if isinstance(count, int) and count >= 0 else trial,
        reward=float(worth) if known else None,
        broken=broken or own.get("has_result") is False,
        env=_named(own.get("env")),
        task_split=_named(own.get("task_split")),
    )


def _named(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


__all__ = [
    "OWN",
    "RecordedTrajectory",
    "TrajectoryFacts",
    "calls_and_words",
    "is_said",
    "own_facts",
    "read_facts",
    "spoken_call",
    "spoken_step",
    "user_messages",
]
