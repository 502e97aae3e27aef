"""Reports to render: episodes from the real environment, with the real figures."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import anyio

from greenroom.agents import find_strategy
from greenroom.analysis.errors import break_down
from greenroom.analysis.metrics import measure_run
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.benchmark.recording import episode_record
from greenroom.domains.domain import Domain, load_domain
from greenroom.reports.build_run import run_report
from greenroom.reports.report import PublishedRow, RunData, RunReport
from greenroom.store.records import EpisodeRecord, Outcome, RunRecord, Usage

START = datetime(2026, 11, 12, 14, 30, tzinfo=UTC)
PRICED = {
    "agent": Usage(calls=7, prompt_tokens=9000, completion_tokens=600, cost=0.0315),
    "user": Usage(calls=4, prompt_tokens=2100, completion_tokens=180, cost=0.0042),
}
UNPRICED = {"agent": Usage(calls=7, prompt_tokens=9000, completion_tokens=600, cost=None)}


def stored(domain: Domain, episode: Episode) -> EpisodeRecord:
    """An episode as it is stored: with prices, and the same time whenever it is played."""
    record = episode_record(domain, episode, split="test")
    changes = {
        "started_at": START + timedelta(seconds=episode.task_index),
        "seconds": 2.5 + len(episode.steps),
        "usage": PRICED,
    }
    return record.model_copy(update=changes)


@cache
def played(tasks: int = 96, trials: int = 4) -> tuple[EpisodeRecord, ...]:
    """Episodes of the synthetic agent on the built-in pack."""
    domain, strategy = load_domain("retail"), find_strategy("synthetic")
    config = RunConfig(agent_options={"success": "0.75", "spread": "0.3"})
    context = RunContext(domain, strategy, config)

    async def play() -> list[Episode]:
        return [
            await play_episode(context, task, trial=trial)
            for task in range(tasks)
            for trial in range(trials)
        ]

    return tuple(stored(domain, one) for one in anyio.run(play))


def ended(episode: EpisodeRecord, outcome: Outcome) -> EpisodeRecord:
    """The episode as if it had ended otherwise, before it came to its end."""
    error = outcome == "infrastructure_error"
    changes: dict[str, Any] = {
        "outcome": outcome,
        "reward": None if error else 0.0,
        "details": None,
        "error": "ConnectionError: the model did not answer (503)" if error else None,
        "attempts": 3 if error else 1,
        "steps": episode.steps[:1] if error else episode.steps,
    }
    return episode.model_copy(update=changes)


def run_record(tasks: int, trials: int, **changes: Any) -> RunRecord:
    """The run that episodes belong to."""
    fields: dict[str, Any] = {
        "id": "01JCQ5",
        "name": "synthetic-retail",
        "created_at": START,
        "status": "complete",
        "greenroom_version": "0.1.0",
        "config": {"agent_strategy": "synthetic", "seed": 10, "max_num_steps": 30},
        "env": "retail",
        "task_split": "test",
        "agent_strategy": "synthetic",
        "task_indices": list(range(tasks)),
        "num_trials": trials,
        "pack": {
            "name": "greenroom-retail",
            "version": "1",
            "source": "generated: seed 2024",
            "licence": "MIT",
        },
        "policy": "You help customers of a shop.\n\nAsk before you change anything.",
    }
    return RunRecord(**fields | changes)


def build_report(
    episodes: Iterable[EpisodeRecord],
    run: RunRecord,
    published: Iterable[PublishedRow] = (),
) -> RunReport:
    """The report of a run with these episodes."""
    rows = sorted(episodes, key=lambda one: (one.task_index, one.trial))
    data = RunData(
        run=run,
        metrics=measure_run(
            rows,
            task_indices=run.task_indices,
            num_trials=run.num_trials,
            over=run.status == "complete",
            asks_no_model=run.reads_script,
        ),
        errors=break_down(rows),
        published=list(published),
        episodes=rows,
    )
    return run_report(data)


def published_row(
    strategy: str, figures: tuple[float, ...], differs: Iterable[str] = ("user model",)
) -> PublishedRow:
    """A published result."""
    return PublishedRow(
        strategy=strategy,
        pass_hat_k=dict(enumerate(figures, start=1)),
        source="Tau Bench leaderboard",
        differs=list(differs),
    )


PUBLISHED = [
    published_row(
        "TC (claude-3-5-sonnet-20241022)",
        (0.692, 0.576, 0.509, 0.462),
        ("user model: gpt-4o there, none here", "agent model: claude-3-5-sonnet-20241022 there"),
    ),
    published_row(
        "TC (gpt-4o)",
        (0.604, 0.491, 0.430, 0.383),
        ("user model: gpt-4o there, none here", "agent model: gpt-4o there"),
    ),
]


@cache
def full_report(tasks: int = 96, trials: int = 4) -> RunReport:
    """A whole run with every outcome there is, costs, and published rows."""
    episodes = list(played(tasks, trials))
    failures = [place for place, one in enumerate(episodes) if one.outcome == "failure"]
    outcomes: tuple[Outcome, ...] = ("max_steps", "max_time", "invalid", "infrastructure_error")
    for number, place in enumerate(failures[::3]):
        episodes[place] = ended(episodes[place], outcomes[number % len(outcomes)])
    return build_report(episodes, run_record(tasks, trials), PUBLISHED)


def empty_report() -> RunReport:
    """A run of which nothing has been played."""
    return build_report([], run_record(3, 4, status="running"))


def errors_only_report() -> RunReport:
    """A run in which everything broke."""
    episodes = [ended(one, "infrastructure_error") for one in played(3, 2)]
    free = [one.model_copy(update={"usage": {}}) for one in episodes]
    return build_report(free, run_record(3, 2))


def unpriced_report() -> RunReport:
    """A run on a model whose price is not known."""
    episodes = [one.model_copy(update={"usage": UNPRICED}) for one in played(4, 2)]
    return build_report(episodes, run_record(4, 2))


def single_task_report() -> RunReport:
    """One task, four trials of an agent that asks no model, one trial not played."""
    episodes = [one.model_copy(update={"usage": {}}) for one in played(1, 4)[:3]]
    return build_report(episodes, run_record(1, 4, status="interrupted", reads_script=True))


def untold_report() -> RunReport:
    """An agent of which nobody knows what it costs."""
    episodes = [one.model_copy(update={"usage": {}}) for one in played(1, 4)]
    return build_report(episodes, run_record(1, 4))


def one_trial_report() -> RunReport:
    """Each task once."""
    return build_report(played(6, 1), run_record(6, 1))


STRANGE = ["a\0b", "half \ud800", "🦊 grüß\r\n", '=1+1,"x"', ""]
"""Texts that are hard to write."""


def strange_report() -> RunReport:
    """Episodes with strange texts everywhere, and no price for anything."""
    episodes: list[EpisodeRecord] = []
    for text, one in zip(STRANGE, played(5, 1), strict=True):
        action = one.steps[0].action
        called = action.model_copy(update={"name": text, "kwargs": {text: [text, 10**30]}})
        step = one.steps[0].model_copy(update={"action": called, "observation": text})
        changes = {
            "opening": text,
            "error": text,
            "usage": {"agent": Usage(calls=1, prompt_tokens=3, completion_tokens=2)},
            "facts": {text or "-": text},
            "steps": [step, *one.steps[1:]],
            "messages": [{"role": "user", "content": text}],
        }
        episodes.append(one.model_copy(update=changes))
    return build_report(episodes, run_record(5, 1))
