"""Looking after workers: who is replaced, when that ends, and what is no reason to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from greenroom.benchmark import check_config, enqueue_run, start_run
from greenroom.cli import supervising
from greenroom.cli.following import Standing
from greenroom.cli.processes import Ending
from greenroom.cli.supervising import BudgetSpent, Supervisor, WorkerFailed
from greenroom.store import RunRecord, Store

DONE = Ending(0, (), "exit status 0")
QUIT = Ending(0, (), "exit status 0")
"""The agent has ended the process, and there is more to do."""
KILLED = Ending(-9, ("last words",), "signal 9")
OUT_OF_BUDGET = Ending(3, ("it is spent",), "exit status 3")
GONE = Ending(None, (), "its node is gone", with_its_machine=True)


@dataclass
class FakeWorker:
    """A worker that ends as it is told to, after so many looks."""

    number: int
    end: Ending | None
    placed: bool = True
    stopped: bool = False
    looks: int = 0
    finish: Callable[[], None] = lambda: None

    def ending(self) -> Ending | None:
        self.looks -= 1
        if self.looks < 0 and self.end is DONE:
            self.finish()
        return self.end if self.looks < 0 else None

    def stop(self) -> None:
        self.stopped = True

    def wait(self) -> None:
        assert self.stopped


@dataclass
class FakeExecutor:
    """Starts workers that end so, one after the other; those after them stay at work."""

    ends: Sequence[Ending]
    count: int = 1
    looks: Sequence[int] = ()
    """How many looks they stay at work."""
    started: list[FakeWorker] = field(default_factory=list[FakeWorker])
    finish: Callable[[], None] = lambda: None
    """Empties the queue, as the last workers do that end well."""

    def wanted(self, standing: Standing) -> int:
        return self.count

    def start(self, number: int) -> FakeWorker:
        end = self.ends[number - 1] if number <= len(self.ends) else None
        worker = FakeWorker(number, end, placed=end is not None, finish=self.finish)
        worker.looks = self.looks[number - 1] if number <= len(self.looks) else 0
        self.started.append(worker)
        return self.started[-1]


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    monkeypatch.setattr(supervising, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(supervising, "_PAUSE_SECONDS", 0.001)
    config = check_config({"agent_strategy": "synthetic", "end_index": 1})
    record, context = start_run(store, config, name="shared")
    enqueue_run(store, record, context)
    return record


def supervise(store: Store, run: RunRecord, executor: FakeExecutor) -> None:
    def ignore(_: Standing) -> None:
        pass

    executor.finish = lambda: store.runs.workers.drop(run.id, [(0, 0)])
    anyio.run(Supervisor(store.runs, run, executor).work, ignore)


def test_a_lost_worker_is_replaced_until_one_finds_nothing_more_to_do(
    store: Store, run: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = FakeExecutor([KILLED, KILLED, KILLED, DONE])
    supervise(store, run, executor)
    assert [one.number for one in executor.started] == [1, 2, 3, 4]
    assert "Worker 3 was lost (signal 9): another one takes over." in capsys.readouterr().err


def test_one_that_ends_well_while_there_is_more_to_do_was_lost(
    store: Store, run: RunRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = FakeExecutor([QUIT, DONE])
    supervise(store, run, executor)
    assert len(executor.started) == 2
    assert "Worker 1 was lost (exit status 0): another one takes over." in capsys.readouterr().err


def test_too_many_losses_without_a_result_end_it(store: Store, run: RunRecord) -> None:
    executor = FakeExecutor([KILLED] * 9)
    with pytest.raises(WorkerFailed, match=r"lost 4 times in a row.*\(signal 9\)\. last words"):
        supervise(store, run, executor)
    assert len(executor.started) == 4


def test_workers_that_are_lost_together_are_one_loss(store: Store, run: RunRecord) -> None:
    executor = FakeExecutor([*[KILLED] * 8, *[DONE] * 8], count=8)
    supervise(store, run, executor)
    assert len(executor.started) == 16


def test_machines_that_leave_are_no_sign_of_trouble(store: Store, run: RunRecord) -> None:
    executor = FakeExecutor([*[GONE] * 20, DONE])
    supervise(store, run, executor)
    assert len(executor.started) == 21


def test_those_that_wait_for_a_place_are_let_go_in_the_end(store: Store, run: RunRecord) -> None:
    executor = FakeExecutor([DONE], count=3)
    supervise(store, run, executor)
    assert [one.stopped for one in executor.started] == [False, True, True]


@pytest.mark.parametrize(
    ("status", "error"), [(3, BudgetSpent), (2, WorkerFailed), (1, WorkerFailed)]
)
def test_what_a_worker_says_in_the_end_is_told(
    store: Store, run: RunRecord, status: int, error: type[Exception]
) -> None:
    executor = FakeExecutor([Ending(status, ("error: so it is",), f"exit status {status}")])
    with pytest.raises(error, match="so it is"):
        supervise(store, run, executor)


@pytest.mark.parametrize("last", [OUT_OF_BUDGET, KILLED])
def test_workers_spend_their_parts_of_a_budget_when_one_gets_no_more(
    store: Store, run: RunRecord, last: Ending
) -> None:
    executor = FakeExecutor([OUT_OF_BUDGET, last], count=2, looks=[0, 5])
    with pytest.raises(BudgetSpent, match="it is spent"):
        supervise(store, run, executor)
    assert [one.stopped for one in executor.started] == [False, False]
    assert executor.started[1].looks < 0


def test_a_budget_that_was_enough_is_no_error(store: Store, run: RunRecord) -> None:
    executor = FakeExecutor([OUT_OF_BUDGET, DONE], count=2, looks=[0, 5])
    supervise(store, run, executor)
    assert len(executor.started) == 2
