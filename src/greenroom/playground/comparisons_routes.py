"""The API of comparisons: two runs paired task by task, and two episodes step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from greenroom.analysis.aligned_steps import StepRelation, align_steps
from greenroom.analysis.compared import RunComparison, Verdict
from greenroom.errors import InputError
from greenroom.playground.episode_view import (
    ArgumentDiffers,
    ShownItem,
    Why,
    argument_list,
    shown_items,
    why_of,
)
from greenroom.playground.episodes_routes import MOST_NUMBER, Task, find_episode
from greenroom.playground.paging import After, Limit, Page, numbers_of, page_of
from greenroom.playground.runs_routes import (
    MOST_TRIALS,
    OutcomeWords,
    RunItem,
    outcome_words,
    run_item,
    standing_of,
)
from greenroom.playground.shown import Shown, shown
from greenroom.playground.state import InPlayground, Playground
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.report import ComparisonReport
from greenroom.reports.task_sets import DifferentTasks
from greenroom.reports.task_sets import equal_tasks as equal_tasks_of
from greenroom.reports.texts import one_line, percent, wish
from greenroom.store import EpisodeRecord, RunRecord
from greenroom.store.run_pages import RunPages

router = APIRouter()

_LONGEST_WISH = 300

RunA = Annotated[str, Query(description="The run before: the baseline.")]
RunB = Annotated[str, Query(description="The run that is compared with it.")]
OnlyEqual = Annotated[
    bool,
    Query(description="Runs of different task sets: compare the tasks that are equal in both."),
]


class RunComparisonPage(BaseModel):
    """Two runs paired task by task."""

    a: RunItem
    b: RunItem
    verdict: Verdict
    sentence: str
    """The verdict in words."""
    notes: list[str]
    sections: list[Shown]
    broke: int
    """Tasks that were mostly solved before, and are not now."""
    healed: int


class FlippedTask(BaseModel):
    """A task that broke or healed."""

    task: int
    other_task: int
    """Its index in the second run: another one where the task sets differ."""
    direction: Literal["broke", "healed"]
    before: str
    now: str
    why: str | None
    """Why the run that failed it did."""
    wish: str


class BesideSide(BaseModel):
    """An episode that stands beside another one."""

    run: str
    run_id: str
    agent: str
    task: int
    trial: int
    outcome: OutcomeWords
    reward: float | None
    why: Why | None
    steps: int
    trials: list[str | None]
    """The outcomes of the task's first trials."""


class BesideRow(BaseModel):
    """Steps of two episodes that stand side by side; empty where one has no such step."""

    relation: Literal["opening"] | StepRelation
    left: list[ShownItem]
    right: list[ShownItem]
    differs: list[ArgumentDiffers]
    """Arguments that differ: `expected` is the left one."""


class Beside(BaseModel):
    """Two episodes of one task, aligned step by step."""

    task: int
    instruction: str
    left: BesideSide
    right: BesideSide
    rows: list[BesideRow]
    parting: int | None
    """The first row in which the two do not do the same; null if they never part."""
    warnings: list[str]
    """What has to be known to read it rightly, such as that the tasks differ."""


@router.get("/comparisons")
def compare_two_runs(
    playground: InPlayground, a: RunA, b: RunB, equal_tasks: OnlyEqual = False
) -> RunComparisonPage:
    """Two runs over the same tasks: the verdict in words, figures of both, what broke and healed.

    `GET /comparisons/flips` lists the tasks.
    """
    report, one = _compared(playground, a, b, equal_tasks)
    lost = sum(flip.direction == "lost" for flip in one.flips)
    return RunComparisonPage(
        a=run_item(standing_of(playground, a)),
        b=run_item(standing_of(playground, b)),
        verdict=one.verdict,
        sentence=report.headline,
        notes=report.notes,
        sections=shown(report.sections, without="flips-"),
        broke=lost,
        healed=len(one.flips) - lost,
    )


@router.get("/comparisons/flips")
def list_flips(
    playground: InPlayground,
    a: RunA,
    b: RunB,
    equal_tasks: OnlyEqual = False,
    direction: Annotated[Literal["broke", "healed"] | None, Query()] = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[FlippedTask]:
    """The tasks that broke and those that healed, by number."""
    _, one = _compared(playground, a, b, equal_tasks)
    places = _other_places(playground, a, b) if equal_tasks else {}
    key = numbers_of(after, 1)
    words: dict[str, Literal["broke", "healed"]] = {"lost": "broke", "gained": "healed"}
    found = [
        FlippedTask(
            task=flip.task_index,
            other_task=places.get(flip.task_index, flip.task_index),
            direction=words[flip.direction],
            before=percent(flip.baseline_rate),
            now=percent(flip.rate),
            why=flip.why,
            wish=one_line(wish(flip.instruction), _LONGEST_WISH),
        )
        for flip in sorted(one.flips, key=lambda flip: flip.task_index)
        if key is None or flip.task_index > key[0]
        if direction is None or words[flip.direction] == direction
    ]
    return page_of(found[: limit + 1], limit, lambda flip: (flip.task,))


@router.get("/runs/{run:path}/tasks/{task}/beside")
def get_episodes_beside(
    playground: InPlayground,
    run: str,
    task: Task,
    other: Annotated[str, Query(description="The run that stands on the right.")],
    trial: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None,
    other_trial: Annotated[int | None, Query(ge=0, le=MOST_NUMBER)] = None,
    other_task: Annotated[
        int | None,
        Query(ge=0, le=MOST_NUMBER, description="The task of the other run, if not the same."),
    ] = None,
) -> Beside:
    """Two runs on one task, aligned step by step; without a trial, the first ones that differ."""
    records = [playground.store.runs.find(name) for name in (run, other)]
    pages = RunPages(playground.store.engine)
    tasks = (task, task if other_task is None else other_task)
    outcomes = [
        pages.outcomes(one.id, [index], (0, MOST_TRIALS))[index]
        for one, index in zip(records, tasks, strict=True)
    ]
    chosen = _trials(outcomes[0], outcomes[1], trial, other_trial)
    left, right = (
        find_episode(playground, record, index, number)
        for record, index, number in zip(records, tasks, chosen, strict=True)
    )
    rows = _rows(left, right)
    parts = (place for place, row in enumerate(rows) if row.relation not in ("opening", "same"))
    return Beside(
        task=task,
        instruction=left.task.instruction,
        left=_side(records[0], left, outcomes[0]),
        right=_side(records[1], right, outcomes[1]),
        rows=rows,
        parting=next(parts, None),
        warnings=_warnings(records, left, right),
    )


def _warnings(runs: Sequence[RunRecord], left: EpisodeRecord, right: EpisodeRecord) -> list[str]:
    same = runs[0].env == runs[1].env and left.task.instruction == right.task.instruction
    if same:
        return []
    here, there = (f"{run.name} ({run.env}, {run.task_split})" for run in runs)
    that = "that" if left.task_index == right.task_index else f"task {right.task_index}"
    return [f"Task {left.task_index} of {here} is another task than {that} of {there}."]


def _other_places(playground: Playground, a: str, b: str) -> dict[int, int]:
    """Where the equal tasks of the first run stand in the second."""
    first, second = (playground.store.runs.find(name) for name in (a, b))
    return {own: other for other, own in equal_tasks_of(first, second).items()}


def _compared(
    playground: Playground, a: str, b: str, equal_tasks: bool
) -> tuple[ComparisonReport, RunComparison]:
    runs = [playground.store.runs.find(name) for name in (a, b)]
    indexes = playground.run_indexes
    state = (equal_tasks, *((run.id, run.status, indexes.of(run).stamp) for run in runs))

    def compare() -> ComparisonReport:
        return compare_stored(
            playground.store,
            runs,
            counted=lambda run: indexes.of(run).tally,
            equal_tasks=equal_tasks,
        )

    try:
        report = indexes.comparison(state, compare)
    except DifferentTasks as refused:
        raise InputError(refused.told("“Only equal tasks”")) from refused
    one = report.comparisons[0]
    assert isinstance(one, RunComparison)
    return report, one


def _trials(
    left: dict[int, str], right: dict[int, str], trial: int | None, other_trial: int | None
) -> tuple[int, int]:
    """The trials that are shown: those that were asked for, else the first that end otherwise."""
    if trial is None and other_trial is None:
        common = sorted(left.keys() & right.keys())
        for one in common:
            if left[one] != right[one]:
                return one, one
    first = trial if trial is not None else min(left, default=0)
    return first, other_trial if other_trial is not None else min(right, default=0)


def _side(run: RunRecord, episode: EpisodeRecord, outcomes: dict[int, str]) -> BesideSide:
    return BesideSide(
        run=run.name,
        run_id=run.id,
        agent=run.agent_strategy,
        task=episode.task_index,
        trial=episode.trial,
        outcome=outcome_words(episode.outcome),
        reward=episode.reward,
        why=why_of(episode),
        steps=episode.step_count,
        trials=[outcomes.get(one) for one in range(max(outcomes, default=-1) + 1)],
    )


def _rows(left: EpisodeRecord, right: EpisodeRecord) -> list[BesideRow]:
    items = [_by_step(shown_items(one)) for one in (left, right)]
    opening = BesideRow(relation="opening", left=items[0](None), right=items[1](None), differs=[])
    rows = [
        BesideRow(
            relation=pair.relation,
            left=[] if pair.left is None else items[0](pair.left),
            right=[] if pair.right is None else items[1](pair.right),
            differs=argument_list(pair.arguments),
        )
        for pair in align_steps(left.steps, right.steps)
    ]
    return [opening, *rows] if opening.left or opening.right else rows


def _by_step(items: list[ShownItem]) -> Callable[[int | None], list[ShownItem]]:
    found: dict[int | None, list[ShownItem]] = {}
    for item in items:
        found.setdefault(item.step, []).append(item)
    return lambda step: found.get(step, [])
