"""Speed of tau2-bench's domains, beside tau2-bench itself.

Its own figures were measured with its own code, a scripted agent and user and its evaluation. They
are in the data, because tau2-bench is not installed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anyio

from benchmarks.measures import TAU2_DATA, Measure, allocated_megabytes, cpu_seconds
from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, play_episode
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment
from greenroom.users import ScriptedUser

FLOORS = {"retail": 500.0, "airline": 500.0, "banking_knowledge": 100.0, "telecom": 50.0}
LIVE = 1000
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower


def tau2_episodes() -> Iterator[Measure]:
    """Ground-truth replay of every base task, set-up, both worlds and the grade included."""
    if not (TAU2_DATA / "speed.json").exists():
        return
    rows: list[dict[str, Any]] = json.loads((TAU2_DATA / "speed.json").read_text())
    theirs = {row["domain"]: row["cpu_s_per_episode"] for row in reversed(rows) if "domain" in row}
    for name, floor in FLOORS.items():
        domain = load_domain(name, TAU2_DATA)
        anyio.run(_oracle_episodes, Domain(domain.edition, domain.pack), 1)
        ours = min(_seconds_per_episode(domain) for _ in range(ROUNDS))
        yield Measure(
            f"Oracle episodes, tau2's {name}, first pass",
            f"{ours * 1e3:.3f} ms CPU",
            f"{theirs[name] * 1e3:.0f} ms CPU",
            theirs[name] / ours,
            "x",
            at_least=floor,
        )


def tau2_live_environments() -> Iterator[Measure]:
    """Memory of a thousand live telecom environments: both worlds, after the gold calls."""
    if not (TAU2_DATA / "speed.json").exists():
        return
    rows: list[dict[str, Any]] = json.loads((TAU2_DATA / "speed.json").read_text())
    [theirs] = [row["rss_mb_per_live_env"] for row in rows if row.get("domain") == "telecom"]
    domain = load_domain("telecom", TAU2_DATA)
    anyio.run(_live_environments, domain, len(domain.tasks()))  # what all share exists from here on
    ours = allocated_megabytes(lambda: anyio.run(_live_environments, domain, LIVE))
    yield Measure(
        f"{LIVE} live environments, tau2's telecom",
        f"{ours:.1f} MB",
        f"{theirs * LIVE:.0f} MB",
        ours,
        " MB",
        at_most=100.0,
    )


async def _live_environments(domain: Domain, count: int) -> list[Environment]:
    held: list[Environment] = []
    for number in range(count):
        environment = Environment(domain, ScriptedUser())
        await environment.reset(number % len(domain.tasks()))
        for action in domain.tasks()[number % len(domain.tasks())].actions:
            domain.call(environment.worlds, action)
        held.append(environment)
    return held


def _seconds_per_episode(domain: Domain) -> float:
    fresh = Domain(domain.edition, replace(domain.pack, load_tables=domain.pack.load_tables))
    assert fresh.pack.base, "loading the base once per process is not part of an episode"
    count = len(fresh.tasks())
    return cpu_seconds(lambda: anyio.run(_oracle_episodes, fresh, count)) / count


async def _oracle_episodes(domain: Domain, count: int) -> None:
    context = RunContext(domain, find_strategy("oracle"))
    for index in range(count):
        episode = await play_episode(context, index)
        assert episode.reward == 1.0, f"the oracle failed task {index}"
