"""Runs of one agent with several users: what varies with the user, and whether rankings do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from greenroom.analysis.counts import counted_episodes
from greenroom.analysis.figures import Estimate, Immutable
from greenroom.analysis.metrics import convention_metrics
from greenroom.analysis.tally import SOLVED
from greenroom.analysis.user_spread import (
    RankingSpread,
    VarianceSplit,
    split_variance,
    spread_of_ranking,
)
from greenroom.errors import InputError
from greenroom.reports.run_tally import compared_run
from greenroom.reports.task_sets import check_same_tasks
from greenroom.store import RunRecord, Store
from greenroom.store.run_pages import named_after

_MOST_USERS = 200
BETWEEN: Final = "+"
"""Between the name of several runs and the user of each."""


class UserRun(Immutable, frozen=True):
    """A run of the agent with one user."""

    name: str
    user: str
    pass_1: Estimate
    coverage: float


class UserSpread(Immutable, frozen=True):
    """An agent with several users, and another one with the same users."""

    agent: str
    runs: list[UserRun]
    split: VarianceSplit
    against: str | None = None
    against_runs: list[UserRun]
    ranking: RankingSpread | None = None
    """How far the order of the two depends on the user."""
    notes: list[str]


@dataclass(frozen=True)
class _Group:
    """The runs of one agent, by user."""

    agent: str
    runs: dict[str, RunRecord]
    solved: dict[str, dict[int, dict[int, bool]]] = field(
        default_factory=dict[str, dict[int, dict[int, bool]]]
    )
    """By user, task and trial."""
    shown: list[UserRun] = field(default_factory=list[UserRun])


def user_of(config: Mapping[str, Any]) -> str:
    """Who the user of a run is: strategy where it is not the usual one, model and persona."""
    strategy, model = str(config.get("user_strategy") or "scripted"), config.get("user_model")
    named = strategy if strategy != "llm" or not model else ""
    persona = str(config.get("user_persona") or "")
    return BETWEEN.join(filter(None, [named, str(model or ""), persona]))


def user_spread(store: Store, names: Sequence[str], against: Sequence[str] = ()) -> UserSpread:
    """The split of variance over the users of an agent, and the ranking against another one.

    A name is that of a run, or the one before the + of several.
    """
    group = _group(store, names)
    other = _group(store, against) if against else None
    everything = [*group.runs.values(), *(other.runs.values() if other else ())]
    check_same_tasks(everything)
    for one in (group, other):
        if one is not None:
            _read(store, one)
    results = {
        (task, place, trial): float(solved)
        for place, by_task in enumerate(group.solved.values())
        for task, trials in by_task.items()
        for trial, solved in trials.items()
    }
    if len({task for task, _, _ in results}) < 3 or len({user for _, user, _ in results}) < 2:
        raise InputError("A split takes results of two users and three tasks: play the runs first.")
    ranking = None
    if other is not None:
        shared = [user for user in group.runs if user in other.runs]
        if len(shared) < 2:
            raise InputError(
                f"{group.agent} and {other.agent} have played with fewer than two users in common: "
                f"{', '.join(group.runs)} against {', '.join(other.runs)}."
            )
        ranking = spread_of_ranking(_by_task(other, shared), _by_task(group, shared))
    return UserSpread(
        agent=group.agent,
        runs=group.shown,
        split=split_variance(results),
        against=other.agent if other else None,
        against_runs=other.shown if other else [],
        ranking=ranking,
        notes=_notes(everything, group, other),
    )


def _group(store: Store, names: Sequence[str]) -> _Group:
    records = [one for name in names for one in _named(store, name)]
    agents = {_agent(one) for one in records}
    if len(agents) > 1:
        raise InputError(
            f"These are runs of different agents ({', '.join(sorted(agents))}): name those of one, "
            "and the others behind --against."
        )
    runs: dict[str, RunRecord] = {}
    for one in records:
        user = user_of(one.config)
        if user in runs and runs[user].id != one.id:
            raise InputError(
                f"'{runs[user].name}' and '{one.name}' were played with the same user, {user}: "
                "leave one out."
            )
        runs[user] = one
    if len(runs) < 2:
        raise InputError(
            f"{', '.join(names)}: a spread over users takes runs with at least two users."
        )
    return _Group(agents.pop(), runs)


def _named(store: Store, name: str) -> list[RunRecord]:
    page = store.runs.pages.jobs(limit=_MOST_USERS, where=named_after(name, BETWEEN))
    return [one.job for one in reversed(page)] or [store.runs.find(name)]


def _agent(run: RunRecord) -> str:
    model = run.config.get("model")
    return f"{run.agent_strategy} ({model})" if model else run.agent_strategy


def _read(store: Store, group: _Group) -> None:
    for user, run in group.runs.items():
        compared = compared_run(counted_episodes(store, run.id)).compared(run)
        counted = compared.counted()
        group.solved[user] = {
            task: {trial: reward >= SOLVED for trial, reward in trials.items()}
            for task, trials in counted.rewards("errors_excluded", over=compared.over).items()
        }
        main = convention_metrics(counted, "errors_excluded", over=compared.over)
        group.shown.append(
            UserRun(name=run.name, user=user, pass_1=main.pass_hat_k[1], coverage=main.coverage)
        )


def _by_task(group: _Group, users: Sequence[str]) -> dict[str, dict[int, list[bool]]]:
    return {
        user: {task: list(trials.values()) for task, trials in group.solved[user].items()}
        for user in users
    }


def _notes(runs: Sequence[RunRecord], group: _Group, other: _Group | None) -> list[str]:
    said: list[str] = []
    if len({one.config.get("seed") for one in runs}) > 1:
        said.append("The runs have different seeds, so trials have nothing in common over users.")
    if len({one.num_trials for one in runs}) > 1:
        said.append("The runs have different numbers of trials.")
    if other is not None and (alone := group.runs.keys() ^ other.runs.keys()):
        said.append(
            f"Left out of the ranking, as only one agent has them: {', '.join(sorted(alone))}."
        )
    return said
