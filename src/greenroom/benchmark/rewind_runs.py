"""Trials from a place in a stored episode: a run that belongs to the run it goes on from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import uuid4

import anyio
from pydantic import BaseModel

from greenroom._version import __version__
from greenroom.analysis.errors import diagnose
from greenroom.analysis.intervals import binomial_bounds
from greenroom.benchmark.config import RunConfig, check_config
from greenroom.benchmark.context import RunContext
from greenroom.benchmark.restoring import ObservationDifference
from greenroom.benchmark.rewind import find_point, open_at, stored_episode, taken_over
from greenroom.benchmark.runner import prepare_again
from greenroom.errors import InputError
from greenroom.options import options_of
from greenroom.store import (
    EpisodeRecord,
    Outcome,
    RewindPoint,
    RunRecord,
    Store,
    TaskSetRecord,
    Usage,
)

CONFIDENCE = 0.95


@dataclass(frozen=True)
class StartedRewind:
    """Trials that are ready to be played by `play_run`."""

    run: RunRecord
    context: RunContext
    differences: tuple[ObservationDifference, ...]
    """Where the tools answer otherwise than they did when the episode was recorded."""


class TrialOutcome(BaseModel):
    """How a trial from a place ended."""

    trial: int
    outcome: Outcome
    reward: float | None
    kind: str | None = None
    """What it failed by."""
    explanation: str = ""


class RewindOutcome(BaseModel):
    """How often an episode is solved from a place on."""

    run_id: str
    run_name: str
    point: RewindPoint
    agent: str
    planned: int
    trials: int
    """Trials with a result."""
    solved: int
    low: float | None
    high: float | None
    """The exact 95 % interval of the chance to solve it from here."""
    stored: TrialOutcome
    """How the stored trial went on from here."""
    outcomes: dict[str, int]
    """Trials by outcome."""
    kinds: dict[str, int]
    """Failed trials by what they failed by."""
    each: list[TrialOutcome]
    usage: Usage

    @property
    def sentence(self) -> str:
        """The result in words."""
        if not self.trials or self.low is None or self.high is None:
            return "No trial from here has a result yet."
        return (
            f"From here it is solved {self.solved} of {self.trials} times "
            f"(95 % interval {100 * self.low:.0f} to {100 * self.high:.0f} %)."
        )


def start_rewind(
    store: Store,
    name: str,
    task_index: int,
    *,
    trial: int = 0,
    turn: int | None = None,
    step: int | None = None,
    trials: int = 1,
    changes: Mapping[str, Any] | None = None,
    again: bool = False,
) -> StartedRewind:
    """Plan trials from a place in a stored episode, as a run that belongs to the stored one.

    The agent and its configuration are those of the run, with `changes`. Trials from the same place
    with the same configuration are added to those that are there, unless `again`. It restores the
    world once to see that it can be, so call it outside of an event loop.
    """
    origin = store.runs.find(name)
    episode = stored_episode(store, origin, task_index, trial)
    point = find_point(origin, episode, turn=turn, step=step)
    config = rewound_config(origin, point, changes or {}, trials)
    context = taken_over(store, prepare_again(origin, config), point)
    config = context.config

    async def opened() -> tuple[ObservationDifference, ...]:
        split, most = origin.task_split, context.max_steps
        rewound = await open_at(context.domain, episode, point, split=split, max_steps=most)
        return rewound.differences

    differences = anyio.run(opened)
    earlier = None if again else _earlier(store, point, config)
    if earlier is not None:
        return StartedRewind(_extended(store, earlier, config), context, differences)
    run = RunRecord(
        id=uuid4().hex[:12],
        name="",
        created_at=datetime.now(UTC),
        greenroom_version=__version__,
        config=config.model_dump(),
        env=origin.env,
        task_split=origin.task_split,
        agent_strategy=context.strategy.name,
        task_indices=[task_index],
        num_trials=trials,
        pack=origin.pack,
        task_set=_task_set_of(origin, task_index),
        policy=origin.policy,
        reads_script=context.strategy.reads_script,
        rewound_to=point,
    )
    stem = f"{origin.name}-task-{task_index}-turn-{point.turn}"
    return StartedRewind(store.runs.create(run, stem=stem), context, differences)


def _task_set_of(origin: RunRecord, task_index: int) -> TaskSetRecord | None:
    kept = origin.task_set
    if kept is None:
        return None
    hashes = dict(zip(origin.task_indices, kept.task_hashes, strict=False))
    return kept.whole.model_copy(update={"task_hashes": [hashes[task_index]]})


def rewound_config(
    origin: RunRecord, point: RewindPoint, changes: Mapping[str, Any], trials: int
) -> RunConfig:
    """The configuration of trials from a place: that of the run, with changes."""
    # As people type them, options are texts: NAME=VALUE.
    changes = {name: getattr(check_config(changes), name) for name in changes}
    fields = {**origin.config, **changes}
    for who in ("agent", "user"):
        strategy, options = f"{who}_strategy", f"{who}_options"
        if fields.get(strategy) == origin.config.get(strategy):
            fields[options] = {**origin.config.get(options, {}), **changes.get(options, {})}
        else:
            fields[options] = changes.get(options, {})
    fields |= {
        "seed": rewind_seed(int(fields.get("seed", 0)), point),
        "num_trials": trials,
        "task_ids": [point.task_index],
        "start_index": 0,
        "end_index": -1,
        "shuffle": False,
        "gates": [],
    }
    return check_config(fields)


def rewind_seed(seed: int, point: RewindPoint) -> int:
    """The seed of all trials from a place: each of them then has its own, as in any run."""
    place = f"{seed}/{point.task_index}/{point.trial}/from {point.steps}"
    return int.from_bytes(sha256(place.encode()).digest()[:4]) & 0x7FFFFFFF


def _earlier(store: Store, point: RewindPoint, config: RunConfig) -> RunRecord | None:
    """The newest trials from the same place with the same configuration."""
    free = {"num_trials", *(one.field for one in options_of(RunConfig) if one.flag.on_resume)}
    wanted = {name: value for name, value in config.model_dump().items() if name not in free}
    for run in store.runs.all(parent=point.run_id):
        kept = {name: value for name, value in run.config.items() if name not in free}
        if run.rewound_to == point and kept == wanted:
            return run
    return None


def _extended(store: Store, run: RunRecord, config: RunConfig) -> RunRecord:
    if run.status == "running":
        raise InputError(
            f"The trials '{run.name}' are under way. Watch them: greenroom runs watch {run.name}"
        )
    more = max(run.num_trials, config.num_trials)
    dumped = config.model_copy(update={"num_trials": more}).model_dump()
    extended = run.model_copy(update={"num_trials": more, "config": dumped})
    store.runs.update(extended)
    return store.runs.find(run.id)


def rewind_outcome(store: Store, run: RunRecord) -> RewindOutcome:
    """How often the trials of a rewound run solved their task, beside the stored trial."""
    point = run.rewound_to
    if point is None:
        raise InputError(f"'{run.name}' is a whole run: it goes on from no stored episode.")
    origin = store.runs.find(point.run_id)
    stored = stored_episode(store, origin, point.task_index, point.trial)
    episodes = list(store.runs.results(run.id))
    counted = [episode for episode in episodes if episode.has_result]
    solved = sum(episode.solved for episode in counted)
    low, high = binomial_bounds(len(counted), solved, CONFIDENCE) if counted else (None, None)
    each = [_outcome(episode) for episode in episodes]
    return RewindOutcome(
        run_id=run.id,
        run_name=run.name,
        point=point,
        agent=run.agent_strategy,
        planned=run.planned,
        trials=len(counted),
        solved=solved,
        low=low,
        high=high,
        stored=_outcome(stored),
        outcomes=dict(Counter(one.outcome for one in each).most_common()),
        kinds=dict(Counter(one.kind for one in each if one.kind is not None).most_common()),
        each=each,
        usage=Usage.total(store.runs.usages(run.id)),
    )


def _outcome(episode: EpisodeRecord) -> TrialOutcome:
    found = diagnose(episode)
    return TrialOutcome(
        trial=episode.trial,
        outcome=episode.outcome,
        reward=episode.reward,
        kind=None if found is None else found.kind,
        explanation="" if found is None else found.explanation,
    )


__all__ = [
    "RewindOutcome",
    "StartedRewind",
    "TrialOutcome",
    "rewind_outcome",
    "start_rewind",
]
