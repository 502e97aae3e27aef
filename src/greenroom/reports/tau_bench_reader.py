"""Tau Bench's result files read back as episodes: official ones, and those that we write."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
)

from greenroom.errors import DataError
from greenroom.messages import Message
from greenroom.store.records import (
    ActionRecord,
    EpisodeRecord,
    Outcome,
    RewardRecord,
    StepRecord,
    TaskRecord,
    Usage,
)
from greenroom.trajectories import RESPOND, STOP, Conversation, read_conversation

_TERMINATING_TOOL = "transfer_to_human_agents"


class _RowModel(BaseModel):
    model_config = ConfigDict(extra="ignore")


class OwnInfo(_RowModel):
    """What only Greenroom writes into a row, under `info.greenroom`."""

    outcome: Outcome
    attempts: int = 1
    seed: int = 0
    started_at: datetime
    seconds: float = 0.0
    usage: dict[str, Usage] = Field(default_factory=dict[str, Usage])
    made_from_steps: bool = False
    """The agent held no messages: `traj` was made from what it did."""


class _RowAction(_RowModel):
    name: str
    kwargs: dict[str, Any] = Field(
        default_factory=dict[str, Any], validation_alias=AliasChoices("kwargs", "arguments")
    )


class _RowTask(_RowModel):
    instruction: str = ""
    user_id: str = ""
    actions: list[_RowAction] = Field(default_factory=list[_RowAction])
    outputs: list[str] = Field(default_factory=list[str])


class _RowRewardParts(_RowModel):
    r_actions: float | None = None
    r_outputs: float | None = None
    outputs: dict[str, bool] = Field(default_factory=dict[str, bool])


class _RowRewardInfo(_RowModel):
    info: _RowRewardParts = Field(default_factory=_RowRewardParts)
    parts: RewardRecord | None = None


class _RowInfo(_RowModel):
    task: _RowTask | None = None
    reward_info: _RowRewardInfo | None = None
    error: str | None = None
    infrastructure_error: bool = False
    greenroom: OwnInfo | None = None


class _Row(_RowModel):
    task_id: int
    reward: FiniteFloat
    info: _RowInfo = Field(default_factory=_RowInfo)
    traj: list[Message]
    trial: int = 0


_rows = TypeAdapter(list[_Row])


def read_tau_bench(path: Path, *, write_tools: Collection[str] = ()) -> list[EpisodeRecord]:
    """The episodes of any Tau Bench result file.

    The file does not say which tools change the database: `write_tools` does. What it does not
    know of an episode, such as when it was played, is taken from the file itself or left out.
    """
    text, written_at = _read(path)
    try:
        content: Any = json.loads(text)
        rows = _rows.validate_python(content)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError as error:
        raise DataError(
            f"{path} is not a Tau Bench result file: it is nested too deeply."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise DataError(
            f"{path} is not a Tau Bench result file: {place}: {first['msg']}. "
            "It should be a list of {task_id, reward, info, traj, trial}."
        ) from error
    tools = frozenset(write_tools)
    return [
        _episode(row, raw["traj"], written_at, tools)
        for row, raw in zip(rows, content, strict=True)
    ]


def _read(path: Path) -> tuple[str, datetime]:
    try:
        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return path.read_text(encoding="utf-8"), written_at
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}."
        ) from error


def _episode(
    row: _Row, messages: list[dict[str, Any]], written_at: datetime, write_tools: frozenset[str]
) -> EpisodeRecord:
    info, own = row.info, row.info.greenroom
    broken = info.infrastructure_error or (not row.traj and info.error is not None)
    made_from_steps = own is not None and own.made_from_steps
    spoken = read_conversation(row.traj, native=made_from_steps or None)
    task = info.task or _RowTask()
    outcome = own.outcome if own is not None else _outcome(row, spoken)
    return EpisodeRecord(
        task_index=row.task_id,
        trial=row.trial,
        outcome="infrastructure_error" if broken else outcome,
        reward=None if broken else row.reward,
        task=TaskRecord(
            instruction=task.instruction,
            user_id=task.user_id,
            actions=[_record(a.name, a.kwargs, write_tools) for a in task.actions],
            outputs=task.outputs,
        ),
        opening=spoken.opening,
        steps=_steps(spoken, write_tools),
        messages=None if made_from_steps or not messages else messages,
        details=_details(row),
        error=info.error if broken else None,
        attempts=own.attempts if own is not None else 1,
        seed=own.seed if own is not None else 0,
        started_at=own.started_at if own is not None else written_at,
        seconds=own.seconds if own is not None else 0.0,
        usage=own.usage if own is not None else {},
    )


def _outcome(row: _Row, spoken: Conversation) -> Outcome:
    if row.reward >= 1:
        return "success"
    last = spoken.steps[-1] if spoken.steps else None
    answered = last is not None and last.name == RESPOND and STOP in (last.observation or "")
    ended = answered or (last is not None and last.name == _TERMINATING_TOOL)
    # The reward is worked out when the conversation ends, and only then.
    return "failure" if ended or row.info.reward_info is not None else "max_steps"


def _steps(spoken: Conversation, write_tools: frozenset[str]) -> list[StepRecord]:
    steps: list[StepRecord] = []
    turn = 1
    for step in spoken.steps:
        talks = step.name == RESPOND
        observation = step.observation or ""
        steps.append(
            StepRecord(
                action=_record(step.name, step.kwargs, write_tools),
                observation=observation,
                source="user" if talks else step.name,
                turn=turn,
                invalid=step.problem or _invalid(observation, step.name),
            )
        )
        turn += talks
    return steps


def _invalid(observation: str, name: str) -> str | None:
    """Why a tool's answer says that the call was not a valid one, if it does."""
    if name == RESPOND:
        return None
    mismatch = re.match(r"Error: (\w+\.invoke\(\) (?:got|missing) .*)", observation)
    if mismatch:
        return mismatch[1]
    return observation if observation == f"Unknown action {name}" else None


def _details(row: _Row) -> RewardRecord | None:
    """Both parts of the reward, where they are written or follow from what is."""
    reward_info = row.info.reward_info
    if reward_info is None:
        return None
    if reward_info.parts is not None:
        return reward_info.parts
    parts = reward_info.info
    if parts.r_actions is not None:
        return RewardRecord(database=bool(parts.r_actions), outputs=parts.outputs)
    if row.reward >= 1 or all(parts.outputs.values()):
        return RewardRecord(database=row.reward >= 1, outputs=parts.outputs)
    return None  # outputs are missing, and nothing tells how the database ended


def _record(name: str, kwargs: dict[str, Any], write_tools: frozenset[str]) -> ActionRecord:
    return ActionRecord(name=name, kwargs=kwargs, writes=name in write_tools)
