"""The API of episodes: lists with filters, and one episode as a conversation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel

from greenroom.audit import findings_of, talk_of
from greenroom.errors import InputError, UnknownName
from greenroom.playground.episode_view import (
    HeardOutput,
    Judgement,
    RecordDifference,
    ShownItem,
    Spent,
    Truth,
    Why,
    differences_of,
    judgement_of,
    outputs_of,
    shown_items,
    spent_by,
    truth_of,
    why_of,
)
from greenroom.playground.paging import After, Limit, Page, numbers_of, page_of
from greenroom.playground.reward_view import RewardPart, reward_parts
from greenroom.playground.runs_routes import MOST_TRIALS, OutcomeWords, outcome_words
from greenroom.playground.state import InPlayground, Playground
from greenroom.reports.html_data import episode_facts
from greenroom.reports.sections import Fact
from greenroom.reports.texts import one_line, plural, wish
from greenroom.store import CellFilter, CellKey, EpisodeRecord, RunRecord
from greenroom.store.note_records import Noted
from greenroom.store.note_rows import has_notes
from greenroom.store.records import known_cost
from greenroom.store.run_pages import RunPages
from greenroom.util.json_values import cleaned
from greenroom.util.raw_json import plain

router = APIRouter()

_LONGEST_WISH = 300
MOST_NUMBER = 2**31 - 1

Task = Annotated[int, Path(ge=0, le=MOST_NUMBER, description="The task's index.")]
Trial = Annotated[int, Path(ge=0, le=MOST_NUMBER, description="The trial, from 0.")]


class NotPlayed(UnknownName):
    """There is no such episode or step."""

    def __init__(self, text: str) -> None:
        InputError.__init__(self, text)


class EpisodeFilter(BaseModel):
    """Which episodes of a run are wanted."""

    outcome: str | None = None
    kind: str | None = None
    """The kind of failure that weighs most."""
    tool: str | None = None
    """A tool that the agent called."""
    task: int | None = None
    q: str = ""
    noted: Noted | None = None
    """Only those with a note of this verdict, or with any note."""

    @property
    def cells(self) -> CellFilter:
        """What the database can be asked for."""
        outcomes = None if self.outcome is None else [self.outcome]
        where = None if self.noted is None else has_notes(self.noted)
        return CellFilter(outcomes=outcomes, item=self.task, text=self.q, where=where)


def episode_filter(
    outcome: Annotated[str | None, Query(description="The name of an outcome.")] = None,
    kind: Annotated[str | None, Query(description="A kind of failure.")] = None,
    tool: Annotated[str | None, Query(description="A tool that the agent called.")] = None,
    of_task: Annotated[int | None, Query(alias="task", ge=0, le=MOST_NUMBER)] = None,
    q: Annotated[str, Query(description="Stands anywhere in the episode.")] = "",
    noted: Annotated[Noted | None, Query(description="A verdict in a note; `any` note.")] = None,
) -> EpisodeFilter:
    """The filter in a request's address."""
    return EpisodeFilter(outcome=outcome, kind=kind, tool=tool, task=of_task, q=q, noted=noted)


Filter = Annotated[EpisodeFilter, Depends(episode_filter)]


class EpisodeItem(BaseModel):
    """An episode in a list."""

    task: int
    trial: int
    outcome: str
    label: str
    """The outcome in words."""
    reward: float | None
    steps: int
    turns: int
    seconds: float
    cost: float | None
    wish: str
    """What the user wants."""
    kind: str | None
    why: str | None
    """Why it failed, in a sentence."""


class Place(BaseModel):
    """Where an episode stands in its run."""

    task: int
    trial: int


class Episode(BaseModel):
    """An episode: what was said and done, beside what should have been done."""

    run: str
    run_id: str
    env: str
    split: str
    agent: str
    task: int
    trial: int
    outcome: OutcomeWords
    reward: float | None
    why: Why | None
    """Why it failed; null if it did not."""
    error: str | None
    instruction: str
    items: list[ShownItem]
    pruned: str
    """That the conversation was pruned, in a sentence; empty where it is still there."""
    truth: list[Truth]
    database_is_right: bool | None
    """Null where the episode did not come to its end."""
    differences: list[RecordDifference]
    outputs: list[HeardOutput]
    parts: list[RewardPart]
    """What the reward is made of; empty where the episode did not come to its end."""
    facts: list[Fact]
    printed: str
    """What the agent's program printed beside what it said."""
    spent: list[Spent]
    flags: list[str]
    """What was odd about the simulated user, in words."""
    judgements: list[Judgement]
    trials: list[str | None]
    """The outcomes of the task's first trials."""


class Neighbours(BaseModel):
    """The episodes before and after one, among those that a filter gives."""

    previous: Place | None
    next: Place | None


@router.get("/runs/{run:path}/episodes")
def list_episodes(
    playground: InPlayground, run: str, wanted: Filter, after: After = None, limit: Limit = 50
) -> Page[EpisodeItem]:
    """Episodes of a run by task and trial, filtered."""
    record = playground.store.runs.find(run)
    key = numbers_of(after, 2)
    place = None if key is None else (key[0], key[1])
    keys = _Selected(playground, record, wanted).after(place, limit + 1)
    found = playground.store.runs.pages.records_of(record.id, keys[:limit])
    items = {key: _item(found[key]) for key in keys[:limit] if key in found}
    page = page_of(keys, limit, lambda one: one)
    return Page(items=[items[key] for key in page.items if key in items], next=page.next)


@router.get("/runs/{run:path}/episodes/{task}/{trial}")
def get_episode(playground: InPlayground, run: str, task: Task, trial: Trial) -> Episode:
    """One episode as a conversation."""
    record = playground.store.runs.find(run)
    episode = find_episode(playground, record, task, trial)
    pages = RunPages(playground.store.engine)
    trials = pages.outcomes(record.id, [task], (0, MOST_TRIALS))[task]
    details = episode.details
    talk = talk_of(episode, record.config.get("user_persona"))
    findings = [] if episode.pruned is not None else findings_of(talk)
    return Episode(
        run=record.name,
        run_id=record.id,
        env=record.env,
        split=record.task_split,
        agent=record.agent_strategy,
        task=task,
        trial=trial,
        outcome=outcome_words(episode.outcome),
        reward=episode.reward,
        why=why_of(episode),
        error=episode.error,
        instruction=episode.task.instruction,
        items=shown_items(episode, findings),
        pruned=""
        if episode.pruned is None
        else f"{episode.pruned}: its figures are kept.".capitalize(),
        truth=truth_of(episode),
        database_is_right=None if details is None else details.database,
        differences=differences_of(episode),
        outputs=outputs_of(episode),
        parts=reward_parts(episode),
        facts=[Fact(label=label, value=value) for label, value in episode_facts(episode)],
        printed=cleaned(episode.printed),
        spent=spent_by(episode.usage),
        flags=[f"Turn {one.turn}: {one.sentence}" for one in findings],
        judgements=_judgements(playground, record, (task, trial)),
        trials=[trials.get(one) for one in range(max(trials, default=-1) + 1)],
    )


@router.get("/runs/{run:path}/episodes/{task}/{trial}/neighbours")
def get_episode_neighbours(
    playground: InPlayground, run: str, task: Task, trial: Trial, wanted: Filter
) -> Neighbours:
    """The episodes before and after one, among those that the filter gives."""
    selected = _Selected(playground, playground.store.runs.find(run), wanted)
    return Neighbours(
        previous=selected.neighbour((task, trial), forward=False),
        next=selected.neighbour((task, trial), forward=True),
    )


@router.get("/runs/{run:path}/episodes/{task}/{trial}/record")
def get_episode_record(playground: InPlayground, run: str, task: Task, trial: Trial) -> Any:
    """One episode as it is stored, with every text in full."""
    record = playground.store.runs.find(run)
    return plain(find_episode(playground, record, task, trial).model_dump(mode="json"))


@router.get("/runs/{run:path}/episodes/{task}/{trial}/steps/{step}")
def get_episode_step(
    playground: InPlayground, run: str, task: Task, trial: Trial, step: int
) -> Any:
    """One step of an episode in full."""
    record = playground.store.runs.find(run)
    steps = find_episode(playground, record, task, trial).steps
    if not 0 <= step < len(steps):
        raise NotPlayed(f"The episode has {plural(len(steps), 'step')}; steps count from 0.")
    return plain(steps[step].model_dump(mode="json"))


class _Selected:
    """The episodes of a run that a filter gives, by task and trial."""

    def __init__(self, playground: Playground, run: RunRecord, wanted: EpisodeFilter) -> None:
        self._run_id = run.id
        self._pages = RunPages(playground.store.engine)
        self._cells = wanted.cells
        self._keys: list[CellKey] | None = None
        if wanted.kind is not None or wanted.tool is not None:
            # How episodes failed is known to the index alone.
            keys = playground.run_indexes.of(run).selected(wanted.kind, wanted.tool)
            if wanted.outcome is not None or wanted.task is not None or wanted.q or wanted.noted:
                matching = set(self._pages.keys(run.id, self._cells))
                keys = [key for key in keys if key in matching]
            self._keys = keys

    def after(self, key: CellKey | None, limit: int) -> list[CellKey]:
        """So many episodes after a key."""
        if self._keys is None:
            return self._pages.keys(self._run_id, self._cells, after=key, limit=limit)
        start = 0 if key is None else bisect_right(self._keys, key)
        return self._keys[start : start + limit]

    def neighbour(self, key: CellKey, *, forward: bool) -> Place | None:
        """The episode after or before a key."""
        if forward:
            found = self.after(key, 1)
        elif self._keys is None:
            found = self._pages.keys(self._run_id, self._cells, before=key, limit=1)
        else:
            end = bisect_left(self._keys, key)
            found = self._keys[max(0, end - 1) : end]
        return Place(task=found[0][0], trial=found[0][1]) if found else None


def find_episode(playground: Playground, run: RunRecord, task: int, trial: int) -> EpisodeRecord:
    """An episode of a run."""
    found = playground.store.runs.result(run.id, (task, trial))
    if found is None:
        raise NotPlayed(f"Task {task}, trial {trial} of the run '{run.name}' was not played.")
    return found


def _item(episode: EpisodeRecord) -> EpisodeItem:
    why = why_of(episode)
    return EpisodeItem(
        task=episode.task_index,
        trial=episode.trial,
        outcome=episode.outcome,
        label=outcome_words(episode.outcome).label,
        reward=episode.reward,
        steps=episode.step_count,
        turns=episode.turns,
        seconds=episode.seconds,
        cost=known_cost(episode.usage.values()),
        wish=one_line(wish(episode.task.instruction), _LONGEST_WISH),
        kind=None if why is None else why.kind,
        why=None if why is None else why.sentence,
    )


def _judgements(playground: Playground, run: RunRecord, key: CellKey) -> list[Judgement]:
    judgings = playground.store.judgings
    found = ((one.judge, judgings.result(one.id, key)) for one in judgings.all(parent=run.id))
    return [judgement_of(judge, record) for judge, record in found if record is not None]
