"""From an episode as it was played to the record that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
        messages=episode.messages,
        usage=episode.usage,
        model_seconds=episode.model_seconds,
        turn_seconds=episode.turn_seconds,
        facts=episode.facts,
        tallies=episode.tallies,
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
    return ActionRecord(name=action.name, kwargs=dict(action.kwargs), writes=writes)


def _step_records(tools: Toolset, steps: Iterable[Step]) -> Iterator[StepRecord]:
    turn = 1
    for step in steps:
        yield StepRecord(
            action=_action_record(tools, step.action),
            observation=step.observation,
            source=step.source,
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
        expected=None if expected is ABSENT else expected,
        actual=None if actual is ABSENT else actual,
        absent="expected" if expected is ABSENT else "actual" if actual is ABSENT else None,
    )
