"""Measures of generated packs that several tests take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from greenroom.domains.domain import Domain
from greenroom.domains.packs import Pack
from greenroom.domains.plugins import find_plugin, generate_pack

SIX = 6


def generated(env: str, *, seed: int, tasks: int, difficulty: str | None = None) -> Domain:
    """A fresh domain."""
    pack = generate_pack(env, seed=seed, tasks=tasks, difficulty=difficulty)
    return domain_of(env, pack)


def domain_of(env: str, pack: Pack) -> Domain:
    """A pack with the tools of its domain."""
    plugin = find_plugin(env)
    return Domain(plugin.edition(pack.info.edition, plugin.check()), pack)


def words_of(text: str) -> list[str]:
    """Names, numbers and ids are words like all others."""
    return re.findall(r"\w+", text.lower())


def words_without_names(text: str) -> list[str]:
    """Each number or id is the same word, and so is each name, of however many parts."""
    numbered = re.sub(r"\S*\d\S*", "0", text)
    named = re.sub(r"(?<![.!?:\n]\s)(?<!^)\b[A-Z][\w'-]*", "N", numbered)
    return words_of(re.sub(r"N(?:[ -]N)+", "N", named))


def recurring(
    one: Domain, other: Domain, words: Callable[[str], list[str]] = words_of
) -> tuple[float, float]:
    """The share of runs of six words in the second set of tasks that the first one has as well.

    Each run counts as often as it occurs; and each different run counts once.
    """
    known = {run for task in one.tasks() for run in six_words(words(task.instruction))}
    runs = Counter(run for task in other.tasks() for run in six_words(words(task.instruction)))
    shared = {run: count for run, count in runs.items() if run in known}
    return sum(shared.values()) / runs.total(), len(shared) / len(runs)


def six_words(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Every run of six words."""
    return [tuple(words[start : start + SIX]) for start in range(len(words) - SIX + 1)]
