"""Jobs in processes of their own, and the three statements that hold after any disturbance."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from greenroom.errors import UnknownName
from greenroom.store import CellKey, Jobs, Store, Usage, open_store
from greenroom.trials import cell_seed
from tests.chaos.provider import CALLS, COMPLETION, PROMPT, Provider
from tests.chaos.waiting import PATIENCE, wait_for
from tests.conftest import ROOT

NAME = "disturbed"
GUIDE = Path(__file__).with_name("guide.py")
"""Workflows that ask the provider."""
SEED = 10
GREENROOM = (sys.executable, "-c", "from greenroom.cli import main; main()")


@dataclass
class Process:
    """A command under way."""

    popen: subprocess.Popen[str]
    folder: Path

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    @property
    def stderr(self) -> str:
        """What it has written to standard error so far."""
        return (self.folder / "stderr").read_text()

    @property
    def stdout(self) -> str:
        return (self.folder / "stdout").read_text()

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait for its end; its exit status."""
        return self.popen.wait(timeout=seconds)

    def wait_for(self, words: str) -> None:
        """Wait until it says these words."""
        wait_for(lambda: words in self.stderr or not self.alive, f"'{words}'")
        assert words in self.stderr, self.stderr


@dataclass
class Scene:
    """A provider, and jobs that ask it."""

    provider: Provider
    folder: Path
    tasks: int = 8
    trials: int = 2
    at_once: int = 4
    env: dict[str, str] = field(default_factory=dict[str, str])
    kind: Literal["run", "evaluation"] = "run"
    calls_per_cell: int = CALLS
    """How many answers a cell needs."""
    _processes: list[Process] = field(default_factory=list[Process])
    _store: Store | None = None

    @property
    def planned(self) -> int:
        return self.tasks * self.trials

    def start(self, *arguments: object, **options: Any) -> Process:
        """Start a greenroom command; options are those of Popen."""
        folder = self.folder / f"process-{len(self._processes)}"
        folder.mkdir()
        with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
            usual: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            popen: subprocess.Popen[str] = subprocess.Popen(
                [*GREENROOM, *map(str, arguments)],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", **self.env},
                text=True,
                **(usual | options),
            )
        self._processes.append(Process(popen, folder))
        return self._processes[-1]

    def run(self, *more: object, workflow: str = "", **options: Any) -> Process:
        """Begin the run, of an agent that asks the provider, or of a workflow."""
        agent: tuple[str, ...] = ("tool-calling", "--model", "m")
        agent += ("--api-base", self.provider.api_base)
        if workflow:
            agent = ("workflow", "--workflow", workflow)
        return self.start(
            *("run", "--agent-strategy", *agent, "--name", NAME, "--seed", SEED),
            *("--end-index", self.tasks, "--num-trials", self.trials),
            *("--max-concurrency", self.at_once, *more),
            **options,
        )

    def evaluate(self, workflow: str, *more: object) -> Process:
        """Begin the evaluation of a workflow that asks the provider once for each row."""
        self.kind, self.calls_per_cell, self.trials = "evaluation", 1, 1
        rows = self.folder / "numbers.csv"
        parity = ("even", "odd")
        lines = [f"{number},{parity[number % 2]}" for number in range(self.tasks)]
        rows.write_text("\n".join(["number,expected", *lines]))
        self.env["CHAOS_PROVIDER"] = self.provider.api_base
        return self.start(
            *("eval", workflow, rows, "-e", "exact_match", "--name", NAME),
            *("--max-concurrency", self.at_once, *more),
        )

    def resume(self, *more: object, **options: Any) -> Process:
        """Go on with the job."""
        command = ("resume",) if self.kind == "run" else ("evals", "resume")
        return self.start(*command, NAME, *more, **options)

    def stop(self) -> None:
        for process in self._processes:
            if process.alive:
                process.signal(signal.SIGKILL)
                process.end()
        if self._store is not None:
            self._store.close()

    # What the store says

    def look(self, what: Callable[[Jobs[Any, Any, Any], Any], Any]) -> Any:
        """Look at the job in the store; None while there is no job."""
        store = self._store = self._store or open_store()
        jobs: Jobs[Any, Any, Any] = store.runs if self.kind == "run" else store.evaluations
        try:
            return what(jobs, jobs.find(NAME))
        except UnknownName:
            return None

    def finished(self) -> set[CellKey]:
        """The cells with a result."""
        return self.look(lambda jobs, job: jobs.finished(job.id)) or set()

    def wait_for_results(self, count: int, process: Process | None = None) -> set[CellKey]:
        """Wait until so many cells have a result: all that have one by then."""
        found: set[CellKey] = set()

        def enough() -> bool:
            nonlocal found
            assert process is None or process.alive, process.stdout + process.stderr
            found = self.finished()
            return len(found) >= count

        wait_for(enough, f"{count} results")
        return found

    def used(self) -> Usage:
        """What the job has used, attempts without a result included."""
        return self.look(lambda jobs, job: Usage.total(jobs.usages(job.id)))

    def assert_it_goes_on(self, *more: object) -> tuple[set[CellKey], int]:
        """Resume the job to its end: what had a result before, and what the provider had seen."""
        before, since = self.finished(), len(self.provider.seen)
        assert len(before) < self.planned, "there is something left to do"
        process = self.resume(*more)
        assert process.end() == 0, process.stdout + process.stderr
        return before, since

    # The three statements

    def assert_nothing_is_lost_or_twice_or_unpaid(
        self,
        before: Collection[CellKey] = (),
        *,
        since: int = 0,
        cancelled: int = 0,
        untold: int = 0,
    ) -> None:
        """Nothing is lost, nothing is played twice, and every paid call is accounted for.

        `before` had results when the provider had seen `since` requests. `cancelled` is how many
        calls may have been under way when a process was stopped: they may be counted as lost
        although they were answered, or before they arrived. `untold` answers were not stored.
        """
        # All that was sent has arrived: what a process has left behind may still be read here.
        wait_for(lambda: not self.provider.under_way, "the end of all requests")
        self._assert_nothing_is_lost()
        self._assert_nothing_is_done_twice(set(before), since, untold)
        self._assert_every_paid_call_is_accounted_for(cancelled, untold)

    def _assert_nothing_is_lost(self) -> None:
        keys: list[CellKey] = self.look(lambda jobs, job: [r.key for r in jobs.results(job.id)])
        expected = {(task, trial) for task in range(self.tasks) for trial in range(self.trials)}
        assert Counter(keys) == Counter(expected), "each cell has one result"
        assert self.finished() == expected, "and all have one"
        assert self.look(lambda jobs, job: job.status) == "complete"

    def _assert_nothing_is_done_twice(self, before: set[CellKey], since: int, untold: int) -> None:
        asked = {one.seed for one in self.provider.seen[since:]}
        again = {key for key in before if self.seed_of(key) in asked}
        assert not again, "cells with a result were played again"
        # A result is made of the answers of one attempt. All others belong to failed attempts.
        answered = Counter(one.seed for one in self.provider.seen if one.fate == "answered")
        attempted: Counter[int] = self.look(
            lambda jobs, job: Counter(self.seed_of(one.key) for one in jobs.attempts(job.id))
        )
        unexplained = 0
        outcomes = self.look(lambda jobs, job: {r.key: r.outcome for r in jobs.results(job.id)})
        for key, outcome in outcomes.items():
            more = answered[self.seed_of(key)] - self.calls_per_cell
            assert more >= 0 or outcome == "crashed", "a result has all its answers"
            unexplained += 0 if attempted[self.seed_of(key)] else more
        assert unexplained <= untold, "cells without a failed attempt were played once"

    def _assert_every_paid_call_is_accounted_for(self, cancelled: int, untold: int) -> None:
        used, fates = self.used(), self.provider.fates()
        answered, broken = fates["answered"] - untold, fates["broken"]
        counted, rest = divmod(used.prompt_tokens, PROMPT)
        told = f"{fates}, {used}, {untold} untold"
        assert rest == 0
        assert used.completion_tokens == counted * COMPLETION
        assert counted <= answered <= counted + min(used.lost_calls, cancelled), told
        assert answered + broken <= counted + used.lost_calls, told
        assert counted + used.lost_calls <= answered + broken + cancelled, told

    def seed_of(self, key: CellKey) -> int:
        """What tells the provider which cell asks."""
        return cell_seed(SEED, *key) if self.kind == "run" else key[0]


@contextmanager
def staged(provider: Provider, folder: Path) -> Generator[Scene]:
    """A scene; its processes are gone afterwards."""
    scene = Scene(provider, folder)
    try:
        yield scene
    finally:
        scene.stop()
