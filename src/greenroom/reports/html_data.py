"""What the page's conversations are made from: one block of JSON per task, read when it is opened.

Texts that occur more than once in a task, such as a record that several trials looked up, are kept
once: steps refer to them by their place in `texts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from greenroom.reports.html_markup import Markup, json_script
from greenroom.reports.texts import date_text, duration, kind_words, money

if TYPE_CHECKING:
    from greenroom.analysis.figures import Diagnosis
    from greenroom.reports.report import RunData as Report
    from greenroom.store.records import EpisodeRecord, StepRecord


def task_scripts(report: Report) -> Iterator[Markup]:
    """A script element with data for each task that was played."""
    diagnoses = {(one.task_index, one.trial): one for one in report.errors.diagnoses}
    ordered = sorted(report.episodes, key=lambda episode: (episode.task_index, episode.trial))
    for task_index, episodes in groupby(ordered, key=lambda episode: episode.task_index):
        block = task_block(episodes, diagnoses)
        yield json_script(block, data_task=task_index, data_testid="task-data")


def task_block(
    episodes: Iterable[EpisodeRecord], diagnoses: dict[tuple[int, int], Diagnosis]
) -> dict[str, Any]:
    """The task and all of its episodes as plain data."""
    texts: dict[str, int] = {}
    tasks: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for episode in episodes:
        task = episode.task.model_dump()
        if task not in tasks:
            tasks.append(task)
        diagnosis = diagnoses.get((episode.task_index, episode.trial))
        row = _episode(episode, diagnosis, texts) | {"task": tasks.index(task)}
        rows.append(row)
    return {"tasks": tasks, "episodes": rows, "texts": list(texts)}


def _episode(
    episode: EpisodeRecord, diagnosis: Diagnosis | None, texts: dict[str, int]
) -> dict[str, Any]:
    return {
        "trial": episode.trial,
        "outcome": episode.outcome,
        "reward": episode.reward,
        "opening": episode.opening,
        "steps": [_step(step, texts) for step in episode.steps],
        "details": episode.details.model_dump() if episode.details else None,
        "error": episode.error,
        "facts": _facts(episode),
        "diagnosis": diagnosis
        and {"kind": kind_words(diagnosis.kind)[0], "explanation": diagnosis.explanation},
    }


def _step(step: StepRecord, texts: dict[str, int]) -> dict[str, Any]:
    return {
        "name": step.action.name,
        "kwargs": step.action.kwargs,
        "writes": step.action.writes,
        "source": step.source,
        "turn": step.turn,
        "invalid": step.invalid,
        "answer": texts.setdefault(step.observation, len(texts)),
    }


def _facts(episode: EpisodeRecord) -> list[tuple[str, str]]:
    """What is known of an episode beside what was said, ready to be read."""
    used = [usage for usage in episode.usage.values() if usage.calls or usage.cost is not None]
    tokens = sum(usage.prompt_tokens + usage.completion_tokens for usage in used)
    facts = [
        ("Reward", "none" if episode.reward is None else f"{episode.reward:g}"),
        ("Steps", str(len(episode.steps))),
        ("Turns", str(episode.turns)),
    ]
    if episode.seconds > 0:
        facts.append(("Time", duration(episode.seconds)))
    if used:
        facts.append(("Cost", "unknown" if episode.cost is None else money(episode.cost)))
        facts.append(("Tokens", f"{tokens:,}"))
    if episode.attempts > 1:
        facts.append(("Attempts", str(episode.attempts)))
    return [*facts, ("Seed", str(episode.seed)), ("Played", date_text(episode.started_at))]
