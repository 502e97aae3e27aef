"""How near runs come to what the model's latency allows, and what a call costs this process.

The model is `greenroom model-server` in a process of its own, which answers after a set latency.
Nothing can be faster than the floor: the larger of all calls' latency shared by the episodes that
are played at once, and the latency of the longest episode.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import anyio
from sqlalchemy import URL

from benchmarks.measures import OFFICIAL_DATA, Measure, retail_domain
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import load_domain
from greenroom.domains.pack_writer import write_pack
from greenroom.store import EpisodeRecord, Store, open_engine

TASKS = 115
ROUNDS = 2  # the quicker counts: whatever else the machine does only makes it slower
IN_FLIGHT = 1000

_SERVER = "from greenroom.cli import main; main()"
_MEGABYTE = 1e6


@dataclass(frozen=True)
class Played:
    """What a run took."""

    seconds: float
    cpu: float
    calls: int
    longest: int
    """The most calls of one episode."""
    at_once: int
    """How many episodes ran at the same time."""

    def floor(self, latency: float, concurrency: int) -> float:
        """The shortest possible time."""
        return max(self.calls * latency / concurrency, self.longest * latency)


def few_at_once() -> Iterator[Measure]:
    """The retail tasks, 10 at once, with a model that answers after 50 ms."""
    yield _beside_floor(trials=1, concurrency=10, latency=0.05, at_most=1.15)


def many_at_once() -> Iterator[Measure]:
    """Four trials of each, 200 at once, with a model that answers after 500 ms."""
    yield _beside_floor(trials=4, concurrency=200, latency=0.5, at_most=1.3)


def both_parties() -> Iterator[Measure]:
    """Two trials of telecom, where agent and user both call tools, 10 at once, 50 ms."""
    env, latency, concurrency = "telecom", 0.05, 10
    tasks = len(load_domain(env).tasks())
    with _server(None, latency, env) as api_base:
        rounds = [
            _play(None, api_base, env=env, tasks=tasks, trials=2, concurrency=concurrency)
            for _ in range(ROUNDS)
        ]
    played = min(rounds, key=lambda played: played.seconds)
    floor = played.floor(latency, concurrency)
    yield Measure(
        f"{tasks} telecom tasks x 2, both parties ask models, {concurrency} at once, "
        f"{latency * 1e3:.0f} ms: time over the least possible",
        f"{played.seconds:.1f} s",
        f"{floor:.1f} s at least",
        played.seconds / floor,
        "x",
        at_most=1.15,
    )


def model_calls() -> Iterator[Measure]:
    """How many calls one process makes, and what each costs it."""
    with _pack() as (data, where), _server(data, 0.05) as api_base:
        rounds = [_play(data, api_base, trials=6, concurrency=200) for _ in range(2 * ROUNDS)]
    rate = max(played.calls / played.seconds for played in rounds)
    cost = min(played.cpu / played.calls for played in rounds) * 1e3
    name = f"Model calls of one process, 200 episodes at once, 50 ms, {where}"
    yield Measure(
        name,
        f"{rounds[0].calls:,} calls",
        f"{1 / 0.05:.0f}/s one by one",
        rate,
        "/s",
        at_least=500.0,
    )
    yield Measure(f"{name}: CPU of each", f"{cost:.2f} ms", "", cost, " ms", at_most=0.6)


def episodes_in_flight() -> Iterator[Measure]:
    """The memory of a process that plays a thousand episodes at once."""
    with _pack() as (data, where), _server(data, 0.5) as api_base:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.models", str(data), api_base],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    found = json.loads(done.stdout)
    yield Measure(
        f"{found['at_once']:,} episodes in flight in one process, {where}",
        f"{found['calls']:,} calls",
        "",
        found["megabytes"],
        " MB",
        at_most=600.0,
    )


def _beside_floor(*, trials: int, concurrency: int, latency: float, at_most: float) -> Measure:
    with _pack() as (data, where), _server(data, latency) as api_base:
        rounds = [
            _play(data, api_base, trials=trials, concurrency=concurrency) for _ in range(ROUNDS)
        ]
    played = min(rounds, key=lambda played: played.seconds)
    floor = played.floor(latency, concurrency)
    return Measure(
        f"{TASKS} tasks x {trials}, {concurrency} at once, {latency * 1e3:.0f} ms, {where}: "
        "time over the least possible",
        f"{played.seconds:.1f} s",
        f"{floor:.1f} s at least",
        played.seconds / floor,
        "x",
        at_most=at_most,
    )


def _play(
    data: Path | None,
    api_base: str,
    *,
    env: str = "retail",
    tasks: int = TASKS,
    trials: int = 1,
    concurrency: int = 1,
) -> Played:
    config = check_config(
        {
            "env": env,
            "agent_strategy": "tool-calling",
            "model": "oracle",
            "api_base": api_base,
            "user_strategy": "llm",
            "user_model": "user",
            "user_api_base": api_base,
            "data": None if data is None else str(data),
            "end_index": tasks,
            "num_trials": trials,
            "max_concurrency": concurrency,
        }
    )
    episodes: list[tuple[float, float, int]] = []

    def note(record: EpisodeRecord) -> None:
        assert record.outcome != "infrastructure_error", record.error
        began = record.started_at.timestamp()
        calls = sum(usage.calls for usage in record.usage.values())
        episodes.append((began, began + record.seconds, calls))

    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_engine(URL.create("sqlite", database=f"{folder}/runs.db")))
        run, prepared = start_run(store, config)
        began, began_cpu = time.perf_counter(), time.process_time()
        anyio.run(lambda: play_run(store, run, prepared, on_result=note))
        seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        store.close()
    calls = [calls for _, _, calls in episodes]
    return Played(seconds, cpu, sum(calls), max(calls), _most_at_once(episodes))


def _most_at_once(episodes: list[tuple[float, float, int]]) -> int:
    changes = [(began, 1) for began, _, _ in episodes] + [(ended, -1) for _, ended, _ in episodes]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


@contextmanager
def _pack() -> Generator[tuple[Path, str]]:
    domain, where = retail_domain()
    if (OFFICIAL_DATA / "retail").is_dir():
        yield OFFICIAL_DATA.resolve(), where
        return
    with tempfile.TemporaryDirectory() as folder:
        write_pack(Path(folder) / "pack", [domain.pack])
        yield Path(folder) / "pack", where


@contextmanager
def _server(data: Path | None, latency: float, env: str = "retail") -> Generator[str]:
    given = [] if data is None else ["--data", str(data)]
    options = ["--env", env, *given, "--port", "0", "--latency", f"{latency}s"]
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, "model-server", *options], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            api_base = _address(process.stdout)
            _play(
                data, api_base, env=env, tasks=1
            )  # what happens once, on either side, stays outside
            yield api_base
        finally:
            process.terminate()


def _address(printed: IO[str]) -> str:
    line = printed.readline()
    found = re.search(r"http://\S+/v1", line)
    assert found, f"the model server does not run: {line}"
    return found[0]


def _main(data: str, api_base: str) -> dict[str, Any]:
    trials = -(-IN_FLIGHT // TASKS)
    played = _play(Path(data), api_base, trials=trials, concurrency=IN_FLIGHT)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = 1 if sys.platform == "darwin" else 1024
    return {
        "calls": played.calls,
        "at_once": played.at_once,
        "megabytes": peak * scale / _MEGABYTE,
    }


if __name__ == "__main__":
    print(json.dumps(_main(*sys.argv[1:])))
