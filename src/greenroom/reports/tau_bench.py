"""Tau Bench's own result file, written and read.

The file is a list of rows {task_id, reward, info, traj, trial}. Rows have two things more than Tau
Bench's, where its own readers do not look: `info.reward_info.parts` holds both parts of the reward,
and `info.greenroom` how the episode ended and what it took. A row of an infrastructure error says
so in its `info`, so that it is not counted as a failure of the agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from greenroom.errors import DataError
from greenroom.messages import Message
from greenroom.reports.recorded_trajectories import spoken_call, spoken_step
from greenroom.store.outcomes import NO_RESULT, Outcome
from greenroom.store.records import EpisodeRecord, RunRecord, Usage
from greenroom.store.tallies import Tallies
from greenroom.store.trajectory_records import (
    ActionRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
    UserCallRecord,
)
from greenroom.trajectories import (
    RESPOND,
    STOP,
    Conversation,
    SpokenStep,
    read_conversation,
    write_conversation,
)
from greenroom.util.files import write_whole

_LONGEST_NAME = 60
_TERMINATING_TOOL = "transfer_to_human_agents"


class OwnInfo(BaseModel):
    """What only Greenroom writes into a row, under `info.greenroom`."""

    version: str = ""
    agent_strategy: str = ""
    facts: dict[str, str] = Field(default_factory=dict[str, str])
    tallies: Tallies = Field(default_factory=Tallies)
    user_tallies: Tallies = Field(default_factory=Tallies)
    outcome: Outcome
    attempts: int = 1
    seed: int = 0
    started_at: datetime
    seconds: float = 0.0
    usage: dict[str, Usage] = Field(default_factory=dict[str, Usage])
    made_from_steps: bool = False
    """The agent held no messages: `traj` was made from what it did."""
    user_calls: list[list[UserCallRecord]] = Field(default_factory=list[list[UserCallRecord]])
    """What the user did before each of their messages, in a domain where users act."""


# Writing


def tau_bench_rows(run: RunRecord, episodes: Iterable[EpisodeRecord]) -> list[dict[str, Any]]:
    """The rows of a run's result file."""
    return [_row(run, episode) for episode in episodes]


def write_tau_bench(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a result file. It is there as a whole or not at all, whatever happens meanwhile."""
    write_whole(path, json.dumps(rows, indent=2))


def result_file_name(run: RunRecord) -> str:
    """The file's name as Tau Bench makes it, with nothing in it that a path cannot hold.

    {strategy}-{model}-{temperature}_range_{start}-{end}_user-{user model}-{user strategy}_{time}
    """
    config, tasks = run.config, run.task_indices
    start, end = config.get("start_index"), config.get("end_index")
    first = start if isinstance(start, int) else min(tasks, default=0)
    last = end if isinstance(end, int) else max(tasks, default=-1) + 1
    model, user_model = _safe(config.get("model")), _safe(config.get("user_model"))
    temperature = _safe(config.get("temperature"), "0.0")
    return (
        f"{_safe(run.agent_strategy)}-{model}-{temperature}_range_{first}-{last}"
        f"_user-{user_model}-{_safe(config.get('user_strategy'))}"
        f"_{run.created_at:%m%d%H%M%S}.json"
    )


def _safe(value: object, default: str = "none") -> str:
    text = re.sub(r"[^A-Za-z0-9._+=@-]+", "-", "" if value is None else str(value)).strip("-")
    return text[:_LONGEST_NAME] or default


def _row(run: RunRecord, episode: EpisodeRecord) -> dict[str, Any]:
    broken = not episode.has_result
    return {
        "task_id": episode.task_index,
        "reward": 0.0 if episode.reward is None else episode.reward,
        "info": {"error": episode.error or "unknown", "infrastructure_error": True}
        if broken
        else _info(run, episode),
        "traj": [] if broken else _traj(run, episode),
        "trial": episode.trial,
    }


def _info(run: RunRecord, episode: EpisodeRecord) -> dict[str, Any]:
    task = episode.task
    actions = [_action(action) for action in task.actions]
    user = episode.usage.get("user")
    return {
        "task": {
            "user_id": task.user_id,
            "actions": actions,
            "instruction": task.instruction,
            "outputs": task.outputs,
        },
        "source": episode.steps[-1].source if episode.steps else "user",
        "user_cost": user.cost if user is not None else None,
        "reward_info": _reward_info(episode, actions),
        "greenroom": OwnInfo.model_validate(
            {
                **dict(episode),
                "version": run.greenroom_version,
                "agent_strategy": run.agent_strategy,
                "made_from_steps": episode.messages is None,
                "user_calls": _all_user_calls(episode),
            }
        ).model_dump(mode="json"),
    }


def _all_user_calls(episode: EpisodeRecord) -> list[list[UserCallRecord]]:
    """The user's calls by message; Tau Bench's `traj` is what the agent saw and holds none."""
    answered = [step for step in episode.steps if step.action.name == RESPOND and not step.invalid]
    calls = [episode.opening_calls, *(step.user_calls for step in answered)]
    return calls if any(calls) else []


def _reward_info(episode: EpisodeRecord, actions: list[dict[str, Any]]) -> dict[str, Any] | None:
    details = episode.details
    if details is None:
        return None
    database = {
        "r_actions": float(details.database),
        # Tau Bench requires it. Runs of earlier versions did not keep it.
        "gt_data_hash": details.ground_truth_hash or "",
    }
    outputs = {"r_outputs": float(all(details.outputs.values())), "outputs": details.outputs}
    return {
        "reward": episode.reward,
        # Tau Bench shows one part only: the outputs where a task has any.
        "info": outputs if details.outputs else database,
        "actions": [action for action in actions if action["name"] != RESPOND],
        "parts": details.model_dump(mode="json"),
    }


def _traj(run: RunRecord, episode: EpisodeRecord) -> list[dict[str, Any]]:
    if episode.messages is not None:
        return exported_messages(episode.messages)
    # What the user did stands beside it: `traj` is what the agent saw.
    steps = (replace(spoken_step(step), user_calls=()) for step in episode.steps)
    return write_conversation(run.policy, episode.opening, steps)


def exported_messages(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages as Tau Bench's readers expect them: only the first is a system message.

    An agent's own notes are system messages further down. They stay in the run.
    """
    return [
        message
        for place, message in enumerate(messages)
        if place == 0 or message.get("role") != "system"
    ]


def _action(action: ActionRecord) -> dict[str, Any]:
    return action.model_dump(mode="json", include={"name", "kwargs"})


# Reading


class _RowAction(BaseModel):
    name: str
    kwargs: dict[str, Any] = Field(
        default_factory=dict[str, Any], validation_alias=AliasChoices("kwargs", "arguments")
    )


class _RowTask(BaseModel):
    instruction: str = ""
    user_id: str = ""
    actions: list[_RowAction] = Field(default_factory=list[_RowAction])
    outputs: list[str] = Field(default_factory=list[str])


class _RowRewardParts(BaseModel):
    r_actions: float | None = None
    gt_data_hash: str | None = None
    r_outputs: float | None = None
    outputs: dict[str, bool] = Field(default_factory=dict[str, bool])


class _RowRewardInfo(BaseModel):
    info: _RowRewardParts = Field(default_factory=_RowRewardParts)
    parts: RewardRecord | None = None


class _RowInfo(BaseModel):
    task: _RowTask | None = None
    reward_info: _RowRewardInfo | None = None
    error: str | None = None
    infrastructure_error: bool = False
    greenroom: OwnInfo | None = None


class ResultRow(BaseModel):
    """A row of a result file."""

    task_id: int
    reward: FiniteFloat
    info: _RowInfo = Field(default_factory=_RowInfo)
    traj: list[Message]
    trial: int = 0

    @property
    def crashed(self) -> bool:
        """An error ended the episode: it has no result."""
        info = self.info
        return info.infrastructure_error or (not self.traj and info.error is not None)

    def with_user_calls(self, spoken: Conversation) -> Conversation:
        """The conversation of the row with what the user did, if the row tells."""
        own = self.info.greenroom
        if own is None or not own.user_calls:
            return spoken
        first, *later = (tuple(map(spoken_call, calls)) for calls in own.user_calls)
        left = iter(later)
        steps = tuple(
            replace(step, user_calls=next(left, ()))
            if step.name == RESPOND and step.problem is None
            else step
            for step in spoken.steps
        )
        return Conversation(spoken.opening, steps, first)


_rows = TypeAdapter(list[ResultRow])


def read_tau_bench(path: Path, *, write_tools: Collection[str] = ()) -> list[EpisodeRecord]:
    """The episodes of any Tau Bench result file.

    The file does not say which tools change the database: `write_tools` does. What it does not
    know of an episode, such as when it was played, is taken from the file itself or left out.
    """
    try:
        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        rows = _rows.validate_python(content)
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}."
        ) from error
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
    played = zip(rows, content, strict=True)
    return [_episode(row, raw["traj"], written_at, tools) for row, raw in played]


def _episode(
    row: ResultRow,
    messages: list[dict[str, Any]],
    written_at: datetime,
    write_tools: frozenset[str],
) -> EpisodeRecord:
    info = row.info
    made_from_steps = info.greenroom is not None and info.greenroom.made_from_steps
    spoken = read_conversation(row.traj, native=made_from_steps or None)
    task = info.task or _RowTask()
    own = info.greenroom or OwnInfo(outcome=_outcome(row, spoken), started_at=written_at)
    return EpisodeRecord(
        task_index=row.task_id,
        trial=row.trial,
        reward=None if row.crashed else row.reward,
        task=TaskRecord(
            instruction=task.instruction,
            user_id=task.user_id,
            actions=[_record(a, write_tools) for a in task.actions],
            outputs=task.outputs,
        ),
        opening=spoken.opening,
        opening_calls=own.user_calls[0] if own.user_calls else [],
        steps=_steps(spoken, write_tools, own.user_calls[1:]),
        messages=None if made_from_steps or not messages else messages,
        details=_details(row),
        error=info.error if row.crashed else None,
        **dict(own, outcome=NO_RESULT if row.crashed else own.outcome),
    )


def _outcome(row: ResultRow, spoken: Conversation) -> Outcome:
    if row.reward >= 1:
        return "success"
    last = spoken.steps[-1] if spoken.steps else None
    answered = last is not None and last.name == RESPOND and STOP in (last.observation or "")
    ended = answered or (last is not None and last.name == _TERMINATING_TOOL)
    # The reward is worked out when the conversation ends, and only then.
    return "failure" if ended or row.info.reward_info is not None else "max_steps"


def _steps(
    spoken: Conversation, write_tools: frozenset[str], user_calls: list[list[UserCallRecord]]
) -> list[StepRecord]:
    steps: list[StepRecord] = []
    calls, none = iter(user_calls), list[UserCallRecord]()
    turn = 1
    for step in spoken.steps:
        talks = step.name == RESPOND
        observation = step.observation or ""
        steps.append(
            StepRecord(
                action=_record(step, write_tools),
                observation=observation,
                source="user" if talks else step.name,
                turn=turn,
                invalid=step.problem or _invalid(observation, step.name),
                user_calls=next(calls, none) if talks else none,
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


def _details(row: ResultRow) -> RewardRecord | None:
    """Both parts of the reward, where they are written or follow from what is."""
    reward_info = row.info.reward_info
    if reward_info is None:
        return None
    if reward_info.parts is not None:
        return reward_info.parts
    parts = reward_info.info
    if parts.r_actions is not None:
        return RewardRecord(
            database=bool(parts.r_actions),
            outputs=parts.outputs,
            ground_truth_hash=parts.gt_data_hash or None,
        )
    if row.reward >= 1 or all(parts.outputs.values()):
        return RewardRecord(database=row.reward >= 1, outputs=parts.outputs)
    return None  # outputs are missing, and nothing tells how the database ended


def _record(step: SpokenStep | _RowAction, write_tools: frozenset[str]) -> ActionRecord:
    record = ActionRecord(name=step.name, kwargs=step.kwargs, writes=step.name in write_tools)
    if isinstance(step, SpokenStep):
        return record.model_copy(update={"aside": step.aside, "joined": step.joined})
    return record
