"""The world of a recorded episode, restored to the place where somebody takes over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from greenroom.agents.history import History, PastStage
from greenroom.agents.strategies import AgentContext, Stage
from greenroom.domains.environment import Environment, Step, UserCall
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError
from greenroom.tracing import spans
from greenroom.users import ScriptedUser


@dataclass(frozen=True)
class ObservationDifference:
    """A tool that answers otherwise than it did when the episode was recorded."""

    step: int
    tool: str
    recorded: str
    replayed: str


async def restore(
    environment: Environment, task_index: int, history: History
) -> tuple[ObservationDifference, ...]:
    """Carry out the recorded actions again on a fresh world: what is answered otherwise.

    The user's replies and calls come from the record; the environment's own user is not asked.
    """
    user = environment.user
    environment.user = recorded_user(history)
    try:
        with spans.opened("restore", {}):
            await environment.reset(task_index)
            for number, step in enumerate(history.steps, start=1):
                if environment.over:
                    raise _ended(environment, number)
                await environment.step(step.action)
    finally:
        environment.user = user
    if environment.over:
        raise _ended(environment, len(history.steps) + 1)
    differences = _differences(history, environment.opening_calls, environment.steps)
    # What was observed stays what was observed.
    environment.opening_calls = history.opening_calls
    environment.steps = [
        replace(now, observation=then.observation, user_calls=then.user_calls)
        for then, now in zip(history.steps, environment.steps, strict=True)
    ]
    return differences


def recorded_user(history: History) -> ScriptedUser:
    """A user who says and does what was recorded."""
    first, *later = history.user_calls
    lines: list[str | Action] = []
    for (_, reply), calls in zip(history.exchanges, later, strict=True):
        lines += [*(call.action for call in calls), reply]
    return ScriptedUser(
        lines, opening=history.opening, opening_calls=[call.action for call in first]
    )


async def begin(environment: Environment, task_index: int, history: History | None) -> None:
    """Begin an episode, or take over after a history."""
    if history is None:
        await environment.reset(task_index)
        return
    await restore(environment, task_index, history)
    task, user = environment.task, environment.user
    assert task is not None, "a restored environment has a task"
    environment.equip_user(task, history.user_calls)
    take_over = getattr(user, "take_over", None)
    assert take_over is not None, "the user of a rewound episode takes over"
    await take_over(task.instruction, history.opening, history.exchanges)


def stage_of(environment: Environment, context: AgentContext) -> Stage:
    """The stage for an agent, at the beginning or where it takes over."""
    playback = context.playback
    return Stage(environment) if playback is None else PastStage(environment, playback)


def _differences(
    history: History, opening_calls: Sequence[UserCall], steps: Sequence[Step]
) -> tuple[ObservationDifference, ...]:
    found: list[ObservationDifference] = list(_of_user(0, history.opening_calls, opening_calls))
    for number, (then, now) in enumerate(zip(history.steps, steps, strict=True)):
        if then.action.name != RESPOND and then.observation != now.observation:
            found.append(
                ObservationDifference(number, then.action.name, then.observation, now.observation)
            )
        found += _of_user(number, then.user_calls, now.user_calls)
    return tuple(found)


def _of_user(
    number: int, then: Sequence[UserCall], now: Sequence[UserCall]
) -> Iterator[ObservationDifference]:
    for past, call in zip(then, now, strict=True):
        if past.observation != call.observation:
            name = past.action.name
            yield ObservationDifference(number, name, past.observation, call.observation)


def _ended(environment: Environment, step: int) -> InputError:
    why = (
        "the conversation had ended by then"
        if environment.done
        else f"all of its {environment.max_steps} steps were taken by then: --max-num-steps allows "
        "more"
    )
    return InputError(f"The episode cannot go on from step {step}: {why}. Choose an earlier turn.")


__all__ = ["ObservationDifference", "begin", "restore", "stage_of"]
