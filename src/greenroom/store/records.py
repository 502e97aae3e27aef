"""What is kept of a run: self-contained records that need no code of a domain or an agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from operator import attrgetter
from sys import intern
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from greenroom.store.episode_counts import PrunedRecord, Seconds
from greenroom.store.outcomes import NO_RESULT, Outcome
from greenroom.store.record import Record
from greenroom.store.tallies import Tallies
from greenroom.store.trajectory_records import RewardRecord, StepRecord, TaskRecord, UserCallRecord

JobStatus = Literal["running", "interrupted", "complete"]

CellKey = tuple[int, int]
"""A cell of a job: the index of its task or row, and its trial."""


class JobRecord(Record):
    """What runs, evaluations and judgings have in common."""

    id: str
    name: str
    created_at: datetime
    status: JobStatus = "running"
    greenroom_version: str
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    """The configuration as it was given."""

    @property
    def planned(self) -> int:
        """How many cells make up the whole job."""
        raise NotImplementedError


class RunJobRecord(JobRecord):
    """What judgings and regradings have in common: they look at episodes of a run."""

    run_id: str
    run_name: str
    episodes: list[CellKey]

    @property
    def planned(self) -> int:
        """How many episodes are looked at."""
        return len(self.episodes)

    def left(self, finished: Collection[CellKey]) -> list[CellKey]:
        """The episodes that are to do, in order, given those that are finished."""
        return [(item, trial) for item, trial in self.episodes if (item, trial) not in finished]


class Usage(Record):
    """Tokens and money of one purse; an unknown price is None, never 0."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars."""
    retries: int = 0
    lost_calls: int = 0
    """Attempts without an answer that may be billed all the same; the cost is without them."""
    cached_calls: int = 0
    """Answers that came from the cache: they are counted here, and not above."""
    cached_prompt_tokens: int = 0
    cached_completion_tokens: int = 0
    cached_cost: float | None = None
    """What the answers from the cache cost when they were bought."""

    @property
    def tokens(self) -> int:
        """Tokens that were billed."""
        return self.prompt_tokens + self.completion_tokens

    @classmethod
    def total(cls, usages: Iterable[AnyUsage]) -> Usage:
        """Usages in one. An unknown price stays unknown; calls that were not made cost nothing."""
        parts = list(usages)
        counts = {
            name: sum(map(attrgetter(name), parts))
            for name in cls.model_fields
            if not name.endswith("cost")
        }
        return cls(
            **counts,
            cost=total_cost(parts),
            cached_cost=_sum_of_known((usage.cached_calls, usage.cached_cost) for usage in parts),
        )


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """The same as `Usage` in a quarter of its memory, for summaries: there are many of them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    retries: int = 0
    lost_calls: int = 0
    cached_calls: int = 0
    cached_prompt_tokens: int = 0
    cached_completion_tokens: int = 0
    cached_cost: float | None = None

    @property
    def tokens(self) -> int:
        """Tokens that were billed."""
        return self.prompt_tokens + self.completion_tokens


AnyUsage = Usage | UsageCounts


def small_usage(usage: Mapping[str, Usage]) -> dict[str, UsageCounts]:
    """Usage by purse, as summaries hold it."""
    return {purse: UsageCounts(**vars(one)) for purse, one in usage.items()}


@cache
def _usage_counts() -> TypeAdapter[dict[str, UsageCounts]]:
    return TypeAdapter(dict[str, UsageCounts])


def usage_counts(text: str) -> dict[str, UsageCounts]:
    """Usage by purse, as summaries hold it, from its JSON."""
    return _usage_counts().validate_json(text)


def total_cost(usages: Iterable[AnyUsage]) -> float | None:
    """What usages cost together; None if a price is not known, or nothing was bought."""
    total, bought = 0.0, False
    for usage in usages:
        if usage.cost is not None:
            total += usage.cost
            bought = True
        elif usage.calls:
            return None
    return total if bought else None


def known_cost(usages: Collection[Usage]) -> float | None:
    """What usages cost together, for people: calls that were lost are no calls for nothing."""
    cost = total_cost(usages)
    return None if cost == 0 and any(one.lost_calls for one in usages) else cost


def _sum_of_known(bought: Iterable[tuple[int, float | None]]) -> float | None:
    costs = [cost for calls, cost in bought if calls or cost is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


class CellRecord(Record):
    """What the results of runs, evaluations and judgings have in common."""

    outcome: Outcome
    error: str | None = None
    """What went wrong, for a crash or an infrastructure error."""
    attempts: int = 1
    """How many attempts it took, this one included."""
    started_at: datetime
    seconds: Seconds = 0.0
    usage: dict[str, Usage] = Field(default_factory=dict[str, Usage])
    """By purse: agent, user, judge."""
    model_seconds: dict[str, list[Seconds]] = Field(default_factory=dict[str, list[float]])
    """How long each model call took, by purse."""

    @property
    def key(self) -> CellKey:
        """The cell that this is the result of."""
        raise NotImplementedError

    @property
    def has_result(self) -> bool:
        """Whether it counts; a cell without a result is attempted again."""
        return self.outcome != NO_RESULT

    @property
    def cost(self) -> float | None:
        """What it cost in all; None if a price is not known, or nothing was bought."""
        return total_cost(self.usage.values())


class EpisodeRecord(CellRecord):
    """One trial of a task: its trajectory, reward, cost and outcome."""

    task_index: int
    trial: int
    reward: float | None
    """Tau Bench's reward; None where an infrastructure error left none."""
    task: TaskRecord
    opening: str = ""
    opening_calls: list[UserCallRecord] = Field(default_factory=list[UserCallRecord])
    """What the user did before their first message."""
    steps: list[StepRecord] = Field(default_factory=list[StepRecord])
    messages: list[dict[str, Any]] | None = None
    """The agent's own chat messages; None for agents that hold none."""
    details: RewardRecord | None = None
    """None where the episode did not come to its end."""
    seed: int = 0
    turn_seconds: list[Seconds] = Field(default_factory=list[float])
    """How long the agent took for each turn."""
    facts: dict[str, str] = Field(default_factory=dict[str, str])
    """What the agent said of itself, such as a version."""
    tallies: Tallies = Field(default_factory=Tallies)
    """What the agent counted beyond the usual, by what it is of."""
    user_tallies: Tallies = Field(default_factory=Tallies)
    """What the simulated user counted, by what it is of."""
    printed: str = ""
    """What the agent's program printed beside what it said: the end of it, without secrets."""
    pruned: PrunedRecord | None = None
    """What is left of it once its conversation was pruned; None where that is still there."""

    @property
    def key(self) -> CellKey:
        """Its place in the run."""
        return self.task_index, self.trial

    @property
    def solved(self) -> bool:
        """Whether the agent did what the task asks for."""
        return self.outcome == "success"

    @property
    def step_count(self) -> int:
        """The number of steps that it took."""
        return len(self.steps) if self.pruned is None else self.pruned.counts.steps

    @property
    def turns(self) -> int:
        """The number of turns that it took."""
        if self.pruned is not None:
            return self.pruned.counts.turns
        return self.steps[-1].turn if self.steps else 0


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """What is counted of an episode; without its trajectory, so that many fit into memory."""

    task_index: int
    trial: int
    outcome: Outcome
    reward: float | None
    step_count: int
    turns: int
    seconds: float
    cost: float | None
    usage: Mapping[str, AnyUsage]
    instruction: str = ""

    @property
    def solved(self) -> bool:
        """Whether the agent did what the task asks for."""
        return self.outcome == "success"

    @classmethod
    def of(cls, episode: EpisodeRecord) -> EpisodeSummary:
        """What is counted of an episode."""
        copied = ("task_index", "trial", "outcome", "reward", "step_count", "turns", "seconds")
        return cls(
            **{name: getattr(episode, name) for name in copied},
            cost=episode.cost,
            usage=small_usage(episode.usage),
            # All episodes of a task share one text.
            instruction=intern(episode.task.instruction),
        )


class RewindPoint(Record):
    """A place in a stored episode: its first steps are kept, and what follows is played anew."""

    run_id: str
    run_name: str
    task_index: int
    trial: int
    turn: int
    """The turn that is played next, from 1."""
    steps: int
    """How many steps are kept."""


class ExcludedTask(Record):
    """A task that a run, or a look at one, leaves out."""

    task_index: int
    task_id: str | None = None
    """Its own id, where it has one."""
    hash: str = ""
    """Of its content; empty where it is not known."""
    why: list[str] = Field(default_factory=list[str])
    """The kinds of faults that an audit found; empty where it was named without a reason."""
    source: str = ""
    """The file that named it; empty if it was named by hand."""


class TaskSetRecord(Record):
    """Which tasks a run plays, and on which data: hashes of the content, however it was packed."""

    hash: str
    """Of all data of the domain: the tasks of all splits, and what follows."""
    tasks: str
    """Of the tasks of the split alone."""
    database: str
    policy: str
    tools: str
    """The descriptions of the tools that the pack brings."""
    documents: str
    """The knowledge base and its prompts."""
    task_hashes: list[str] = Field(default_factory=list[str])
    """Of each task that is played, in the order of `task_indices`."""
    whole_hash: str = ""
    """What `hash` is with the excluded tasks; empty where none are."""
    whole_tasks: str = ""
    """What `tasks` is with the excluded tasks; empty where none are."""

    @property
    def whole(self) -> TaskSetRecord:
        """The set without exclusions: what the data is by itself."""
        if not self.whole_hash:
            return self
        return self.model_copy(
            update={
                "hash": self.whole_hash,
                "tasks": self.whole_tasks,
                "whole_hash": "",
                "whole_tasks": "",
            }
        )

    def without(self, excluded: Collection[ExcludedTask]) -> TaskSetRecord:
        """The set when these are all that is excluded: its hashes are those of no full set."""
        whole = self.whole
        if not excluded:
            return whole
        left_out = sorted(f"{one.task_index} {one.hash}" for one in excluded)
        hashes = [
            sha256("\n".join([one, "without", *left_out]).encode()).hexdigest()
            for one in (whole.hash, whole.tasks)
        ]
        return whole.model_copy(
            update={
                "hash": hashes[0],
                "tasks": hashes[1],
                "whole_hash": whole.hash,
                "whole_tasks": whole.tasks,
            }
        )


class RunRecord(JobRecord):
    """A benchmark: an agent over tasks x trials."""

    env: str
    task_split: str
    agent_strategy: str
    task_indices: list[int]
    num_trials: int
    pack: dict[str, Any]
    """The pack's name, version, source, licence, edition and commit."""
    task_set: TaskSetRecord | None = None
    """None in runs of versions that did not keep it."""
    judge_prompt: str = ""
    """What tells versions of its judge's question apart; empty without a judge."""
    policy: str = ""
    reads_script: bool = False
    """The agent knew the ground truth: a rehearsal, which no published row stands beside."""
    warnings: list[str] = Field(default_factory=list[str])
    """What is wrong with the tasks, as far as it was seen when the run was begun."""
    official_tasks: bool = False
    """The tasks are those of Tau Bench's official split, so published rows may stand beside it."""
    excluded: list[ExcludedTask] = Field(default_factory=list[ExcludedTask])
    """Tasks that would be played and are left out; `task_indices` has none of them."""
    rewound_to: RewindPoint | None = None
    """Where its episodes begin, if they go on from an episode of another run."""

    @property
    def planned(self) -> int:
        """How many episodes make up the whole run."""
        return len(self.task_indices) * self.num_trials
