"""Rewind: a stored episode opened at any turn, with its world restored to just there.

Turn K begins when the user has spoken for the K-th time, so at turn 1 nothing has been done yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenroom.agents.history import History, PastStep, check_takes_over
from greenroom.benchmark.context import RunContext
from greenroom.benchmark.restoring import ObservationDifference, restore
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment, UserCall
from greenroom.domains.tasks import RESPOND, STOP, Action
from greenroom.errors import InputError
from greenroom.store import EpisodeRecord, RewindPoint, RunRecord, Store, UserCallRecord
from greenroom.users import ScriptedUser


@dataclass(frozen=True)
class Rewound:
    """A stored episode at one of its places."""

    point: RewindPoint
    episode: EpisodeRecord
    environment: Environment
    """As it was at the place; its user stops at the next word."""
    differences: tuple[ObservationDifference, ...]
    """Where the tools answer otherwise than they did."""


def stored_episode(store: Store, run: RunRecord, task_index: int, trial: int = 0) -> EpisodeRecord:
    """An episode of a run; raises InputError if there is none."""
    episode = store.runs.result(run.id, (task_index, trial))
    if episode is None:
        played = sorted(
            one.trial for one in store.runs.summaries(run.id) if one.task_index == task_index
        )
        known = f"its trials are {_listed(played)}" if played else "the task was not played"
        raise InputError(
            f"The run '{run.name}' has no trial {trial} of task {task_index}: {known}."
        )
    return episode


def check_not_pruned(run: RunRecord, episode: EpisodeRecord) -> None:
    """Raise InputError for an episode that nobody can go on from any more."""
    if episode.pruned is not None:
        raise InputError(
            f"Task {episode.task_index}, trial {episode.trial} of '{run.name}' cannot be played "
            f"again: {episode.pruned}."
        )


def turn_starts(episode: EpisodeRecord) -> list[int]:
    """For each turn, how many steps come before it; the last may be one that was never begun."""
    starts = [0]
    for number, step in enumerate(episode.steps, start=1):
        if step.action.name == RESPOND:
            starts.append(number)
    last = episode.steps[-1] if episode.steps else None
    stopped = episode.details is not None or (last is not None and STOP in last.observation)
    if last is not None and last.action.name == RESPOND and stopped:
        starts.pop()  # the user has stopped: there is no turn after the last one
    return starts


def find_point(
    run: RunRecord, episode: EpisodeRecord, *, turn: int | None = None, step: int | None = None
) -> RewindPoint:
    """The place where a turn begins, or where a step is the next one; both count from 1."""
    check_not_pruned(run, episode)
    starts = turn_starts(episode)
    if (turn is None) == (step is None):
        raise InputError("Name the turn or the step to go on from: one of them.")
    if turn is not None:
        if not 1 <= turn <= len(starts):
            raise InputError(
                f"Task {episode.task_index}, trial {episode.trial} of '{run.name}' has no turn "
                f"{turn}: its turns are {_span(len(starts))}."
            )
        kept = starts[turn - 1]
    else:
        assert step is not None
        if not 1 <= step <= len(episode.steps) + 1:
            raise InputError(
                f"Task {episode.task_index}, trial {episode.trial} of '{run.name}' has no step "
                f"{step}: its steps are {_span(len(episode.steps) + 1)}."
            )
        kept = step - 1
    return RewindPoint(
        run_id=run.id,
        run_name=run.name,
        task_index=episode.task_index,
        trial=episode.trial,
        turn=1 + sum(one.action.name == RESPOND for one in episode.steps[:kept]),
        steps=kept,
    )


def history_of(episode: EpisodeRecord, steps: int, *, own: bool) -> History:
    """What was played of an episode up to a place; `own` for an agent of the kind that played."""
    return History(
        opening=episode.opening,
        steps=tuple(
            PastStep(
                Action(
                    step.action.name,
                    step.action.kwargs,
                    aside=step.action.aside,
                    joined=step.action.joined,
                ),
                step.observation,
                calls_of(step.user_calls),
            )
            for step in episode.steps[:steps]
        ),
        opening_calls=calls_of(episode.opening_calls),
        messages=episode.messages if own else None,
        trial=episode.trial,
        seed=episode.seed,
    )


def calls_of(records: Sequence[UserCallRecord]) -> tuple[UserCall, ...]:
    """What a user did, from its record."""
    return tuple(
        UserCall(
            Action(one.action.name, one.action.kwargs, "user", joined=one.action.joined),
            one.observation,
            one.invalid,
            one.failed,
        )
        for one in records
    )


def taken_over(store: Store, context: RunContext, point: RewindPoint) -> RunContext:
    """The context of episodes that go on from a place in a stored one."""
    run = store.runs.find(point.run_id)
    episode = stored_episode(store, run, point.task_index, point.trial)
    own = run.agent_strategy == context.strategy.name
    history = history_of(episode, point.steps, own=own)
    check_takes_over(context.strategy, history)
    return replace(context, history=history)


async def open_at(
    domain: Domain, episode: EpisodeRecord, point: RewindPoint, *, split: str, max_steps: int
) -> Rewound:
    """An episode at one of its places, with its world restored to just there."""
    environment = Environment(domain, ScriptedUser(), split=split, max_steps=max_steps)
    history = history_of(episode, point.steps, own=False)
    differences = await restore(environment, point.task_index, history)
    return Rewound(point, episode, environment, differences)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _span(last: int) -> str:
    return "only 1" if last == 1 else f"1 to {last}"


__all__ = [
    "Rewound",
    "calls_of",
    "find_point",
    "history_of",
    "open_at",
    "stored_episode",
    "taken_over",
    "turn_starts",
]
