"""The reward of an episode as tau2-bench gives it: by replaying what was called.

The world of the live episode counts for nothing. Fresh worlds are set up, the calls that change
something are carried out again, and these worlds are compared with those that the task's own
actions lead to. So one function grades a live episode, a stored one and one of tau2's own files.

tau2 gives up on an episode if an assertion raises an error. Here such an assertion is not met, and
the result keeps the error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from greenroom.domains.reward import (
    AssertionResult,
    JudgedSentence,
    Reward,
    check_assertion,
    check_outputs,
    find_action,
)
from greenroom.domains.tau2.tasks import BASES
from greenroom.errors import DataError

if TYPE_CHECKING:
    from greenroom.domains.domain import Domain, GroundTruth
    from greenroom.domains.steps import Trajectory
    from greenroom.domains.tasks import Basis, Task
    from greenroom.domains.world import Changes
    from greenroom.domains.worlds import Worlds

NAMES: Final[Mapping[Basis, str]] = {ours: name for name, ours in BASES.items()}
"""Our names of the parts of a reward, and tau2's."""

GRADED_ENDS: Final = ("user_stop", "agent_stop")
"""tau2's names of the ways in which a conversation comes to its end; all others have reward 0."""


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A call that is answered differently when it is carried out again."""

    number: int
    """The place among all calls of the episode, from 0."""
    name: str
    recorded: str
    replayed: str


@dataclass(frozen=True)
class Replayed:
    """What carrying out the calls of an episode again leads to."""

    worlds: Worlds
    differences: tuple[ReplayDifference, ...]


def grade(
    domain: Domain, task_index: int, split: str, trajectory: Trajectory, worlds: Worlds
) -> Reward:
    """Grade an episode that came to its end. The worlds of the episode itself are not looked at."""
    task = domain.task(task_index, split)
    truth = domain.ground_truth(task_index, split)
    replayed = replay_calls(domain, task, trajectory)
    return grade_replayed(domain, task, truth, trajectory, replayed.worlds)


def grade_replayed(
    domain: Domain, task: Task, truth: GroundTruth, trajectory: Trajectory, worlds: Worlds
) -> Reward:
    """Grade an episode by the worlds that its calls lead to."""
    past = () if task.initial is None else task.initial.past_calls
    calls = [*past, *(call.action for call in trajectory.calls())]
    outputs, strict_outputs = check_outputs(task, _texts(domain, task, trajectory))
    # The database comes first: a function that looks at a world may touch its records.
    database = _is_free(task) or _is_same(domain, truth, worlds)
    return Reward(
        worlds=worlds,
        truth=truth,
        database=database,
        outputs=outputs,
        strict_outputs=strict_outputs,
        basis=task.basis,
        assertions=tuple(_assertions(domain, task, worlds)),
        actions=tuple(find_action(action, calls) for action in task.actions),
        judged=tuple(JudgedSentence(sentence) for sentence in task.judged),
    )


def replay_calls(
    domain: Domain, task: Task, trajectory: Trajectory, worlds: Worlds | None = None
) -> Replayed:
    """Carry the calls of an episode out again on fresh worlds: those of tools that are replayed."""
    worlds = domain.worlds(task) if worlds is None else worlds
    differences: list[ReplayDifference] = []
    for number, call in enumerate(trajectory.calls()):
        tool = domain.named_tool(call.action.name)
        if tool is None or not tool.replayed:
            continue
        now = domain.call(worlds, call.action).observation
        if not same_answer(now, call.observation):
            name = call.action.name
            differences.append(ReplayDifference(number, name, call.observation, now))
    return Replayed(worlds, tuple(differences))


def breakdown(reward: Reward, task: Task) -> dict[str, float]:
    """The parts that count, by tau2's names. A part that awaits a judge counts as accepted."""
    names = [NAMES[part] for part in task.basis]
    parts = all_parts(reward)
    if _is_free(task):
        names = [name for name in names if name not in ("DB", "ENV_ASSERTION")]
    return {name: parts[name] for name in names}


def all_parts(reward: Reward, only: Collection[Basis] | None = None) -> dict[str, float]:
    """Every part by tau2's names, whether it counts or not."""
    return {
        NAMES[part]: float(met is not False)
        for part, met in reward.parts.items()
        if only is None or part in only
    }


def same_answer(one: str, other: str) -> bool:
    """Whether two answers of a tool say the same; how JSON is written does not matter."""
    return one == other or _parsed(one) == _parsed(other)


def _assertions(domain: Domain, task: Task, worlds: Worlds) -> Iterator[AssertionResult]:
    for assertion in task.assertions:
        try:
            yield check_assertion(domain, worlds, assertion)
        except DataError as error:  # the domain has no such function
            yield AssertionResult(assertion, met=False, error=str(error))


def _texts(domain: Domain, task: Task, trajectory: Trajectory) -> list[str]:
    """All that the agent wrote: what the user never saw counts as well."""
    greeting = domain.edition.greeting
    if task.initial is not None and task.initial.messages:
        return [*task.initial.past_texts, *trajectory.written]
    return [*([] if greeting is None else [greeting]), *trajectory.written]


def _is_free(task: Task) -> bool:
    """Whether the task says nothing of databases: neither actions nor assertions, not even none."""
    if task.raw is None:
        return False
    criteria: Mapping[str, Any] = task.raw.get("evaluation_criteria") or {}
    return criteria.get("actions") is None and criteria.get("env_assertions") is None


def _is_same(domain: Domain, truth: GroundTruth, worlds: Worlds) -> bool:
    if truth.is_touched_alike(worlds):
        return True
    changes = worlds.changes()
    if changes != truth.changes:
        return False
    # Where tau2's database has a list, new records have an order.
    if _new(worlds, changes) == _new(truth.worlds, truth.changes):
        return True
    return hashes(domain, worlds) == hashes(domain, truth.worlds)


def _new(worlds: Worlds, changes: Changes) -> dict[str, list[str]]:
    new: dict[str, list[str]] = {}
    for place in changes:
        if worlds.is_new(place):
            new.setdefault(place.table, []).append(place.id)
    return new


def hashes(domain: Domain, worlds: Worlds) -> list[str | None]:
    """tau2's hashes of both databases; without tools, the user has none."""
    hash_world = domain.edition.hash_world
    own = worlds.agent.hash() if hash_world is None else hash_world(worlds.agent)
    if domain.edition.user_tools is None:
        return [own, None]
    if worlds.user is None or worlds.user is worlds.agent:
        return [own, own]
    return [own, worlds.user.hash() if hash_world is None else hash_world(worlds.user)]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
