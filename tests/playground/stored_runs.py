"""Runs for tests of pages: real episodes of the built-in pack, and some that ended otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from greenroom.reports.leaderboard import OFFICIAL_TASKS
from greenroom.store import EpisodeRecord, RunRecord, Store, TaskSetRecord
from tests.reports.sample import ended, played, run_record

HOSTILE = "<img src=x onerror=alert(1)> [link](javascript:alert(1)) <script>alert(1)</script>"


def keep(
    store: Store, name: str, episodes: Iterable[EpisodeRecord], *, trials: int = 4, **changes: Any
) -> RunRecord:
    """Keep a run with these episodes."""
    found = list(episodes)
    tasks = sorted({one.task_index for one in found})
    fields: dict[str, Any] = {"id": f"id-{name}"[:32], "name": name, "task_indices": tasks}
    run = run_record(1, trials, **(fields | changes))
    store.runs.create(run)
    store.runs.add(run.id, found)
    return store.runs.find(run.id)


def every_outcome(tasks: int = 12) -> list[EpisodeRecord]:
    """Trials of tasks, of which some crashed, ran out of steps, or have no result."""
    found = [one for one in played() if one.task_index < tasks]
    crash = {"error": f"ValueError: {HOSTILE}", "printed": f"Traceback\n{HOSTILE}"}
    found[3] = ended(found[3], "crashed").model_copy(update=crash)
    found[9] = ended(found[9], "max_steps")
    found[17] = ended(found[17], "infrastructure_error")
    return found


def solved(tasks: int = 12) -> list[EpisodeRecord]:
    """The same tasks, solved each time by whichever trial solved it."""
    by_task: dict[int, EpisodeRecord] = {}
    for one in played():
        if one.task_index < tasks and one.solved:
            by_task.setdefault(one.task_index, one)
    return [
        one.model_copy(update={"trial": trial}) for one in by_task.values() for trial in range(4)
    ]


def other_sets(store: Store) -> None:
    """Two runs: `new-set` has one task changed, and two that changed places."""
    tasks, marks = [0, 1, 2, 3], ["a", "b", "c", "d"]
    parts = {"hash": "1", "tasks": "1", "database": "x", "policy": "x", "tools": "x"}
    first = TaskSetRecord(**parts, documents="x", task_hashes=marks)
    keep(store, "old-set", solved(4), task_indices=tasks, task_set=first)
    moved = [
        ended(one, "max_steps").model_copy(
            update={"task_index": {0: 2, 2: 0}.get(one.task_index, one.task_index)}
        )
        for one in solved(4)
    ]
    second = first.model_copy(
        update={"hash": "2", "tasks": "2", "task_hashes": ["c", "changed", "a", "d"]}
    )
    keep(store, "new-set", moved, task_indices=tasks, task_set=second)


def official(store: Store, name: str = "official", model: str = "gpt-4o") -> None:
    """A run of all official tasks of retail, by a model that has published rows or by another."""
    keep(
        store,
        name,
        solved(),
        task_indices=list(range(OFFICIAL_TASKS["retail"])),
        official_tasks=True,
        agent_strategy="tool-calling",
        config={"model": model, "user_model": "gpt-4o", "user_strategy": "llm"},
    )
