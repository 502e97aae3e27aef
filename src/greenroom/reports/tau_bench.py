"""Tau Bench's own result file, written and read.

The file is a list of rows {task_id, reward, info, traj, trial}. Rows have two things more than Tau
Bench's, where its own readers do not look: `info.reward_info.parts` holds both parts of the reward,
and `info.greenroom` how the episode ended and what it took. A row of an infrastructure error says
so in its `info`, so that it is not taken for a failure of the agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from greenroom.reports.tau_bench_reader import OwnInfo, read_tau_bench
from greenroom.store.records import ActionRecord, EpisodeRecord, RunRecord
from greenroom.trajectories import RESPOND, SpokenStep, write_conversation
from greenroom.util.files import write_whole

__all__ = ["read_tau_bench", "result_file_name", "tau_bench_rows", "write_tau_bench"]

_LONGEST_NAME = 60


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
    broken = episode.outcome == "infrastructure_error"
    return {
        "task_id": episode.task_index,
        "reward": 0.0 if episode.reward is None else episode.reward,
        "info": _error_info(episode) if broken else _info(episode),
        "traj": [] if broken else _traj(run, episode),
        "trial": episode.trial,
    }


def _error_info(episode: EpisodeRecord) -> dict[str, Any]:
    return {"error": episode.error or "unknown", "infrastructure_error": True}


def _info(episode: EpisodeRecord) -> dict[str, Any]:
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
        "greenroom": OwnInfo(
            outcome=episode.outcome,
            attempts=episode.attempts,
            seed=episode.seed,
            started_at=episode.started_at,
            seconds=episode.seconds,
            usage=episode.usage,
            made_from_steps=episode.messages is None,
        ).model_dump(mode="json"),
    }


def _reward_info(episode: EpisodeRecord, actions: list[dict[str, Any]]) -> dict[str, Any] | None:
    details = episode.details
    if details is None:
        return None
    database = {"r_actions": float(details.database)}
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
        return episode.messages
    steps = (
        SpokenStep(**_action(step.action), observation=step.observation) for step in episode.steps
    )
    return write_conversation(run.policy, episode.opening, steps)


def _action(action: ActionRecord) -> dict[str, Any]:
    return action.model_dump(mode="json", include={"name", "kwargs"})
