"""Episodes of tau2-bench's files as records, so that they can stand in the place of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from greenroom.benchmark.episode import Episode
from greenroom.benchmark.recording import episode_record
from greenroom.domains.domain import Domain
from greenroom.domains.packs import Pack, PackInfo
from greenroom.domains.plugins import TAU2, find_plugin
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.grading import GRADED_ENDS
from greenroom.domains.tau2.recorded import Simulation
from greenroom.domains.tau2.tasks import BASES
from greenroom.errors import DataError
from greenroom.store import (
    NO_RESULT,
    ActionCheckRecord,
    AssertionRecord,
    EpisodeRecord,
    JudgedRecord,
    Outcome,
    RewardRecord,
)

_OUTCOMES: Mapping[str, Outcome] = {
    "max_steps": "max_steps",
    "timeout": "max_time",
    "too_many_errors": "too_many_errors",
    "context_window_exceeded": "context_window",
    "infrastructure_error": NO_RESULT,
}


def simulation_records(
    simulations: Sequence[Simulation], written_at: datetime
) -> list[EpisodeRecord]:
    """The records of a file's episodes. Trials are numbered in the order of the file."""
    names = sorted({one.domain for one in simulations})
    if len(names) != 1:
        raise DataError(f"The file holds episodes of several domains: {', '.join(names)}.")
    tasks = list({one.task.id: one.task for one in simulations}.values())
    solo = any(one.solo for one in simulations)
    domain = _domain(names[0], tuple(tasks), {"solo": "true"} if solo else {})
    places, trials = {task.id: place for place, task in enumerate(tasks)}, Counter[int]()
    records: list[EpisodeRecord] = []
    for one in simulations:
        place = places[one.task.id]
        records.append(_record(domain, one, place, trials[place], written_at))
        trials[place] += 1
    return records


def _domain(name: str, tasks: tuple[Task, ...], settings: Mapping[str, str]) -> Domain:
    """A domain with the tasks of a file, and without data."""
    plugin = find_plugin(name)
    info = PackInfo(name="result file", version="", source="", licence="", edition=TAU2)
    pack = Pack(
        info, name, load_tables=dict, load_tasks=lambda _: tasks, splits=("base",), policy=""
    )
    return Domain(plugin.edition(TAU2, plugin.check(settings)), pack)


def _record(
    domain: Domain, one: Simulation, place: int, trial: int, written_at: datetime
) -> EpisodeRecord:
    trajectory = one.trajectory(domain.edition.greeting)
    outcome = _outcome(one)
    episode = Episode(
        task_index=place,
        trial=trial,
        outcome=outcome,
        opening=trajectory.opening,
        opening_calls=trajectory.opening_calls,
        steps=trajectory.steps,
        started_at=written_at,
        seconds=0.0,
        error=one.termination if outcome == NO_RESULT else None,
    )
    record = episode_record(domain, episode, split="base")
    graded = outcome in ("success", "failure") and one.reward_info is not None
    details = _details(record, one, one.reward_info or {}) if graded else None
    reward = None if outcome == NO_RESULT else one.reward or 0.0
    return record.model_copy(update={"reward": reward, "details": details})


def _outcome(one: Simulation) -> Outcome:
    if one.termination in GRADED_ENDS and one.reward is not None:
        return "success" if one.reward >= 1.0 else "failure"
    if one.reward is None:
        return NO_RESULT
    return _OUTCOMES.get(one.termination, "crashed")


def _details(record: EpisodeRecord, one: Simulation, info: Mapping[str, Any]) -> RewardRecord:
    task = one.task
    names: Sequence[str] = info.get("reward_basis") or ["DB"]
    assertions = _checks(info, "env_assertions", "met")
    actions = _checks(info, "action_checks", "action_match")
    return RewardRecord(
        database=_checks({"db": [info.get("db_check") or {}]}, "db", "db_match") != [False],
        basis=[BASES[name] for name in names if name in BASES],
        assertions=[
            AssertionRecord(
                name=wanted.name,
                kwargs=dict(wanted.kwargs),
                party=wanted.party,
                expected=wanted.expected,
                met=met,
            )
            for wanted, met in zip(task.assertions, assertions, strict=False)
        ],
        actions=[
            ActionCheckRecord(action=action, found=found)
            for action, found in zip(record.task.actions, actions, strict=False)
        ],
        outputs=dict(zip(task.outputs, _checks(info, "communicate_checks", "met"), strict=False)),
        judged=[
            JudgedRecord(
                sentence=str(check.get("nl_assertion")),
                met=bool(check.get("met")),
                reason=str(check.get("justification") or ""),
            )
            for check in info.get("nl_assertions") or ()
        ],
    )


def _checks(info: Mapping[str, Any], name: str, field: str) -> list[bool]:
    return [bool(check.get(field, True)) for check in info.get(name) or ()]
