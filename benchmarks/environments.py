"""Speed and memory of environments."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio

from benchmarks.measures import Measure, allocated_megabytes, cpu_seconds, retail_domain
from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, play_episode
from greenroom.canonical import canonical_text
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.users import ScriptedUser

TASKS = 115
NAIVE_TASKS = 5
LIVE = 1000
ROUNDS = 3  # the quickest counts: whatever else the machine does only makes it slower


def episode_speed() -> Iterator[Measure]:
    """Ground-truth replay of the retail tasks on one thread, first time and later."""
    domain, where = retail_domain()
    tasks = range(min(TASKS, len(domain.tasks())))
    with tempfile.TemporaryDirectory() as folder:
        files = _write_tables(domain, Path(folder))
        rounds = [cpu_seconds(lambda: _naive_episodes(domain, files)) for _ in range(ROUNDS)]
        naive = min(rounds) / NAIVE_TASKS
    # Leave out what a process does once: loading the base and starting an event loop.
    anyio.run(_oracle_episodes, Domain(domain.edition, domain.pack), range(1))
    cold, warm = zip(*(_both_passes(domain, tasks) for _ in range(ROUNDS)), strict=True)
    for name, ours, floor in (("first pass", min(cold), 900.0), ("later passes", min(warm), None)):
        yield Measure(
            f"Oracle episodes, {where}, {name}",
            f"{ours * 1e3:.3f} ms CPU",
            f"{naive * 1e3:.0f} ms CPU",
            naive / ours,
            "x",
            at_least=floor,
        )


def live_environments() -> Iterator[Measure]:
    """Memory of a thousand environments, each played up to its last step."""
    domain, where = retail_domain()
    anyio.run(_live_environments, domain, 1)  # whatever is shared by all exists from here on
    ours = allocated_megabytes(lambda: anyio.run(_live_environments, domain, LIVE - 1))
    tables = json.dumps(domain.pack.load_tables())
    naive = allocated_megabytes(lambda: json.loads(tables)) * (LIVE - 1)
    yield Measure(
        f"{LIVE} live environments over one, {where}",
        f"{ours:.1f} MB",
        f"{naive:.0f} MB",
        ours,
        " MB",
        at_most=100.0,
    )


def _both_passes(domain: Domain, tasks: range) -> tuple[float, float]:
    fresh = Domain(domain.edition, replace(domain.pack, load_tables=domain.pack.load_tables))
    assert fresh.pack.base, "loading the base once per process is not part of an episode"
    first, later = (
        cpu_seconds(lambda: anyio.run(_oracle_episodes, fresh, tasks)) / len(tasks)
        for _ in range(2)
    )
    return first, later


async def _oracle_episodes(domain: Domain, tasks: range) -> None:
    context = RunContext(domain, find_strategy("oracle"))
    for index in tasks:
        episode = await play_episode(context, index)
        assert episode.reward == 1.0, f"the oracle failed task {index}"


def _write_tables(domain: Domain, folder: Path) -> list[Path]:
    files: list[Path] = []
    for table, records in domain.pack.load_tables().items():
        path = folder / f"{table}.json"
        path.write_text(json.dumps(records))
        files.append(path)
    return files


def _naive_episodes(domain: Domain, files: list[Path]) -> None:
    # Do what Tau Bench does around the tools: load the database for the environment, the reset and
    # the ground truth, and hash all of it for the episode and the ground truth.
    for index in range(NAIVE_TASKS):
        databases = [_load(files) for _ in range(3)]
        domain.play_out(domain.task(index).actions)
        hashes = {sha256(canonical_text(data).encode()).hexdigest() for data in databases[:2]}
        assert len(hashes) == 1


def _load(files: list[Path]) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in files}


async def _live_environments(domain: Domain, count: int) -> list[Environment]:
    tasks = domain.tasks()
    held: list[Environment] = []
    for number in range(count):
        index = number % len(tasks)
        environment = Environment(domain, ScriptedUser())
        await environment.reset(index)
        for action in tasks[index].actions:
            if not environment.over:
                await environment.step(action)
        held.append(environment)
    return held
