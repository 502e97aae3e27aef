"""The tally of a run: which of its planned episodes have a result, each counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from greenroom.analysis.figures import ErrorConvention
from greenroom.store.records import Usage, total_cost

SOLVED = 1 - 1e-6
"""Tau Bench's measure: a reward this close to 1 is a success."""


class EpisodeLike(Protocol):
    """What is counted of an episode: a full record has it, and so has a summary of one."""

    @property
    def task_index(self) -> int: ...
    @property
    def trial(self) -> int: ...
    @property
    def outcome(self) -> str: ...
    @property
    def reward(self) -> float | None: ...
    @property
    def step_count(self) -> int: ...
    @property
    def turns(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def usage(self) -> Mapping[str, Usage]: ...


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode as the figures see it, without its trajectory."""

    task_index: int
    trial: int
    outcome: str
    reward: float | None
    """None where there is no result."""
    steps: int
    turns: int
    seconds: float
    usage: Mapping[str, Usage] = field(default_factory=dict[str, Usage])
    instruction: str = ""
    turn_seconds: Sequence[float] = ()
    model_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])

    @property
    def solved(self) -> bool:
        """The episode has a result, and it is a success."""
        return self.reward is not None and self.reward >= SOLVED


def row_of(episode: EpisodeLike) -> EpisodeRow:
    """What the figures need of an episode; the instruction where it carries its task.

    An infrastructure error is never a result, whatever reward was noted beside it.
    """
    task = getattr(episode, "task", None)
    return EpisodeRow(
        task_index=episode.task_index,
        trial=episode.trial,
        outcome=episode.outcome,
        reward=None if episode.outcome == "infrastructure_error" else episode.reward,
        steps=episode.step_count,
        turns=episode.turns,
        seconds=episode.seconds,
        usage=episode.usage,
        instruction=getattr(task, "instruction", ""),
        turn_seconds=getattr(episode, "turn_seconds", ()),
        model_seconds=getattr(episode, "model_seconds", {}),
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """The episodes of a run by task and trial, held against what was planned."""

    rows: Mapping[int, Mapping[int, EpisodeRow]]
    """By task, then by trial; a planned task that was not played has an empty mapping."""
    num_trials: int
    duplicates: int

    @property
    def played(self) -> list[EpisodeRow]:
        """All episodes, each (task, trial) once."""
        return [row for trials in self.rows.values() for row in trials.values()]

    @property
    def planned(self) -> int:
        """The planned episodes, and those that were played beyond the plan."""
        return sum(max(self.num_trials, len(trials)) for trials in self.rows.values())

    def missing(self, task_index: int) -> int:
        """How many planned trials of a task were not played."""
        return max(0, self.num_trials - len(self.rows[task_index]))

    def rewards(
        self, convention: ErrorConvention, *, over: bool = True
    ) -> dict[int, dict[int, float]]:
        """The rewards that count, by task and trial.

        errors_excluded: the episodes with a result; errors and missing trials are left out.
        errors_as_failures: errors have reward 0; so have planned trials that were not played, once
        the run is over. While it goes on these are left out, since they may still be played.
        """
        counted: dict[int, dict[int, float]] = {}
        for task_index, trials in self.rows.items():
            kept = {t: row.reward for t, row in trials.items() if row.reward is not None}
            if convention == "errors_as_failures":
                kept = {trial: kept.get(trial, 0.0) for trial in trials}
                if over:
                    free = (trial for trial in range(self.num_trials) if trial not in trials)
                    kept |= dict.fromkeys(islice(free, self.missing(task_index)), 0.0)
            counted[task_index] = kept
        return counted


def tally(
    episodes: Iterable[EpisodeLike], *, task_indices: Sequence[int], num_trials: int
) -> Tally:
    """Sort the episodes of a run by task and trial; of duplicates the first one counts.

    Episodes beyond the plan were played all the same and are counted, as planned ones.
    """
    rows: dict[int, dict[int, EpisodeRow]] = {index: {} for index in task_indices}
    duplicates = 0
    for episode in episodes:
        row = row_of(episode)
        trials = rows.setdefault(row.task_index, {})
        if row.trial in trials:
            duplicates += 1
        else:
            trials[row.trial] = row
    return Tally(rows, num_trials, duplicates)


def cost_of(rows: Iterable[EpisodeRow]) -> float | None:
    """What episodes cost together: None if any price is unknown, or if nothing was bought."""
    return total_cost(usage for row in rows for usage in row.usage.values())


def tokens_of(rows: Iterable[EpisodeRow]) -> dict[str, int]:
    """The tokens of episodes by purse."""
    tokens: dict[str, int] = {}
    for row in rows:
        for purse, usage in row.usage.items():
            tokens[purse] = tokens.get(purse, 0) + usage.prompt_tokens + usage.completion_tokens
    return tokens


def usage_by_purse(usages: Iterable[Mapping[str, Usage]]) -> dict[str, Usage]:
    """Usages in one for each purse."""
    found: dict[str, list[Usage]] = {}
    for usage in usages:
        for purse, used in usage.items():
            found.setdefault(purse, []).append(used)
    return {purse: Usage.total(used) for purse, used in found.items()}
