"""Measures of generated packs that several tests take."""

from __future__ import annotations

import re
from collections import Counter

from greenroom.domains.domain import Domain
from greenroom.domains.packs import Pack
from greenroom.domains.plugins import find_plugin, generate_pack
from greenroom.domains.tasks import Task

SIX = 6


def generated(env: str, *, seed: int, tasks: int, difficulty: str | None = None) -> Domain:
    """A fresh domain."""
    pack = generate_pack(env, seed=seed, tasks=tasks, difficulty=difficulty)
    return domain_of(env, pack)


def domain_of(env: str, pack: Pack) -> Domain:
    """A pack with the tools of its domain."""
    plugin = find_plugin(env)
    return Domain(plugin.edition(pack.info.edition, plugin.check()), pack)


def recurring(one: Domain, other: Domain) -> tuple[float, float]:
    """The share of runs of six words in the second set of tasks that the first one has as well.

    Each run counts as often as it occurs; and each different run counts once.
    """
    known = {run for task in one.tasks() for run in six_words(task)}
    runs = Counter(run for task in other.tasks() for run in six_words(task))
    shared = {run: count for run, count in runs.items() if run in known}
    return sum(shared.values()) / runs.total(), len(shared) / len(runs)


def six_words(task: Task) -> list[tuple[str, ...]]:
    """Every run of six words in an instruction."""
    words = re.findall(r"\w+", task.instruction.lower())
    return [tuple(words[start : start + SIX]) for start in range(len(words) - SIX + 1)]
