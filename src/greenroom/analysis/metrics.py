"""The figures of a run: everything that is counted and estimated of its episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from math import nan

from greenroom.analysis import figures
from greenroom.analysis.figures import CONFIDENCE
from greenroom.analysis.latency import Spans, add_model_seconds, add_seconds, latencies
from greenroom.analysis.tally import (
    SOLVED,
    EpisodeLike,
    Tally,
    instruction_of,
    is_solved,
    reward_of,
    tally,
    tokens_of,
)
from greenroom.store.records import EpisodeRecord

CONVENTIONS: tuple[figures.ErrorConvention, ...] = ("errors_excluded", "errors_as_failures")


def measure_run(
    episodes: Iterable[EpisodeLike],
    *,
    task_indices: Sequence[int],
    num_trials: int,
    over: bool = True,
    asks_no_model: bool = False,
    tells_itself: bool = False,
    confidence: float = CONFIDENCE,
    spans: Spans | None = None,
) -> figures.RunMetrics:
    """Count and estimate everything of a run, whatever it lacks.

    Each (task, trial) counts once; further rows of the same are reported as duplicates. A task is
    judged by the trials that it has. Infrastructure errors and missing trials are no results: under
    "errors_excluded" they are left out, under "errors_as_failures" they are failures (missing
    trials only once the run is over). Coverage is the share of planned episodes that count.
    Where nothing counts, figures are NaN.

    The turn curve, steps to success and mean steps are of the episodes with a result; time, money
    and tokens are of all that were played. The cost of an agent that does not tell it is unknown;
    `asks_no_model` says that there is none, `tells_itself` that nobody else counts it. Summaries do
    not know how long turns and calls took: `spans` does, if it was noted while they were read.
    """
    counted = tally(
        episodes,
        task_indices=task_indices,
        num_trials=num_trials,
        asks_no_model=asks_no_model,
        tells_itself=tells_itself,
    )
    played = counted.played
    results = [one for one in played if reward_of(one) is not None]
    total_cost = counted.cost(played)
    return figures.RunMetrics(
        confidence=confidence,
        planned=counted.planned,
        with_result=len(results),
        errors=len(played) - len(results),
        missing=sum(counted.missing(index) for index in counted.rows),
        duplicates=counted.duplicates,
        outcomes=dict(Counter(row.outcome for row in played)),
        conventions=_conventions(counted, over=over, confidence=confidence),
        turn_curve=turn_curve(results),
        steps_to_success=_steps_to_success(results, confidence),
        mean_steps=_mean([row.step_count for row in results]),
        seconds=sum(row.seconds for row in played),
        total_cost=total_cost,
        average_cost=None if total_cost is None else total_cost / len(played),
        costs_are_told=counted.costs_are_told,
        tokens=tokens_of(played),
        tasks=[_task_figures(counted, index) for index in counted.rows],
        latency=latencies(_spans(played) if spans is None else spans, confidence),
    )


class RepeatTally:
    """Finds tasks that were played several times, and step by step the same each time."""

    def __init__(self) -> None:
        self._trials, self._first, self._different = Counter[int](), dict[int, str](), set[int]()

    def add(self, task_index: int, played: str) -> None:
        """Count an episode with a result, by what `played_way` gives."""
        self._trials[task_index] += 1
        if self._first.setdefault(task_index, played) != played:
            self._different.add(task_index)

    @property
    def identical_tasks(self) -> int:
        """How many of the tasks there are."""
        return sum(
            trials > 1 and index not in self._different and self._first[index] != ""
            for index, trials in self._trials.items()
        )


def played_way(episode: EpisodeRecord) -> str:
    """The same for episodes that ended alike and went alike, step by step; empty without a step."""
    if not episode.steps:
        return ""
    steps = (
        (one.action.name, repr(one.action.kwargs), one.observation, one.source)
        for one in episode.steps
    )
    text = repr((episode.outcome, *steps))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _conventions(
    counted: Tally, *, over: bool, confidence: float
) -> dict[figures.ErrorConvention, figures.ConventionMetrics]:
    excluded, as_failures = CONVENTIONS
    found: dict[figures.ErrorConvention, figures.ConventionMetrics] = {}
    found[excluded] = convention_metrics(counted, excluded, over=over, confidence=confidence)
    same = counted.rewards(excluded, over=over) == counted.rewards(as_failures, over=over)
    # Where every planned episode has a result, both are the same figures: they are made once.
    found[as_failures] = (
        found[excluded].model_copy(update={"convention": as_failures})
        if same
        else convention_metrics(counted, as_failures, over=over, confidence=confidence)
    )
    return found


def convention_metrics(
    counted: Tally,
    convention: figures.ErrorConvention,
    *,
    over: bool = True,
    confidence: float = CONFIDENCE,
) -> figures.ConventionMetrics:
    """The figures under one convention for episodes without a result.

    pass^k is given up to the largest number of trials that any task has; tasks with fewer than k
    are left out of it.
    """
    # Numbers are only needed here: a command that counts nothing does not wait for numpy.
    from greenroom.analysis.intervals import SuccessIntervals, average_reward

    by_task = {
        task_index: list(trials.values())
        for task_index, trials in counted.rewards(convention, over=over).items()
    }
    episodes = sum(len(rewards) for rewards in by_task.values())
    successes = SuccessIntervals(
        [success_counts(rewards) for rewards in by_task.values()], confidence
    )
    ks = range(1, max(1, successes.most_trials) + 1)
    return figures.ConventionMetrics(
        convention=convention,
        coverage=episodes / counted.planned if counted.planned else nan,
        tasks=sum(1 for rewards in by_task.values() if rewards),
        episodes=episodes,
        pass_hat_k={k: successes.pass_hat_k(k) for k in ks},
        pass_tasks={k: sum(len(rewards) >= k for rewards in by_task.values()) for k in ks},
        average_reward=average_reward(by_task, confidence),
        overall_score=successes.overall_score(),
    )


def success_counts(rewards: Sequence[float]) -> tuple[int, int]:
    """The number of trials, and of successes among them."""
    return len(rewards), sum(1 for reward in rewards if reward >= SOLVED)


def turn_curve(results: Sequence[EpisodeLike]) -> list[figures.TurnPoint]:
    """The share of episodes that were solved at, and by, each turn up to the longest episode's."""
    solved = Counter(row.turns for row in results if is_solved(row))
    first = min(1, min(solved, default=1))
    turns = range(first, max((row.turns for row in results), default=0) + 1)
    by_now = accumulate(solved[turn] for turn in turns)
    return [
        figures.TurnPoint(
            turn=turn, solved_at=solved[turn] / len(results), solved_by=done / len(results)
        )
        for turn, done in zip(turns, by_now, strict=True)
    ]


def _steps_to_success(results: Sequence[EpisodeLike], confidence: float) -> figures.Estimate:
    from greenroom.analysis.intervals import mean_count

    by_task: dict[int, list[int]] = {}
    for row in results:
        if is_solved(row):
            by_task.setdefault(row.task_index, []).append(row.step_count)
    return mean_count(by_task, confidence)


def _spans(played: Iterable[EpisodeLike]) -> Spans:
    spans = new_spans()
    for row in played:
        known = row if isinstance(row, EpisodeRecord) else None
        add_episode_seconds(
            spans,
            row.task_index,
            row.seconds,
            known.turn_seconds if known else (),
            known.model_seconds if known else {},
        )
    return spans


def new_spans() -> Spans:
    """What a run's episodes are entered into, one by one."""
    return {"turn": {}, "episode": {}}


def add_episode_seconds(
    spans: Spans,
    task_index: int,
    seconds: float,
    turn_seconds: Iterable[float],
    model_seconds: Mapping[str, Iterable[float]],
) -> None:
    """Enter how long an episode, its turns and its model calls took; tasks are the units."""
    add_seconds(spans, "turn", task_index, turn_seconds)
    if seconds > 0:
        add_seconds(spans, "episode", task_index, [seconds])
    add_model_seconds(spans, task_index, model_seconds)


def _task_figures(counted: Tally, task_index: int) -> figures.TaskFigures:
    trials: Mapping[int, EpisodeLike] = counted.rows[task_index]
    results = [row for row in trials.values() if reward_of(row) is not None]
    return figures.TaskFigures(
        task_index=task_index,
        trials=len(results),
        successes=sum(map(is_solved, results)),
        errors=len(trials) - len(results),
        missing=counted.missing(task_index),
        average_reward=_mean([row.reward for row in results if row.reward is not None]),
        outcomes={trial: trials[trial].outcome for trial in sorted(trials)},
        mean_steps=_mean([row.step_count for row in results]),
        mean_turns=_mean([row.turns for row in results]),
        cost=counted.cost(trials.values()),
        instruction=instruction_of(trials.values()),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
