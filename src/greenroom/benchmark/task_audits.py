"""What stored runs of several agents say of tasks: those that nobody solves, or only by less."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenroom.analysis.counts import counted_episodes
from greenroom.domains.content import SHOWN, task_hash
from greenroom.domains.domain import Domain
from greenroom.domains.task_audit import TaskFinding
from greenroom.domains.tasks import Task
from greenroom.errors import InputError
from greenroom.reports.leaderboard import knows_the_answers
from greenroom.reports.texts import plural
from greenroom.store import NO_RESULT, RunRecord, Store
from greenroom.store.episode_counts import EpisodeCounts

FEWEST_AGENTS = 2
"""What one agent alone does not solve may be its own fault."""


@dataclass
class Played:
    """What several agents made of a task."""

    episodes: dict[str, int] = field(default_factory=dict[str, int])
    """With a result, by agent."""
    solved: dict[str, int] = field(default_factory=dict[str, int])
    writes: list[int] = field(default_factory=list[int])
    """How much was changed by each episode that solved it."""


def findings_of_runs(
    store: Store, runs: Sequence[RunRecord], domain: Domain, split: str, indices: Sequence[int]
) -> tuple[list[TaskFinding], list[str]]:
    """The findings about tasks from runs of two agents or more, and what was left out of them."""
    notes: list[str] = []
    counted: list[RunRecord] = []
    for run in runs:
        if run.env != domain.name:
            raise InputError(f"'{run.name}' was played on {run.env}, and not on {domain.name}.")
        if knows_the_answers(run):
            notes.append(f"{run.name} is not counted: its agent knows the answers.")
        else:
            counted.append(run)
    agents = _agents(counted)
    if len({*agents.values()}) < FEWEST_AGENTS:
        raise InputError(
            f"Name runs of {FEWEST_AGENTS} agents or more, such as --run A --run B: what one agent "
            f"does not solve may be its own fault.{' ' + ' '.join(notes) if notes else ''}"
        )
    played: dict[int, Played] = {}
    for run in counted:
        others = _count(store, run, agents[run.id], domain, split, set(indices), played)
        if others:
            are = "is another task" if others == 1 else "are other tasks"
            notes.append(f"{plural(others, 'task')} of {run.name} {are} than these.")
    return list(_findings(domain, split, played)), notes


def _agents(runs: Sequence[RunRecord]) -> dict[str, str]:
    """Who played, by run: a strategy with its model; with other settings it is another agent.

    A result file does not say who played, so each is an agent of its own.
    """
    settings = {run.id: _settings(run) for run in runs}
    several = Counter(name for name, _ in {*settings.values()})
    first: dict[tuple[str, str], str] = {}
    agents: dict[str, str] = {}
    for run in runs:
        name, _ = own = settings[run.id]
        begun = first.setdefault(own, run.name)
        agents[run.id] = name if several[name] == 1 else f"{name} of {begun}"
    return agents


def _settings(run: RunRecord) -> tuple[str, str]:
    if run.agent_strategy == "file":
        return run.name, ""
    model = run.config.get("model")
    name = f"{run.agent_strategy} ({model})" if model else run.agent_strategy
    return name, json.dumps(run.config.get("agent_options") or {}, sort_keys=True, default=str)


def _count(
    store: Store,
    run: RunRecord,
    agent: str,
    domain: Domain,
    split: str,
    wanted: set[int],
    played: dict[int, Played],
) -> int:
    """Count a run's episodes; returns how many of its tasks are none of these."""
    places, others = _places(run, domain, split), set[int]()
    for one in counted_episodes(store, run.id):
        summary = one.summary
        if summary.outcome == NO_RESULT:
            continue
        index = places.get(summary.task_index)
        if index is None or not _is_told(domain.task(index, split), summary.instruction):
            others.add(summary.task_index)
            continue
        if index not in wanted:
            continue
        found = played.setdefault(index, Played())
        found.episodes[agent] = found.episodes.get(agent, 0) + 1
        if summary.reward == 1:
            found.solved[agent] = found.solved.get(agent, 0) + 1
            found.writes.append(_writes(one.counts))
    return len(others)


def _places(run: RunRecord, domain: Domain, split: str) -> Mapping[int, int]:
    """Where a run's tasks are in the split: by their content if it is known, else by place."""
    tasks = domain.tasks(split)
    if run.task_set is None or not run.task_set.task_hashes:
        return {index: index for index in run.task_indices if index < len(tasks)}
    there: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        there.setdefault(task_hash(task)[:SHOWN], []).append(index)
    places: dict[int, int] = {}
    for index, mark in zip(run.task_indices, run.task_set.task_hashes, strict=False):
        equal = there.get(mark, ())
        if equal:
            places[index] = index if index in equal else equal[0]
    return places


def _is_told(task: Task, instruction: str) -> bool:
    return not instruction or not task.instruction or task.instruction == instruction


def _writes(counts: EpisodeCounts) -> int:
    """How many calls of either party changed something, or tried to and went through."""
    return sum(
        max(0, used.writes - used.errors - used.invalid)
        for tools in (counts.tools, counts.user_tools)
        for used in tools.values()
        if used.writes
    )


def _findings(domain: Domain, split: str, played: Mapping[int, Played]) -> Iterator[TaskFinding]:
    for index, found in sorted(played.items()):
        if len(found.episodes) < FEWEST_AGENTS:
            continue
        agents, episodes = len(found.episodes), sum(found.episodes.values())
        evidence: dict[str, Any] = {"episodes": found.episodes, "solved": found.solved}
        if not found.solved:
            said = f"none of {agents} agents solved it in {plural(episodes, 'episode')}"
            yield TaskFinding(index, "never-solved", said, evidence)
            continue
        wanted = _wanted(domain, domain.task(index, split))
        if max(found.writes) < wanted:
            least, most = min(found.writes), max(found.writes)
            made = str(most) if least == most else f"{least} to {most}"
            said = (
                f"{plural(len(found.writes), 'episode')} of {plural(episodes, 'episode')} solved "
                f"it, each with fewer changes ({made}) than its ground truth ({wanted})"
            )
            more = {"changes": {"fewest": least, "most": most, "ground_truth": wanted}}
            yield TaskFinding(index, "solved-by-less", said, evidence | more)


def _wanted(domain: Domain, task: Task) -> int:
    """How many calls of the ground truth change something, or would if they went through."""
    tools = (domain.edition.tool(action.party, action.name) for action in task.actions)
    return sum(tool is not None and tool.writes for tool in tools)


__all__ = ["FEWEST_AGENTS", "Played", "findings_of_runs"]
