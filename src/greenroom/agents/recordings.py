"""Recorded episodes: Tau Bench's result files read back as actions and observations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from greenroom.domains.actions import RESPOND, Action, respond
from greenroom.domains.packs import read_json
from greenroom.errors import DataError
from greenroom.messages import Message

_API_OUTPUT = "API output: "


@dataclass(frozen=True)
class RecordedStep:
    """An action and what came back; nothing did where the recording ends in between."""

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
        """What the user answered, in order."""
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


@lru_cache(maxsize=4)
def load_recordings(path: Path) -> tuple[RecordedEpisode, ...]:
    """The episodes of a Tau Bench result file."""
    try:
        rows = _result_rows.validate_python(read_json(path, list))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(
            f"{path} is no Tau Bench result file: {place}: {first['msg']}. "
            "It should be a list of {task_id, reward, info, traj, trial}."
        ) from error
    return tuple(_episode(row) for row in rows)


def _episode(row: _ResultRow) -> RecordedEpisode:
    spoken = [message for message in row.traj if message.role not in ("system", "developer")]
    opening = spoken[0].text if spoken and spoken[0].role == "user" else ""
    rest = spoken[1:] if opening else spoken
    native = any(message.tool_calls for message in rest)
    steps = _native_steps(rest) if native or not _has_text_actions(rest) else _text_steps(rest)
    return RecordedEpisode(row.task_id, row.trial, row.reward, opening, tuple(steps))


def _native_steps(messages: Sequence[Message]) -> Iterator[RecordedStep]:
    for place, message in enumerate(messages):
        if message.role != "assistant":
            continue
        following = messages[place + 1 :]
        if not message.tool_calls:
            answer = following[0].text if following and following[0].role == "user" else None
            yield RecordedStep(respond(message.text), answer)
            continue
        # Tau Bench runs the first of several calls only; a call that ran has an answer behind it.
        answers = [answer.text for answer in _leading_tool_messages(following)]
        for number, call in enumerate(message.tool_calls[: max(1, len(answers))]):
            action = Action(call.function.name, _arguments(call.function.arguments))
            yield RecordedStep(action, answers[number] if number < len(answers) else None)


def _leading_tool_messages(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        if message.role not in ("tool", "function"):
            return
        yield message


def _has_text_actions(messages: Sequence[Message]) -> bool:
    return any(m.role == "assistant" and "Action:" in m.text for m in messages)


def _text_steps(messages: Sequence[Message]) -> Iterator[RecordedStep]:
    # The act and react agents write their action as JSON behind "Action:"; anything else is said.
    for place, message in enumerate(messages):
        if message.role != "assistant":
            continue
        text = message.text.split("Action:")[-1].strip()
        following = messages[place + 1] if place + 1 < len(messages) else None
        answer = following.text if following is not None and following.role == "user" else None
        try:
            written = json.loads(text)
            action = Action(written["name"], written["arguments"])
        except (ValueError, KeyError, TypeError):
            action = respond(text)
        if answer is not None and action.name != RESPOND:
            answer = answer.removeprefix(_API_OUTPUT)
        yield RecordedStep(action, answer)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text or "{}")
    except ValueError:
        value = None
    # What is no object cannot be passed on: the tool then says which arguments it misses.
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
