"""Rewind: stored episodes that go on from a turn, by hand, by the agent, or n times."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from anyio import to_thread
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from greenroom.agents import strategy_names
from greenroom.benchmark.config import check_config
from greenroom.benchmark.rewind import Rewound, find_point, open_at, stored_episode
from greenroom.benchmark.rewind_runs import RewindOutcome, rewind_outcome
from greenroom.benchmark.runner import prepare_again
from greenroom.errors import UnknownName
from greenroom.playground import board_work
from greenroom.playground.episode_targets import episode_address
from greenroom.playground.paging import After, Limit, Page, key_of, page_of
from greenroom.playground.state import InPlayground, Playground
from greenroom.playground.thread_models import BoardRequest, ThreadSpec
from greenroom.reports.recorded_trajectories import spoken_call, spoken_step
from greenroom.store import RewindPoint, RunRecord
from greenroom.store.records import JobStatus
from greenroom.trajectories import write_conversation

router = APIRouter()

_MOST_TRIALS = 1000
_MOST_DIFFERENCES = 50
_LONGEST_OBSERVATION = 2000


class RewindRequest(BaseModel):
    """A place in a stored episode: a turn, or a step within one; both count from 1."""

    model_config = ConfigDict(extra="forbid")

    run: str
    task: int = Field(ge=0)
    trial: int = Field(default=0, ge=0)
    turn: int | None = None
    step: int | None = None


class ChangedObservation(BaseModel):
    """A tool that answers otherwise than it did when the episode was recorded."""

    step: int
    tool: str
    recorded: str
    replayed: str


class RewoundThread(BaseModel):
    """A thread that stands at a place in a stored episode."""

    board_id: str
    thread_id: str
    address: str
    point: RewindPoint
    differences: list[ChangedObservation]
    """Where the world is not as it was: what tools answer otherwise today."""


class TrialsRequest(RewindRequest):
    """Trials from a place; the agent is that of the run, unless something else is said."""

    trials: int = Field(default=10, ge=1, le=_MOST_TRIALS)
    again: bool = False
    """Begin anew beside the trials that were played from there before."""
    agent_strategy: str | None = None
    model: str | None = None
    model_provider: str | None = None
    temperature: float | None = Field(default=None, ge=0)
    max_num_steps: int | None = Field(default=None, ge=1)


class Trials(BaseModel):
    """Trials from a place, and what came of them so far."""

    status: JobStatus
    problem: str | None = None
    """Why they stopped before their end."""
    sentence: str
    outcome: RewindOutcome


class TrialsItem(BaseModel):
    """Trials from a place, in a list."""

    run_id: str
    name: str
    point: RewindPoint
    agent: str
    model: str | None
    status: JobStatus
    planned: int
    finished: int
    solved: float | None
    """The share that is solved."""
    created_at: str


@router.post("/rewinds")
async def rewind_episode(playground: InPlayground, wanted: RewindRequest) -> RewoundThread:
    """A thread at a place in a stored episode, with its world restored to just there."""
    rewound = await to_thread.run_sync(_rewound, playground, wanted)
    point, episode = rewound.point, rewound.episode
    steps = [spoken_step(step) for step in episode.steps[: point.steps]]
    calls = [spoken_call(call) for call in episode.opening_calls]
    place = f"task {point.task_index}, trial {point.trial}, turn {point.turn}"
    spec = ThreadSpec(
        address=episode_address(point),
        messages=write_conversation("", episode.opening, steps, opening_calls=calls)[1:],
        title=place,
    )
    await playground.workflows.one(spec.address)  # from then on its name is known
    title = f"{point.run_name}: {place}"[:500]
    board = await board_work.create_board(playground, BoardRequest(title=title, threads=[spec]))
    board_work.told(playground, board.id)
    threads, _ = await playground.in_store(_threads, playground, board.id)
    return RewoundThread(
        board_id=board.id,
        thread_id=threads[0].id,
        address=spec.address,
        point=point,
        differences=[
            ChangedObservation(
                step=one.step + 1,
                tool=one.tool,
                recorded=one.recorded[:_LONGEST_OBSERVATION],
                replayed=one.replayed[:_LONGEST_OBSERVATION],
            )
            for one in rewound.differences[:_MOST_DIFFERENCES]
        ],
    )


@router.get("/rewinds")
def list_rewinds(
    playground: InPlayground,
    run: str,
    task: Annotated[int | None, Query(ge=0)] = None,
    trial: Annotated[int | None, Query(ge=0)] = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[TrialsItem]:
    """Trials that go on from the episodes of a run, the newest first."""
    store = playground.store
    origin = store.runs.find(run)
    key = key_of(after, 2)
    place = None if key is None else (str(key[0]), str(key[1]))
    found = store.runs.pages.jobs(after=place, limit=limit + 1, parent=origin.id)
    items = [
        TrialsItem(
            run_id=one.job.id,
            name=one.job.name,
            point=one.job.rewound_to,
            agent=one.job.agent_strategy,
            model=one.job.config.get("model"),
            status=one.job.status,
            planned=one.job.planned,
            finished=one.finished,
            solved=one.mean,
            created_at=one.job.created_at.isoformat(),
        )
        for one in found
        if one.job.rewound_to is not None
    ]
    page = page_of(items, limit, lambda one: (one.created_at, one.run_id))
    wanted = [
        one
        for one in page.items
        if task in (None, one.point.task_index) and trial in (None, one.point.trial)
    ]
    return page.model_copy(update={"items": wanted})


@router.post("/rewinds/trials")
def start_trials(playground: InPlayground, wanted: TrialsRequest) -> Trials:
    """Play an episode from a place on, n times, in the server."""
    agent = wanted.agent_strategy
    if agent is not None and agent not in strategy_names():
        raise UnknownName("agent", agent, strategy_names())  # files are for the terminal
    changes = wanted.model_dump(
        include={"agent_strategy", "model", "model_provider", "temperature", "max_num_steps"},
        exclude_none=True,
    )
    started = playground.rewinds.start(
        wanted.run,
        wanted.task,
        trial=wanted.trial,
        turn=wanted.turn,
        step=wanted.step,
        trials=wanted.trials,
        changes=changes,
        again=wanted.again,
    )
    return _trials(playground, started.run.id)


@router.get("/rewinds/trials/{run_id}")
def get_trials(playground: InPlayground, run_id: str) -> Trials:
    """How often it is solved from there, so far."""
    return _trials(playground, run_id)


@router.post("/rewinds/trials/{run_id}/stop")
def stop_trials(playground: InPlayground, run_id: str) -> Trials:
    """Stop trials; those that are finished are kept."""
    playground.rewinds.stop(_trial_run(playground, run_id))
    return _trials(playground, run_id)


@router.delete("/rewinds/trials/{run_id}", status_code=204)
def delete_trials(playground: InPlayground, run_id: str) -> None:
    """Delete trials with their episodes."""
    playground.store.runs.delete(_trial_run(playground, run_id))


def _trials(playground: Playground, run_id: str) -> Trials:
    run = _trial_run(playground, run_id)
    outcome = rewind_outcome(playground.store, run)
    return Trials(
        status=run.status,
        problem=playground.rewinds.problem(run.id),
        sentence=outcome.sentence,
        outcome=outcome,
    )


def _trial_run(playground: Playground, run_id: str) -> RunRecord:
    run = playground.store.runs.find(run_id)
    if run.rewound_to is None:
        raise UnknownName("trials from a turn", run_id, ())
    return run


def _rewound(playground: Playground, wanted: RewindRequest) -> Rewound:
    store = playground.store
    run = store.runs.find(wanted.run)
    episode = stored_episode(store, run, wanted.task, wanted.trial)
    point = find_point(run, episode, turn=wanted.turn, step=wanted.step)
    context = prepare_again(run, check_config(run.config))

    async def opened() -> Rewound:
        most = max(context.max_steps, point.steps + 1)
        return await open_at(context.domain, episode, point, split=run.task_split, max_steps=most)

    return anyio.run(opened)


def _threads(playground: Playground, board_id: str) -> Any:
    return playground.store.threads.rows(board_id, after=-1, limit=1)
