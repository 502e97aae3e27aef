"""Runs of one agent with several users: what varies with the user, and whether rankings do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Final

from greenroom.analysis.counts import counted_episodes
from greenroom.analysis.figures import Estimate
from greenroom.analysis.metrics import convention_metrics
from greenroom.analysis.spread_figures import Part, RankingSpread, VarianceSplit
from greenroom.analysis.tally import SOLVED
from greenroom.analysis.user_spread import FEWEST_TASKS, split_variance, spread_of_ranking
from greenroom.errors import InputError
from greenroom.reports import shared_sections as shared
from greenroom.reports.report import SpreadReport, UserRun
from greenroom.reports.run_tally import compared_run
from greenroom.reports.sections import AnySection, Cell, Column
from greenroom.reports.task_sets import check_same_tasks, place_of
from greenroom.reports.texts import percent, plural
from greenroom.store import RunRecord, Store
from greenroom.store.run_pages import named_after

_MOST_USERS = 200
BETWEEN: Final = "+"
"""Between the name of several runs and the user of each."""
_SAME = (
    "agent_options", "model_provider", "temperature", "max_tokens", "reasoning_effort",
    "max_num_steps", "max_episode_seconds", "judge_model",
)  # fmt: skip
"""What changes results and is not the user."""

_PARTS: Mapping[Part, tuple[str, str]] = {
    "task": ("Task", "tasks differ in how hard they are"),
    "user": ("User", "the agent gets on better with some users"),
    "task_and_user": ("Task and user", "some users make some tasks harder"),
    "trial": ("Trial", "what trials have in common whoever the user is"),
    "residual": ("Residual", "the rest: chance"),
}


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


def runs_with_users(store: Store, name: str) -> list[RunRecord]:
    """The runs whose names are this one and a user each, the oldest first."""
    page = store.runs.pages.jobs(limit=_MOST_USERS, where=named_after(name, BETWEEN))
    return [one.job for one in reversed(page)]


def user_spread(store: Store, names: Sequence[str], against: Sequence[str] = ()) -> SpreadReport:
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
    if not any(by_task for by_task in group.solved.values()):
        raise InputError(f"No episode of {', '.join(names)} has a result: play the runs first.")
    split, ranking = _split(group), None
    if other is not None:
        shared_users = [
            user
            for user, found in group.solved.items()
            if found.keys() & other.solved.get(user, {}).keys()
        ]
        if len(shared_users) < 2:
            raise InputError(
                f"{group.agent} and {other.agent} have results with fewer than two users in "
                f"common: {', '.join(group.runs)} against {', '.join(other.runs)}."
            )
        ranking = spread_of_ranking(_by_task(other, shared_users), _by_task(group, shared_users))
    report = SpreadReport(
        name=_name(group, other),
        headline=_headline(group, split, other, ranking),
        agent=group.agent,
        runs=group.shown,
        split=split,
        against=other.agent if other else None,
        against_runs=other.shown if other else [],
        ranking=ranking,
        notes=list(_notes(everything, group, other)),
    )
    sections = [section for build in SECTIONS for section in build(report)]
    return report.model_copy(
        update={"sections": [*sections, shared.provenance_facts(_origins(everything))]}
    )


def _group(store: Store, names: Sequence[str]) -> _Group:
    records = [
        one for name in names for one in runs_with_users(store, name) or [store.runs.find(name)]
    ]
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
            if trials
        }
        main = convention_metrics(counted, "errors_excluded", over=compared.over)
        group.shown.append(
            UserRun(name=run.name, user=user, pass_1=main.pass_hat_k[1], coverage=main.coverage)
        )


def _split(group: _Group) -> VarianceSplit | None:
    results = {
        (task, place, trial): float(solved)
        for place, by_task in enumerate(group.solved.values())
        for task, trials in by_task.items()
        for trial, solved in trials.items()
    }
    tasks, users = ({key[place] for key in results} for place in (0, 1))
    return split_variance(results) if len(tasks) >= FEWEST_TASKS and len(users) >= 2 else None


def _by_task(group: _Group, users: Sequence[str]) -> dict[str, dict[int, list[bool]]]:
    return {
        user: {task: list(trials.values()) for task, trials in group.solved[user].items()}
        for user in users
    }


def _name(group: _Group, other: _Group | None) -> str:
    against = f" against {other.agent}" if other is not None else ""
    return f"{group.agent}{against} with {plural(len(group.runs), 'user')}"


def _headline(
    group: _Group,
    split: VarianceSplit | None,
    other: _Group | None,
    ranking: RankingSpread | None,
) -> str:
    tasks = plural(len({task for found in group.solved.values() for task in found}), "task")
    said = f"{group.agent} with {plural(len(group.runs), 'user')} over {tasks}"
    if split is None:
        said += ": too few results to split their variance."
    else:
        users = split.share_of("user") + split.share_of("task_and_user")
        said += f": the user makes {percent(users)} of the variance."
    if other is not None and ranking is not None:
        apart = [one.difference.value for one in ranking.users]
        ahead, behind = sum(one > 0 for one in apart), sum(one < 0 for one in apart)
        said += (
            f" Against {other.agent} it is {ranking.difference:+.3f} on average: ahead with "
            f"{ahead} of {plural(len(apart), 'user')}, behind with {behind}."
        )
    return said


def _notes(runs: Sequence[RunRecord], group: _Group, other: _Group | None) -> Iterator[str]:
    """What has to be known to read the spread rightly."""
    for one in (group, other):
        if one is None:
            continue
        if silent := [name for name, found in one.solved.items() if not found]:
            yield f"{one.agent} has no result with {', '.join(silent)}."
        configs = [run.config for run in one.runs.values()]
        if changed := [name for name in _SAME if _differs(configs, name)]:
            yield (
                f"The runs of {one.agent} differ in {', '.join(changed)}, too: what that changes "
                "counts as the user's."
            )
    if len({one.config.get("seed") for one in runs}) > 1:
        yield "The runs have different seeds, so trials have nothing in common over users."
    if len({one.num_trials for one in runs}) > 1:
        yield "The runs have different numbers of trials."
    if other is not None and (alone := group.runs.keys() ^ other.runs.keys()):
        yield f"Left out of the ranking, as only one agent has them: {', '.join(sorted(alone))}."


def _differs(configs: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [one[name] for one in configs if name in one]
    return any(value != values[0] for value in values)


def _origins(runs: Sequence[RunRecord]) -> Iterator[tuple[str, str]]:
    for run in runs:
        seed = run.config.get("seed", "unknown")
        yield run.name, f"{_agent(run)} with {user_of(run.config)} on {place_of(run)}; seed {seed}"


# Sections


def users(report: SpreadReport) -> Iterator[AnySection]:
    """How often each user is served."""
    rows: list[list[Cell]] = [
        [one.user, *shared.estimate_cells(one.pass_1), one.coverage, one.name]
        for one in report.runs
    ]
    head = ("User", *shared.estimate_columns(["pass^1"]), "Coverage:percent:wide", "Run")
    yield shared.table("users", "Users", head, rows)


def variance(report: SpreadReport) -> Iterator[AnySection]:
    """What the variance of results comes from."""
    split = report.split
    if split is None:
        return
    rows: list[list[Cell]] = []
    for one in split.parts:
        label, meaning = _PARTS[one.part]
        value, ends = shared.estimate_cells(one.variance)
        rows.append([label, one.share, value, ends, meaning])
    head = ("Part", "Share:percent", "Variance:decimal.4", "Interval:decimal.4:interval")
    yield shared.table(
        "variance",
        "Variance of results",
        (*head, "Meaning:text:wide"),
        rows,
        notes=list(_split_notes(split)),
    )


def _split_notes(split: VarianceSplit) -> Iterator[str]:
    if not any(one.share for one in split.parts):
        yield "All results are the same: they do not say what would vary."
    deviation, users = _deviation(split.user_deviation), split.users
    yield f"Standard deviation of users like these: {deviation}; {users} were seen."
    if split.missing:
        yield f"Without a result: {plural(split.missing, 'episode')}."


def ranking(report: SpreadReport) -> Iterator[AnySection]:
    """How far the order of two agents depends on the user."""
    found = report.ranking
    if found is None:
        return
    rows: list[list[Cell]] = []
    for one in found.users:
        order = "the other order" if one.flipped else ""
        apart = shared.estimate_cells(one.difference)
        sure = "yes" if one.sure else ""
        rows.append([one.user, one.baseline, one.value, *apart, order, sure])
    agents = (report.against or "", report.agent)
    values = [Column(label=name, format="decimal") for name in agents]
    head = ("User", *values, "Difference:signed", "Interval:signed.2:interval")
    yield shared.table(
        "ranking",
        f"{report.agent} against {report.against}",
        (*head, "Order", "Beyond chance"),
        rows,
        notes=list(_ranking_notes(found)),
    )


def _ranking_notes(found: RankingSpread) -> Iterator[str]:
    others = percent(found.flips)
    yield f"With {others} of users the order is the other one; {found.sure_flips} beyond chance."
    deviation = _deviation(found.deviation)
    yield f"Standard deviation of the true difference over users like these: {deviation}."


def _deviation(found: Estimate) -> str:
    if isnan(found.value):
        return "unknown"
    ends = f"{found.low:.2f} to {found.high:.2f}" if found.method != "none" else "interval unknown"
    return f"{found.value:.3f} ({ends})"


SECTIONS: tuple[shared.Builder[SpreadReport], ...] = (users, variance, ranking)
