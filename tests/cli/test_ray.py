"""`--executor ray`: workers on a real cluster whose processes and nodes are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import load_domain
from greenroom.model_server import running_server
from greenroom.store import RunRecord, Store, open_store
from tests.benchmark import slow_agent
from tests.postgres import Postgres
from tests.ray_nodes import Cluster, command, descendants, ray_environment, running_cluster

pytestmark = pytest.mark.slow

AGENT = f"{slow_agent.__file__}:strategy"
KEY = "SOME_PROVIDER_KEY"
AGENTS = f"""
import os

import anyio

from greenroom import report_usage
from greenroom.domains import Action


async def slow(stage):
    await anyio.sleep(0.2)
    report_usage(cost=0.05)
    await stage.step(Action("transfer_to_human_agents", {{"summary": "no"}}))


async def endless(stage):
    await anyio.sleep_forever()


async def careful(stage):
    await stage.step(Action("transfer_to_human_agents", {{"summary": "no"}}))


key = os.environ["{KEY}"]
"""
APP = """
from greenroom import workflow


@workflow
def double(n: int) -> int:
    return 2 * n
"""


@pytest.fixture(scope="module")
def cluster() -> Generator[Cluster]:
    with ray_environment(), running_cluster(2) as running:
        yield running


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Store]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(AGENTS, encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    monkeypatch.setenv(KEY, "planted-key-7f3e")
    store = open_store()
    yield store
    store.close()


@dataclass
class Command:
    """A command on the cluster. What it prints goes to files, so that it can be read meanwhile."""

    process: subprocess.Popen[bytes]
    files: tuple[Path, Path]

    @property
    def out(self) -> str:
        return self.files[0].read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self.files[1].read_text(encoding="utf-8")

    def ends(self, status: int) -> None:
        """Wait for its end, which has to be of this status."""
        self.process.wait(120)
        assert self.process.returncode == status, (self.out, self.err)

    def until(self, happened: Callable[[], object], what: str) -> None:
        """Wait for something that happens while it works."""
        deadline = time.monotonic() + 120
        while not happened():
            waits = self.process.poll() is None and time.monotonic() < deadline
            assert waits, f"no {what}: {self.out} {self.err}"
            time.sleep(0.05)

    def says(self, words: str) -> None:
        """Wait until it says so."""
        self.until(lambda: words in self.err, words)


Start = Callable[..., Command]


@pytest.fixture
def start(cluster: Cluster, tmp_path: Path) -> Generator[Start]:
    """Starts commands on the cluster, or on one of their own. None outlives its test."""
    started: list[Command] = []

    def begin(*words: str, address: str | None = cluster.address) -> Command:
        ours = [sys.executable, "-m", "greenroom", *words, "--executor", "ray"]
        ours += ["--ray-address", address] if address else []
        out, err = (tmp_path / f"{len(started)}.{name}" for name in ("out", "err"))
        with out.open("wb") as to_out, err.open("wb") as to_err:
            process = subprocess.Popen(ours, stdout=to_out, stderr=to_err)
        started.append(Command(process, (out, err)))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()


def run_words(*more: str, agent: str = "agents.py:slow", trials: int = 2) -> list[str]:
    words = ["run", "--agent-strategy", agent, "--name", "shared", "--start-index", "0"]
    return [*words, "--end-index", "20", "--num-trials", str(trials), "--worker-env", KEY, *more]


def worker_pids(store: Store, name: str = "shared") -> list[int]:
    """The workers of the run just now, in the order in which they came."""
    found = [run for run in store.runs.all() if run.name == name]
    return [one.pid for run in found for one in store.runs.workers.standings(run.id)]


def is_worker(pid: int) -> bool:
    return "greenroom worker" in command(pid)


def until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < deadline, f"no {what}"
        time.sleep(0.05)


def test_a_worker_and_a_node_are_killed(
    cluster: Cluster, start: Start, kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, hold = tmp_path / "begun", tmp_path / "hold"
    hold.touch()
    handed = {
        slow_agent.LOG_VARIABLE: str(log),
        slow_agent.SECONDS_VARIABLE: "0.1",
        slow_agent.HOLD_VARIABLE: str(hold),
    }
    for name, value in handed.items():
        monkeypatch.setenv(name, value)
    config = {"end_index": 40, "num_trials": 50, "max_concurrency": 40, "seed": 3}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in config.items()]
    flags += [f"--worker-env={name}" for name in handed]

    def begun() -> list[list[int]]:
        lines = log.read_text().splitlines() if log.exists() else []
        return [[int(word) for word in line.split()] for line in lines]

    with cluster.joined(2) as second:
        main = start("run", "--agent-strategy", AGENT, "--name", "shared", *flags)
        main.until(lambda: len({pid for pid, *_ in begun()}) == 4, "four workers")
        on_second = {pid for pid in descendants(second.process.pid) if is_worker(pid)}
        assert len(on_second) == 2
        hold.unlink()
        main.until(lambda: len(begun()) > 400, "400 episodes")
        victim = next(pid for pid in worker_pids(kept) if pid not in on_second)
        os.kill(victim, signal.SIGKILL)
        main.says("was lost (signal 9): another one takes over")
        main.until(lambda: len(begun()) > 1000, "1000 episodes")
        hold.touch()  # until the command knows, so that it does not end before
        second.kill()
        main.says("is gone): another one takes over")
        hold.unlink()
        main.ends(0)
    assert not any(map(is_worker, on_second))

    run = kept.runs.find("shared")
    assert run.status == "complete"
    assert len(kept.runs.finished(run.id)) == run.planned == 2000
    by_cell: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for pid, *cell in begun():
        by_cell[tuple(cell)].append(pid)
    assert len(by_cell) == 2000, "none was lost"
    for cell, pids in by_cell.items():
        assert set(pids[:-1]) <= on_second | {victim}, f"{cell} was played twice"
    # The same seed in one process.
    monkeypatch.setenv(slow_agent.LOG_VARIABLE, os.devnull)
    monkeypatch.setenv(slow_agent.SECONDS_VARIABLE, "0")
    alone, context = start_run(kept, check_config({**config, "agent_strategy": AGENT}))
    anyio.run(lambda: play_run(kept, alone, context))
    assert outcomes(kept, run) == outcomes(kept, alone)


def outcomes(store: Store, run: RunRecord) -> list[tuple[object, ...]]:
    episodes = store.runs.summaries(run.id)
    return [(e.task_index, e.trial, e.outcome, e.reward, e.step_count) for e in episodes]


def test_a_node_that_joins_gets_workers_and_a_signal_stops_all(
    cluster: Cluster, start: Start, kept: Store
) -> None:
    main = start(*run_words("--processes", "3", agent="agents.py:endless"))
    main.until(lambda: len(worker_pids(kept)) == 2, "two workers on the one node")
    before = set(worker_pids(kept))
    with cluster.joined(4):
        main.until(lambda: len(worker_pids(kept)) == 3, "a third worker")
        workers = set(worker_pids(kept))
        assert workers > before, "no more than were asked for, and nobody was moved"
        main.process.send_signal(signal.SIGTERM)
        main.ends(128 + signal.SIGTERM)
    assert "Go on with: greenroom resume shared" in main.err
    assert not any(map(is_worker, workers))
    run = kept.runs.find("shared")
    assert run.status == "interrupted"
    assert kept.runs.workers.standings(run.id) == [], "they have said good-bye"


def test_workers_end_when_their_command_is_killed(start: Start, kept: Store) -> None:
    main = start(*run_words(trials=5))
    main.until(lambda: len(worker_pids(kept)) == 2, "two workers")
    workers = worker_pids(kept)
    main.process.kill()
    until(lambda: not any(map(is_worker, workers)), "end of the workers")
    until(lambda: not worker_pids(kept), "end of their leases")
    again = start("resume", "shared", "--worker-env", KEY, "--json")
    again.ends(0)
    assert json.loads(again.out)
    run = kept.runs.find("shared")
    assert len(kept.runs.finished(run.id)) == 100


def test_the_budget_holds_over_all_workers(start: Start, kept: Store) -> None:
    main = start(*run_words("--max-cost", "1", trials=9))
    main.ends(3)
    assert "The budget of $1.00 is spent" in main.err
    run = kept.runs.find("shared")
    used = sum(used.cost or 0 for used in kept.runs.usages(run.id))
    # What an episode reports is known after the first ones, of which each place has one; and there
    # are up to twice as many places until the first worker has seen that others have come.
    assert 0.9 <= used <= 1.0 + 20 * 0.05


def test_an_error_of_a_worker_is_the_error_of_the_command(start: Start, kept: Store) -> None:
    words = [word for word in run_words("--processes", "1") if word not in ("--worker-env", KEY)]
    main = start(*words)
    main.ends(2)
    assert f"KeyError: '{KEY}'" in main.err
    assert "Traceback" not in main.err


def test_a_request_that_fits_nowhere_is_told(start: Start, kept: Store) -> None:
    alone = start(*run_words("--worker-gpus", "64", "--name", "alone"), address=None)
    waiting = start(*run_words("--worker-cpus", "300"))
    waiting.says("Waiting up to 10 minutes")
    assert "Each needs 300 CPUs" in waiting.err
    waiting.process.send_signal(signal.SIGINT)
    waiting.ends(130)
    alone.ends(2)
    said = alone.err.splitlines()
    assert said[0].startswith("Ray: 1 node with room for 0 workers. Each reserves 1 CPUs, 64 GPUs.")
    assert said[1].startswith("error: No node has room for a worker. Each needs 1 CPUs, 64 GPUs")
    assert len(said) == 2, "Ray says nothing"


def test_a_token_that_is_not_that_of_the_cluster(
    start: Start, kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    main = start(*run_words())
    main.ends(2)
    assert "cannot be joined" in main.err
    assert "the token of the cluster" in main.err
    assert len(main.err.splitlines()) == 1, "Ray says nothing"


def test_an_evaluation_on_the_cluster(start: Start, kept: Store) -> None:
    kept.test_sets.save("numbers", [{"n": n, "expected": 2 * n} for n in range(60)])
    words = ("eval", "app.py:double", "numbers", "-e", "exact_match", "--name", "doubled")
    main = start(*words, "--repeats", "3", "--json")
    main.ends(0)
    assert json.loads(main.out)
    evaluation = kept.evaluations.find("doubled")
    assert evaluation.status == "complete"
    assert len(kept.evaluations.finished(evaluation.id)) == 180


def test_a_judging_and_a_regrading_on_the_cluster(start: Start, kept: Store) -> None:
    config: dict[str, Any] = {"agent_strategy": "synthetic", "num_trials": 2}
    run, context = start_run(kept, check_config(config), name="one")
    anyio.run(lambda: play_run(kept, run, context))
    with running_server(load_domain("retail")) as server:
        words = ("identify", "one", "--judge-model", "judge", "--judge-api-base", server.api_base)
        judges = start(*words, "--processes", "1", "--json")
        graders = start("regrade", "one", "--basis", "database", "--processes", "1", "--json")
        judges.ends(0)
        graders.ends(0)
    said = json.loads(judges.out)
    assert said["summary"]["judged"] == said["failures"] > 0
    assert judges.err.startswith("Ray: ")
    (judging,) = kept.judgings.all(parent=run.id)
    assert len(kept.judgings.finished(judging.id)) == said["failures"]
    (regrading,) = kept.regradings.all()
    assert len(kept.regradings.finished(regrading.id)) == len(kept.runs.finished(run.id))


def test_passwords_reach_workers_and_no_file_of_ray(
    cluster: Cluster,
    start: Start,
    postgres: Postgres,
    kept: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = postgres.new_database().replace("not-a-secret", "planted-url-7f3e")
    monkeypatch.setenv("GREENROOM_DATABASE_URL", url)
    monkeypatch.setenv("PGPASSWORD", "planted-variable-7f3e")
    main = start(*run_words("--processes", "1", agent="agents.py:careful"))
    main.ends(0)
    store = open_store()
    assert len(store.runs.finished(store.runs.find("shared").id)) == 40
    store.close()
    assert "7f3e" not in main.out + main.err
    written = [one for one in cluster.session.rglob("*") if one.is_file()]
    assert written
    assert not [one for one in written if b"7f3e" in one.read_bytes()]
