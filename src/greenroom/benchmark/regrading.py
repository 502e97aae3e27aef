"""An episode graded again, without being played: by other tasks, another basis or a new judge.

Its calls are made again on the new data. The second grade is refused where they cannot be: then the
conversation would have gone otherwise, and nobody knows how.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from greenroom.domains.domain import Domain
from greenroom.domains.plugins import TAU2
from greenroom.domains.reward import Reward, check_outputs, find_action, score
from greenroom.domains.steps import Step, Trajectory, UserCall
from greenroom.domains.tasks import Action, Basis, Task
from greenroom.domains.tau2.counterparts import are_alike, counterpart

if TYPE_CHECKING:
    from greenroom.domains.worlds import Worlds
    from greenroom.store import ActionRecord, EpisodeRecord, UserCallRecord

_ABSENT = object()
_ENDED = ("success", "failure")
_LONGEST = 160
_NO_MATTER = frozenset({"met", "did not count", "does not count"})
"""How a part may stand then and now without making a difference."""


class Refused(Exception):
    """The episode cannot be graded again; the text says why."""


@dataclass(frozen=True)
class Regraded:
    """An episode's second grade."""

    task: Task
    trajectory: Trajectory
    reward: Reward | None
    """None where the episode did not come to its end: that counts as 0."""
    changed_answers: int = 0

    @property
    def value(self) -> float:
        """The reward now."""
        return 0.0 if self.reward is None else self.reward.value


def stored_trajectory(episode: EpisodeRecord) -> Trajectory:
    """What was said and called in a stored episode."""
    return Trajectory(
        episode.opening,
        tuple(_user_call(call) for call in episode.opening_calls),
        tuple(
            Step(
                _action(step.action),
                step.observation,
                step.source,
                done=False,
                invalid=step.invalid,
                failed=step.failed,
                user_calls=tuple(_user_call(call) for call in step.user_calls),
            )
            for step in episode.steps
        ),
    )


def _action(action: ActionRecord) -> Action:
    return Action(
        action.name,
        action.kwargs,
        party=action.party,
        aside=action.aside,
        joined=action.joined,
    )


def _user_call(call: UserCallRecord) -> UserCall:
    return UserCall(_action(call.action), call.observation, call.invalid, call.failed)


def regrade(
    domain: Domain, split: str, episode: EpisodeRecord, basis: Sequence[Basis] = ()
) -> Regraded:
    """Grade a stored episode by a domain's tasks; raise Refused where that is not possible."""
    if not episode.has_result:
        raise Refused(f"it has no result: {episode.outcome.replace('_', ' ')}")
    if episode.pruned is not None:
        raise Refused(str(episode.pruned))
    index = find_task(domain, split, episode)
    task, trajectory = domain.task(index, split), stored_trajectory(episode)
    worlds, changed = _played_again(domain, task, episode, trajectory)
    if episode.outcome not in _ENDED:
        return Regraded(task, trajectory, None, changed)
    truth, grade = domain.ground_truth(index, split), domain.edition.grade
    if grade is None:
        reward = score(domain, task, truth, worlds, trajectory)
    else:
        reward = grade(domain, index, split, trajectory, worlds)
    return Regraded(task, trajectory, _with_basis(reward, basis, task, trajectory), changed)


def _with_basis(
    reward: Reward, basis: Sequence[Basis], task: Task, trajectory: Trajectory
) -> Reward:
    if not basis:
        return reward
    calls = [call.action for call in trajectory.calls()]
    actions = reward.actions or tuple(find_action(action, calls) for action in task.actions)
    return replace(reward, basis=tuple(basis), actions=actions)


def with_first_verdicts(found: Regraded, episode: EpisodeRecord) -> tuple[Regraded, int]:
    """The grade with the verdicts of the run's own judge, and how many sentences have one.

    They are about the same conversation. So they hold for sentences that are the same.
    """
    reward, details = found.reward, episode.details
    if reward is None or details is None:
        return found, 0
    known = {one.sentence: one for one in details.judged if one.met is not None}
    judged = tuple(
        replace(one, met=known[one.sentence].met, reason=known[one.sentence].reason)
        if one.met is None and one.sentence in known
        else one
        for one in reward.judged
    )
    kept = sum(now.met is not then.met for now, then in zip(judged, reward.judged, strict=True))
    return replace(found, reward=replace(reward, judged=judged)), kept


def find_task(domain: Domain, split: str, episode: EpisodeRecord) -> int:
    """The place of the task that an episode is of; raise Refused if there is none."""
    tasks, played = domain.tasks(split), episode.task
    if played.id is None and domain.pack.info.edition != TAU2:
        if episode.task_index >= len(tasks):
            raise Refused(f"the data has no task {episode.task_index}")
        return _checked(episode, tasks[episode.task_index], episode.task_index)
    # Tau Bench numbers its tasks; tau2-bench has taken them over under other numbers.
    wanted = played.id if played.id is not None else counterpart(domain.name, episode.task_index)
    if wanted is None:
        raise Refused(f"Tau Bench's task {episode.task_index} has no counterpart in the data")
    found = next((place for place, task in enumerate(tasks) if task.id == wanted), None)
    if found is None:
        raise Refused(f"the data has no task '{wanted}' in its split '{split}'")
    return found if played.id is not None else _checked(episode, tasks[found], found)


def _checked(episode: EpisodeRecord, task: Task, found: int) -> int:
    said, user = episode.task.instruction, episode.task.user_id
    same_user = bool(user) and (user in task.instruction or user == task.user_id)
    if said and not same_user and not are_alike(said, task.instruction):
        name = task.id or found
        raise Refused(f"task {name} of the data is about something else than what was played")
    return found


def _played_again(
    domain: Domain, task: Task, episode: EpisodeRecord, trajectory: Trajectory
) -> tuple[Worlds, int]:
    """The worlds after all calls, and how many reads go otherwise now."""
    worlds, changed = domain.worlds(task), 0
    wrote = {step.action.name for step in episode.steps if step.action.writes}
    for number, call in enumerate(trajectory.calls(), start=1):
        name = call.action.name
        tool = domain.named_tool(name)
        if tool is None:
            if name in wrote and not _fails(call.observation, call.failed):
                raise Refused(f"call {number} ({name}) changed something; the tool is gone")
            continue
        result = domain.call(worlds, call.action)
        if result.failed:
            domain.sync(worlds)
        then = _fails(call.observation, call.failed)
        now = _fails(result.observation, result.failed)
        if then == now:
            continue
        if tool.replayed or tool.writes:
            answer = call.observation if then else result.observation
            how = "failed then and succeeds now" if then else "succeeded then and fails now"
            raise Refused(f"call {number} ({name}) {how}: {_short(answer)}")
        changed += 1
    return worlds, changed


def _fails(observation: str, failed: bool) -> bool:
    return failed or observation.startswith("Error")


def differences(episode: EpisodeRecord, now: Regraded) -> list[str]:
    """What makes the difference between the two grades of an episode, a line each."""
    return list(_differences(episode, now))


def _differences(episode: EpisodeRecord, now: Regraded) -> Iterator[str]:
    reward = now.reward
    if reward is None:
        return
    then = _first_parts(episode, now.trajectory)
    if list(then) != list(reward.basis):
        yield f"what counts: {', '.join(then)} then, {', '.join(reward.basis)} now"
    parts: dict[Basis, None] = dict.fromkeys([*then, *reward.basis])
    for part in parts:
        before = then.get(part, "did not count")
        after = _standing(reward.parts[part]) if part in reward.basis else "does not count"
        if not {before, after} <= _NO_MATTER:
            yield f"{part}: {before} then, {after} now{_evidence(part, reward)}"
    yield from _task_differences(episode, now.task)
    if now.changed_answers:
        yield f"{now.changed_answers} reads failed then or fail now, and the other way round"


def _first_parts(episode: EpisodeRecord, trajectory: Trajectory) -> dict[Basis, str]:
    """The parts that counted in the first grade, and how they stood."""
    details = episode.details
    if details is not None:
        return {part: _standing(details.parts[part]) for part in details.basis}
    # A result file of Tau Bench with an output that was not said does not tell of the database.
    outputs, _ = check_outputs(Task(outputs=tuple(episode.task.outputs)), trajectory.said)
    missing = [text for text, said in outputs.items() if not said]
    unsaid = f"not met ('{missing[0]}' was not said)" if missing else "met"
    return {"database": "not known", "outputs": unsaid}


def _standing(met: bool | None) -> str:
    return {True: "met", False: "not met", None: "not judged"}[met]


def _evidence(part: Basis, reward: Reward) -> str:
    """What speaks against a part that is not met."""
    found: list[str] = []
    if part == "database":
        found = [str(difference) for difference in reward.differences[:1]]
    elif part == "outputs":
        found = [f"'{text}' was not said" for text, met in reward.outputs.items() if not met]
    elif part == "assertions":
        found = [one.error or one.assertion.name for one in reward.assertions if not one.met]
    elif part == "actions":
        found = [f"no call {_call(one.action)}" for one in reward.actions if not one.found]
    elif part == "judged":
        found = [f"'{one.sentence}': {one.reason}" for one in reward.judged if one.met is False]
    if part not in reward.basis:
        return ""
    return f" ({_short(found[0])})" if found else ""


def _task_differences(episode: EpisodeRecord, task: Task) -> Iterator[str]:
    then = [_action(action) for action in episode.task.actions]
    known = [_call(action) for action in then]
    now = [_call(action) for action in task.actions]
    wrote = {action.name for action in episode.task.actions if action.writes}
    gone = [one for one in then if one.name in wrote and _call(one) not in now]
    new = [one for one in task.actions if _call(one) not in known]
    for before in list(gone):
        after = next((one for one in new if one.name == before.name), None)
        if after is not None:
            gone.remove(before)
            new.remove(after)
            yield f"the task asks for another {before.name}: {_arguments(before, after)}"
    if gone:
        yield f"the task no longer asks for {_short('; '.join(map(_call, gone)))}"
    if new:
        yield f"the task also names {_short('; '.join(map(_call, new)))}"
    if sorted(episode.task.outputs) != sorted(task.outputs):
        yield (
            f"what the user is to be told: {_listed(episode.task.outputs)} then, "
            f"{_listed(task.outputs)} now"
        )


def _arguments(then: Action, now: Action) -> str:
    """The arguments that differ between two calls of a tool."""
    names = dict.fromkeys([*then.kwargs, *now.kwargs])
    return "; ".join(
        f"{name} {_value(then.kwargs, name)} then, {_value(now.kwargs, name)} now"
        for name in names
        if then.kwargs.get(name, _ABSENT) != now.kwargs.get(name, _ABSENT)
    )


def _value(arguments: Mapping[str, Any], name: str) -> str:
    if name not in arguments:
        return "not named"
    return _short(json.dumps(arguments[name], sort_keys=True, default=str))


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts) or "nothing"


def _call(action: Action) -> str:
    arguments: dict[str, Any] = dict(action.kwargs)
    return f"{action.name}({json.dumps(arguments, sort_keys=True, default=str)})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
