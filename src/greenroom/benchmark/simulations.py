"""Episodes of tau2-bench's own files, played and graded again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from greenroom.domains.domain import Domain
from greenroom.domains.reward import JudgedSentence, Reward
from greenroom.domains.steps import Trajectory
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.grading import (
    GRADED_ENDS,
    ReplayDifference,
    all_parts,
    grade_replayed,
    replay_calls,
    same_answer,
)
from greenroom.domains.tau2.recorded import Simulation, is_simulations, read_simulations
from greenroom.errors import DataError
from greenroom.util.files import read_unpacked
from greenroom.util.json_values import as_dict, as_list


@dataclass(frozen=True)
class ReplayedSimulation:
    """A recorded episode beside what grading it again comes to."""

    recording: Simulation
    reward: float
    differences: tuple[ReplayDifference, ...]
    """Calls that are answered differently now."""
    unmet: tuple[str, ...] = ()
    """The parts of the reward that are 0 now, by tau2's names."""
    unjudged: int = 0
    judged: int = 0
    """Sentences whose verdict is that of the file."""

    @property
    def agrees(self) -> bool:
        """The reward is the one that was recorded."""
        return self.reward == self.recording.reward

    @property
    def explanation(self) -> str:
        """What speaks for the reward that it has now, in a few words."""
        end = self.recording.termination
        if end not in GRADED_ENDS:
            return f"it ended by {end}"
        found = [f"not met: {', '.join(self.unmet)}"] if self.unmet else []
        if self.differences:
            first = self.differences[0]
            found.append(f"call {first.number + 1} ({first.name}) is answered differently now")
        if self.unjudged:
            found.append(f"{self.unjudged} sentences await a judge")
        return "; ".join(found) or "all that counts is met"


def load_simulations(path: Path) -> list[Simulation] | None:
    """The episodes of a file of tau2's, also a packed one; None if it is another kind of file."""
    content = _content(path)
    return read_simulations(content, path) if is_simulations(content) else None


def _content(path: Path) -> Any:
    raw = read_unpacked(path)
    try:
        return orjson.loads(raw)
    except ValueError as error:
        raise DataError(f"{path} cannot be read as JSON: {error}.") from error


def replay_simulations(
    simulations: Sequence[Simulation], open_domain: Callable[[str], Domain]
) -> Iterator[ReplayedSimulation]:
    """Grade each episode again, by the task that the file has."""
    domains: dict[str, Domain] = {}
    for simulation in simulations:
        name = simulation.domain
        domain = domains.get(name) or domains.setdefault(name, open_domain(name))
        yield _replayed(domain, simulation)


def _replayed(domain: Domain, simulation: Simulation) -> ReplayedSimulation:
    task, trajectory = simulation.task, simulation.trajectory(domain.edition.greeting)
    differences = tuple(answer_differences(domain, task, trajectory))
    if simulation.termination not in GRADED_ENDS:
        return ReplayedSimulation(simulation, 0.0, differences)
    worlds = replay_calls(domain, task, trajectory).worlds
    truth = domain.play_out(task.actions, task)
    reward = grade_replayed(domain, task, truth, trajectory, worlds)
    open_before = reward.unjudged
    reward = _with_recorded_verdicts(reward, simulation)
    counted = all_parts(reward, only=reward.basis)
    unmet = tuple(name for name, value in counted.items() if value == 0.0)
    judged = open_before - reward.unjudged
    return ReplayedSimulation(simulation, reward.value, differences, unmet, reward.unjudged, judged)


def _with_recorded_verdicts(reward: Reward, simulation: Simulation) -> Reward:
    """The reward with the verdicts that the file has: they are about the same conversation."""
    checks = map(as_dict, as_list((simulation.reward_info or {}).get("nl_assertions")))
    known = {
        str(check.get("nl_assertion")): JudgedSentence(
            str(check.get("nl_assertion")), check["met"], str(check.get("justification") or "")
        )
        for check in checks
        if isinstance(check.get("met"), bool)
    }
    return replace(reward, judged=tuple(known.get(one.sentence, one) for one in reward.judged))


def answer_differences(
    domain: Domain, task: Task, trajectory: Trajectory
) -> Iterator[ReplayDifference]:
    """The calls that are answered differently when all of them are made again."""
    worlds = domain.worlds(task)
    for number, call in enumerate(trajectory.calls()):
        now = domain.call(worlds, call.action).observation
        if not same_answer(now, call.observation):
            yield ReplayDifference(number, call.action.name, call.observation, now)
