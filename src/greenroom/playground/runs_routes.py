"""The API of runs: the list, one run with its report, and its grid of tasks x trials."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from greenroom.playground.paging import After, Limit, Page, cursor, key_of, numbers_of, page_of
from greenroom.playground.shown import Shown, shown
from greenroom.playground.state import InPlayground, Playground
from greenroom.reports.sections import Fact
from greenroom.reports.texts import one_line, show, tone, wish
from greenroom.store import OUTCOMES, RunRecord, Standing, outcome_info
from greenroom.store.records import JobStatus
from greenroom.store.run_pages import RunPages, TaskCounts

router = APIRouter()

MOST_TRIALS = 100
"""So many trials of a task stand in a page of the grid."""
_LONGEST_WISH = 300


class RunItem(BaseModel):
    """A run in a list, with how it stands now."""

    id: str
    name: str
    agent: str
    model: str | None
    env: str
    split: str
    status: JobStatus
    planned: int
    finished: int
    """Episodes with a result."""
    pass_1: float | None
    created_at: str
    tasks: int
    trials: int


class OutcomeWords(BaseModel):
    """How an episode can end, in words."""

    outcome: str
    label: str
    symbol: str
    meaning: str
    tone: str
    """The name of the colours that it is marked with."""


class OutcomeCount(OutcomeWords):
    """An outcome in words, and how often it occurred."""

    count: int


class Run(RunItem):
    """A run: what is known without reading its episodes."""

    outcomes: list[OutcomeCount]
    resume: str | None
    """The command that goes on with it; null if it is complete or under way."""
    watch: str | None
    """The command that shows its progress in a terminal; null if it is not under way."""
    export: str
    """The command that writes its report as a page."""


class Gate(BaseModel):
    """What had to hold, and whether it does."""

    gate: str
    verdict: str
    passed: bool
    reason: str


class RunReportPage(BaseModel):
    """A run's report, in the words of every form of it."""

    headline: str
    notes: list[str]
    """What has to be known to read the result rightly."""
    facts: list[Fact]
    gates: list[Gate]
    sections: list[Shown]
    counted: int
    """Of so many episodes."""
    status: JobStatus


class GridRow(BaseModel):
    """A task with what became of its trials."""

    task: int
    wish: str
    """What the user wants."""
    outcomes: list[str | None]
    """By trial; null where it was not played."""
    solved: str
    """As 3/4."""
    rate: float | None
    reward: str


class Grid(BaseModel):
    """Some tasks of a run with the outcomes of some trials."""

    items: list[GridRow]
    next: str | None = None
    """Goes into `after` to get the next tasks; null if these are the last."""
    first_trial: int
    trials: int
    """How many trials tasks have in all."""
    legend: list[OutcomeCount]
    """The outcomes that occur in the run."""


@router.get("/runs")
def list_runs(
    playground: InPlayground,
    q: Annotated[str, Query(description="Stands in the name, the agent or the domain.")] = "",
    after: After = None,
    limit: Limit = 50,
) -> Page[RunItem]:
    """Runs, the newest first: those that are played in a terminal now, too."""
    key = key_of(after, 2)
    place = None if key is None else (str(key[0]), str(key[1]))
    found = playground.store.runs.pages.jobs(after=place, limit=limit + 1, text=q)
    items = [run_item(one) for one in found]
    return page_of(items, limit, lambda one: (one.created_at, one.id))


@router.get("/outcomes")
def list_outcomes() -> list[OutcomeWords]:
    """How episodes can end, in words."""
    return [outcome_words(name) for name in OUTCOMES]


@router.get("/runs/{run:path}/report")
def get_run_report(playground: InPlayground, run: str) -> RunReportPage:
    """What the run's report says: figures with intervals, slices, failures, costs, leaderboard.

    Its episodes are read once; later only those that were added.
    """
    record = playground.store.runs.find(run)
    index = playground.run_indexes.of(record)
    report = index.report(record)
    gates = [
        Gate(gate=one.gate, verdict=one.verdict, passed=one.passed, reason=one.reason)
        for one in report.gates
    ]
    return RunReportPage(
        headline=report.headline,
        notes=report.notes,
        facts=report.facts,
        gates=gates,
        sections=shown(report.sections),
        counted=index.episodes,
        status=record.status,
    )


@router.get("/runs/{run:path}/grid")
def get_run_grid(
    playground: InPlayground,
    run: str,
    first_trial: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="The first trial shown.")
    ] = 0,
    after: After = None,
    limit: Limit = 50,
) -> Grid:
    """Tasks x trials with the outcome of each, by task."""
    record = playground.store.runs.find(run)
    pages = RunPages(playground.store.engine)
    key = numbers_of(after, 1)
    tasks = planned_tasks(pages, record)
    rest = [task for task in tasks if key is None or task > key[0]]
    chosen = rest[:limit]
    trials = max(record.num_trials, pages.last_trial(record.id) + 1)
    span = (first_trial, max(first_trial, min(trials, first_trial + MOST_TRIALS)))
    outcomes = pages.outcomes(record.id, chosen, span)
    counts = pages.counts([record.id], chosen)[record.id]
    wishes = pages.instructions(record.id, chosen)
    return Grid(
        items=[
            GridRow(
                task=task,
                wish=one_line(wish(wishes.get(task, "")), _LONGEST_WISH),
                outcomes=[outcomes[task].get(trial) for trial in range(*span)],
                **_solved(counts.get(task)),
            )
            for task in chosen
        ],
        next=cursor(chosen[-1]) if len(rest) > limit else None,
        first_trial=first_trial,
        trials=trials,
        legend=outcome_counts(playground, record.id),
    )


@router.get("/runs/{run:path}")  # the last of these: a name may have slashes in it
def get_run(playground: InPlayground, run: str) -> Run:
    """One run, by its name or id: how it stands now."""
    standing = standing_of(playground, run)
    item, name = run_item(standing), quote(standing.job.name)
    status = item.status
    return Run(
        **dict(item),
        outcomes=outcome_counts(playground, standing.job.id),
        resume=f"greenroom resume {name}" if status == "interrupted" else None,
        watch=f"greenroom runs watch {name}" if status == "running" else None,
        export=f"greenroom runs show {name} -o report.html",
    )


def _solved(counts: TaskCounts | None) -> dict[str, Any]:
    if counts is None:
        return {"solved": show(None), "rate": None, "reward": show(None)}
    return {
        "solved": show([counts.successes, counts.trials], "ratio"),
        "rate": counts.successes / counts.trials,
        "reward": show(counts.reward, "decimal", 2),
    }


def planned_tasks(pages: RunPages, run: RunRecord) -> list[int]:
    """The tasks of a run by number: those that were planned, and any that were played beyond."""
    return sorted({*run.task_indices, *pages.tasks_beyond(run.id, run.task_indices)})


def standing_of(playground: Playground, run: str) -> Standing[RunRecord]:
    """A run with how it stands, by its name or id."""
    record = playground.store.runs.find(run)
    found = playground.store.runs.pages.standing(record.id)
    return found or Standing(record, 0, None)


def run_item(standing: Standing[RunRecord]) -> RunItem:
    """A run as lists have it."""
    run = standing.job
    model = run.config.get("model")
    return RunItem(
        id=run.id,
        name=run.name,
        agent=run.agent_strategy,
        model=model if isinstance(model, str) and model else None,
        env=run.env,
        split=run.task_split,
        status=run.status,
        planned=run.planned,
        finished=standing.finished,
        pass_1=standing.mean,
        created_at=run.created_at.isoformat(),
        tasks=len(run.task_indices),
        trials=run.num_trials,
    )


def outcome_counts(playground: Playground, run_id: str) -> list[OutcomeCount]:
    """How often each outcome occurred in a run, the most frequent first."""
    counts = playground.store.runs.pages.outcomes(run_id)
    found = [outcome_count(name, count) for name, count in counts.items()]
    return sorted(found, key=lambda one: (-one.count, one.outcome))


def outcome_count(outcome: str, count: int = 1) -> OutcomeCount:
    """An outcome in words, and how often it occurred."""
    return OutcomeCount(**dict(outcome_words(outcome)), count=count)


def outcome_words(outcome: str) -> OutcomeWords:
    """An outcome in words."""
    info = outcome_info(outcome)
    return OutcomeWords(
        outcome=outcome,
        label=info.label,
        symbol=info.symbol,
        meaning=info.meaning,
        tone="missing" if outcome == "missing" else tone(outcome),
    )
