"""The tally of a run: which of its planned episodes have a result, each counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import comb, nan

from greenroom.analysis.figures import ErrorConvention
from greenroom.store.records import AnyUsage, EpisodeRecord, EpisodeSummary, Usage, total_cost

SOLVED = 1 - 1e-6
"""Tau Bench's measure: a reward this close to 1 is a success."""


EpisodeLike = EpisodeRecord | EpisodeSummary


def reward_of(episode: EpisodeLike) -> float | None:
    """The reward of an episode; None without a result, whatever was noted beside an error."""
    return None if episode.outcome == "infrastructure_error" else episode.reward


def is_solved(episode: EpisodeLike) -> bool:
    """The episode has a result, and it is a success."""
    return (reward_of(episode) or 0.0) >= SOLVED


@dataclass(frozen=True, slots=True)
class Tally:
    """The episodes of a run by task and trial, beside what was planned."""

    rows: Mapping[int, Mapping[int, EpisodeLike]]
    """By task, then by trial; a planned task that was not played has an empty mapping."""
    num_trials: int
    duplicates: int
    costs_are_told: bool = True
    """Whether what the agent spends is counted."""

    @property
    def played(self) -> list[EpisodeLike]:
        """All episodes, each (task, trial) once."""
        return [row for trials in self.rows.values() for row in trials.values()]

    @property
    def planned(self) -> int:
        """The planned episodes, and those that were played beyond the plan."""
        return sum(max(self.num_trials, len(trials)) for trials in self.rows.values())

    def missing(self, task_index: int) -> int:
        """How many planned trials of a task were not played."""
        return max(0, self.num_trials - len(self.rows[task_index]))

    def cost(self, episodes: Iterable[EpisodeLike]) -> float | None:
        """What episodes cost; None if a price or the agent's share is unknown, or all was free."""
        return cost_of(episodes) if self.costs_are_told else None

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
            rewards = {trial: reward_of(episode) for trial, episode in trials.items()}
            kept = {trial: reward for trial, reward in rewards.items() if reward is not None}
            if convention == "errors_as_failures":
                kept = {trial: kept.get(trial, 0.0) for trial in trials}
                if over:
                    free = (trial for trial in range(self.num_trials) if trial not in trials)
                    kept |= dict.fromkeys(islice(free, self.missing(task_index)), 0.0)
            counted[task_index] = kept
        return counted


def tally(
    episodes: Iterable[EpisodeLike],
    *,
    task_indices: Sequence[int],
    num_trials: int,
    asks_no_model: bool = False,
    tells_itself: bool = False,
) -> Tally:
    """Sort the episodes of a run by task and trial; of duplicates the first one counts.

    Episodes beyond the plan were played, so they are counted as planned ones. `asks_no_model` says
    that the agent spends nothing, `tells_itself` that the run has no model for it: what it spends
    is known if it tells so in each episode.
    """
    rows: dict[int, dict[int, EpisodeLike]] = {index: {} for index in task_indices}
    duplicates, counted, uncounted = 0, False, False
    for episode in episodes:
        used = episode.usage.get("agent")
        if used is not None and (used.calls or used.cached_calls):
            counted = True
        elif episode.step_count > 0:
            uncounted = True
        trials = rows.setdefault(episode.task_index, {})
        duplicates += episode.trial in trials
        trials.setdefault(episode.trial, episode)
    # An agent that acts without a call that is counted may ask models of its own.
    told = asks_no_model or not uncounted or (counted and not tells_itself)
    return Tally(rows, num_trials, duplicates, told)


def instruction_of(episodes: Iterable[EpisodeLike]) -> str:
    """What the user of a task wants, where an episode carries its task."""
    texts = (
        one.task.instruction if isinstance(one, EpisodeRecord) else one.instruction
        for one in episodes
    )
    return next((text for text in texts if text), "")


def cost_of(rows: Iterable[EpisodeLike]) -> float | None:
    """What episodes cost together: None if any price is unknown, or if nothing was bought."""
    return total_cost(usage for row in rows for usage in row.usage.values())


def tokens_of(rows: Iterable[EpisodeLike]) -> dict[str, int]:
    """The tokens of episodes by purse."""
    found: dict[str, int] = {}
    for row in rows:
        for purse, used in row.usage.items():
            found[purse] = found.get(purse, 0) + used.tokens
    return found


def usage_by_purse(usages: Iterable[Mapping[str, AnyUsage]]) -> dict[str, Usage]:
    """Usages in one for each purse."""
    found: dict[str, list[AnyUsage]] = {}
    for usage in usages:
        for purse, used in usage.items():
            found.setdefault(purse, []).append(used)
    return {purse: Usage.total(used) for purse, used in found.items()}


def pass_hat_k(trials: Mapping[int, Sequence[bool]], k: int) -> float:
    """The estimate C(c, k) / C(n, k) for a task with c successes in n trials, averaged over tasks.

    Each task is judged by the trials that it has: a missing trial is not a failure. Tasks with
    fewer than k trials cannot be judged and are left out; with none left, the answer is NaN.

    >>> pass_hat_k({0: [True, True], 1: [True, False]}, 1)
    0.75
    >>> pass_hat_k({0: [True, True], 1: [True, False]}, 2)
    0.5
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    judged = [comb(sum(row), k) / comb(len(row), k) for row in trials.values() if len(row) >= k]
    return sum(judged) / len(judged) if judged else nan


def pass_hat_ks(trials: Mapping[int, Sequence[bool]]) -> dict[int, float]:
    """pass^1 up to pass^n, n being the number of trials that every task has."""
    fewest = min((len(row) for row in trials.values()), default=0)
    return {k: pass_hat_k(trials, k) for k in range(1, fewest + 1)}
