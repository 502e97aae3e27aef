"""Episodes as far as figures count them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenroom.analysis.comparison import ComparedRun
from greenroom.store.records import EpisodeSummary, Outcome, Usage


@dataclass(frozen=True)
class Counted(EpisodeSummary):
    """What is counted of an episode."""

    task_index: int = 0
    trial: int = 0
    outcome: Outcome = "success"
    reward: float | None = 1.0
    step_count: int = 3
    turns: int = 2
    seconds: float = 1.0
    cost: float | None = None
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])


def played(rows: Mapping[int, str] | Sequence[str]) -> list[Counted]:
    """Episodes by task, a letter for each trial: s(uccess), f(ailure), e(rror), - (not played)."""
    by_task = rows if isinstance(rows, Mapping) else dict(enumerate(rows))
    outcomes: dict[str, Outcome] = {"s": "success", "f": "failure", "e": "infrastructure_error"}
    rewards = {"s": 1.0, "f": 0.0, "e": None}
    return [
        Counted(task_index, trial, outcomes[letter], rewards[letter])
        for task_index, letters in by_task.items()
        for trial, letter in enumerate(letters)
        if letter != "-"
    ]


def run(
    label: str, rows: Mapping[int, str] | Sequence[str], reasons: Mapping[int, str] | None = None
) -> ComparedRun:
    """A run whose plan is what the letters say."""
    by_task = rows if isinstance(rows, Mapping) else dict(enumerate(rows))
    num_trials = max((len(letters) for letters in by_task.values()), default=0)
    return ComparedRun(label, played(by_task), list(by_task), num_trials, reasons or {})


def drawn(chances: Sequence[float], trials: int, seed: str) -> list[str]:
    """Letters for tasks that are solved with these chances."""
    draw = random.Random(seed)
    return [
        "".join("s" if draw.random() < chance else "f" for _ in range(trials)) for chance in chances
    ]
