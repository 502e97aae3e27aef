"""From an episode as it was played to the record that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from greenroom.benchmark.episode import Episode
from greenroom.domains.diff import ABSENT, FieldDifference
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Step
from greenroom.domains.reward import Reward
from greenroom.domains.tasks import RESPOND, Action, Task
from greenroom.domains.tools import Toolset
from greenroom.store import (
    ActionRecord,
    DifferenceRecord,
    EpisodeRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
)
from greenroom.users import flags_of_steps
from greenroom.util.raw_json import DEEPEST, plain, raw_text


def episode_record(
    domain: Domain, episode: Episode, *, split: str, attempts: int = 1
) -> EpisodeRecord:
    """The record of an episode, with its task and all that is needed to understand it later."""
    return EpisodeRecord(
        task_index=episode.task_index,
        trial=episode.trial,
        outcome=episode.outcome,
        reward=episode.reward,
        task=_task_record(domain.tools, domain.task(episode.task_index, split)),
        opening=episode.opening,
        steps=list(_step_records(domain.tools, episode.steps)),
        details=None if episode.details is None else _reward_record(episode.details),
        error=episode.error,
        attempts=attempts,
        seed=episode.seed,
        started_at=episode.started_at,
        seconds=episode.seconds,
        messages=_messages(episode.messages),
        usage=episode.usage,
        model_seconds=episode.model_seconds,
        turn_seconds=episode.turn_seconds,
        facts={name: _text(fact) for name, fact in _entries(episode.facts).items()},
        tallies={
            name: {what: _number(count) for what, count in _entries(counts).items()}
            for name, counts in _entries(episode.tallies).items()
        },
        flags=flags_of_steps(episode.opening, episode.steps),
    )


def _task_record(tools: Toolset, task: Task) -> TaskRecord:
    return TaskRecord(
        instruction=task.instruction,
        user_id=task.user_id,
        actions=[_action_record(tools, action) for action in task.actions],
        outputs=list(task.outputs),
        id=task.id,
        tags=list(task.tags),
    )


def _action_record(tools: Toolset, action: Action) -> ActionRecord:
    tool = tools.get(action.name)
    writes = tool is not None and tool.writes
    return ActionRecord(name=_text(action.name), kwargs=_entries(action.kwargs), writes=writes)


# Agents are anybody's code: what they leave behind may be anything, and a record holds JSON.


def _entries(value: Any) -> dict[str, Any]:
    return plain(value, DEEPEST) if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else raw_text(plain(value, DEEPEST))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _messages(value: Any) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [_entries(message) for message in cast("list[Any]", value)]


def _step_records(tools: Toolset, steps: Iterable[Step]) -> Iterator[StepRecord]:
    turn = 1
    for step in steps:
        yield StepRecord(
            action=_action_record(tools, step.action),
            observation=step.observation,
            source=_text(step.source),
            turn=turn,
            invalid=step.invalid,
        )
        if step.action.name == RESPOND:
            turn += 1


def _reward_record(reward: Reward) -> RewardRecord:
    return RewardRecord(
        database=reward.database,
        outputs=reward.outputs,
        strict_outputs=reward.strict_outputs,
        differences=[_difference_record(difference) for difference in reward.differences],
        # Tau Bench's result file names it where it shows the database's part of the reward.
        ground_truth_hash=None if reward.outputs else reward.truth.database_hash,
    )


def _difference_record(difference: FieldDifference) -> DifferenceRecord:
    expected, actual = difference.expected, difference.actual
    return DifferenceRecord(
        table=difference.table,
        record=difference.record,
        path=difference.path,
        expected=None if expected is ABSENT else plain(expected, DEEPEST),
        actual=None if actual is ABSENT else plain(actual, DEEPEST),
        absent="expected" if expected is ABSENT else "actual" if actual is ABSENT else None,
    )
