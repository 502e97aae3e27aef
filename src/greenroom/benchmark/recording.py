"""From an episode as it was played to the record that is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from greenroom.benchmark.episode import Episode
from greenroom.domains.diff import ABSENT, FieldDifference
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Step, UserCall
from greenroom.domains.reward import Reward
from greenroom.domains.tasks import RESPOND, Action, Task
from greenroom.store import (
    ActionCheckRecord,
    ActionRecord,
    AssertionRecord,
    DifferenceRecord,
    EpisodeRecord,
    JudgedRecord,
    RewardRecord,
    StepRecord,
    TaskRecord,
    UserCallRecord,
)
from greenroom.store.tallies import tallies_of
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
        task=_task_record(domain, domain.task(episode.task_index, split)),
        opening=episode.opening,
        opening_calls=[_user_call_record(domain, call) for call in episode.opening_calls],
        steps=list(_step_records(domain, episode.steps)),
        details=None if episode.details is None else reward_record(domain, episode.details),
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
        tallies=tallies_of(episode.tallies),
        user_tallies=tallies_of(episode.user_tallies),
        printed=_text(episode.printed),
    )


def _task_record(domain: Domain, task: Task) -> TaskRecord:
    return TaskRecord(
        instruction=task.instruction,
        user_id=task.user_id,
        actions=[_action_record(domain, action) for action in task.actions],
        outputs=list(task.outputs),
        id=task.id,
        tags=list(task.tags),
    )


def _action_record(domain: Domain, action: Action) -> ActionRecord:
    tool = domain.edition.tool(action.party, action.name)
    return ActionRecord(
        name=_text(action.name),
        kwargs=_entries(action.kwargs),
        writes=tool is not None and tool.writes,
        party=action.party,
        aside=_text(action.aside),
        joined=bool(action.joined),
    )


def _user_call_record(domain: Domain, call: UserCall) -> UserCallRecord:
    return UserCallRecord(
        action=_action_record(domain, call.action),
        observation=call.observation,
        invalid=call.invalid,
        failed=call.failed,
    )


# Agents are anybody's code: what they leave behind may be anything, and a record holds JSON.


def _entries(value: Any) -> dict[str, Any]:
    return plain(value, DEEPEST) if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else raw_text(plain(value, DEEPEST))


def _messages(value: Any) -> list[dict[str, Any]] | None:
    if not isinstance(value, list):
        return None
    return [_entries(message) for message in cast("list[Any]", value)]


def _step_records(domain: Domain, steps: Iterable[Step]) -> Iterator[StepRecord]:
    turn = 1
    for step in steps:
        yield StepRecord(
            action=_action_record(domain, step.action),
            observation=step.observation,
            source=_text(step.source),
            turn=turn,
            invalid=step.invalid,
            failed=step.failed,
            user_calls=[_user_call_record(domain, call) for call in step.user_calls],
        )
        if step.action.name == RESPOND:
            turn += 1


def reward_record(domain: Domain, reward: Reward) -> RewardRecord:
    """The record of a reward, with every part of it."""
    return RewardRecord(
        database=reward.database,
        basis=list(reward.basis),
        assertions=[
            AssertionRecord(
                name=one.assertion.name,
                kwargs=_entries(one.assertion.kwargs),
                party=one.assertion.party,
                expected=one.assertion.expected,
                met=one.met,
                message=one.assertion.message,
                error=one.error,
            )
            for one in reward.assertions
        ],
        actions=[
            ActionCheckRecord(action=_action_record(domain, one.action), found=one.found)
            for one in reward.actions
        ],
        judged=[
            JudgedRecord(sentence=one.sentence, met=one.met, reason=one.reason)
            for one in reward.judged
        ],
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
