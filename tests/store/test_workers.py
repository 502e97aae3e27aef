"""Workers that share a job: the queue, claims, and what becomes of those that are lost."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from greenroom.errors import InputError
from greenroom.store import CellKey, LeaseOwner, RunRecord, Store, Usage, open_store, this_process
from greenroom.store.leases import is_held, lease_text
from greenroom.store.workers import Queue
from tests.store.samples import sample_episode, sample_run

KEYS: list[CellKey] = [(task, trial) for trial in range(3) for task in range(4)]
GONE = 2**22 - 1
"""A process id that no process has."""


@pytest.fixture
def run(store: Store) -> RunRecord:
    return store.runs.create(sample_run(task_indices=[0, 1, 2, 3], num_trials=3))


def join(store: Store, run: RunRecord, owner: LeaseOwner, **options: Any) -> None:
    def order(done: set[CellKey]) -> list[CellKey]:
        return [key for key in KEYS if key not in done]

    store.runs.workers.join(run.id, run.name, owner, order, **options)


def claim(store: Store, run: RunRecord, owner: LeaseOwner, count: int) -> list[CellKey]:
    return [key for _, key in store.runs.workers.claim(run.id, owner, count)]


def elsewhere(name: str = "there") -> LeaseOwner:
    """A worker of another machine: only its lease tells whether it is there."""
    return LeaseOwner(name, 1, name)


def expire(store: Store, owner: LeaseOwner) -> None:
    with store.engine.begin() as connection:
        statement = text("UPDATE workers SET lease = :lease WHERE id = :id")
        connection.execute(statement, {"lease": f"{owner}@1~1", "id": owner.token})


def test_cells_are_claimed_in_order_and_once(store: Store, run: RunRecord) -> None:
    first, second = this_process(), elsewhere()
    join(store, run, first)
    join(store, run, second, helps=True)
    assert claim(store, run, first, 2) == KEYS[:2]
    assert claim(store, run, second, 3) == KEYS[2:5]
    assert store.runs.workers.queue(run.id, first) == Queue(waiting=7, mine=2, others=3)
    store.runs.add(run.id, [sample_episode(*KEYS[0])])
    assert store.runs.workers.queue(run.id, first) == Queue(waiting=7, mine=1, others=3)
    assert claim(store, run, second, 99) == KEYS[5:]
    assert claim(store, run, first, 1) == []


def test_many_that_claim_at_once_get_different_cells(store: Store) -> None:
    run = store.runs.create(sample_run(task_indices=list(range(100)), num_trials=2))
    keys = [(task, trial) for task in range(100) for trial in range(2)]
    owners = [elsewhere(f"host-{n}") for n in range(4)]
    for owner in owners:
        store.runs.workers.join(run.id, run.name, owner, lambda _: keys, helps=True)

    def take(owner: LeaseOwner) -> list[CellKey]:
        other, mine = open_store(), list[CellKey]()
        while found := claim(other, run, owner, 3):
            mine += found
        other.close()
        return mine

    with ThreadPoolExecutor(4) as pool:
        taken = [key for mine in pool.map(take, owners) for key in mine]
    assert sorted(taken) == sorted(keys)


def test_only_those_that_help_join_others(store: Store, run: RunRecord) -> None:
    join(store, run, elsewhere(), helps=True)
    with pytest.raises(InputError, match=r"Another process works on the run 'sample' \(there/1\)"):
        join(store, run, this_process())
    with pytest.raises(InputError, match="Another process works"):
        store.runs.workers.enqueue(run.id, run.name, lambda _: KEYS)
    join(store, run, this_process(), helps=True)
    assert len(store.runs.workers.standings(run.id)) == 2


def test_a_helper_does_not_repeat_what_broke_and_others_do(store: Store, run: RunRecord) -> None:
    broken = sample_episode(0, 0, outcome="infrastructure_error", reward=None, error="x")
    store.runs.add(run.id, [broken, sample_episode(1, 0)])
    helper, owner = elsewhere(), this_process()
    join(store, run, helper, helps=True)
    assert (0, 0) not in claim(store, run, helper, 99)
    store.runs.workers.leave(run.id, helper)
    join(store, run, owner)
    assert set(claim(store, run, owner, 99)) == set(KEYS) - {(1, 0)}
    store.runs.workers.leave(run.id, owner)
    # What was put into the queue for helpers is done, too.
    store.runs.workers.enqueue(run.id, run.name, lambda done: sorted(set(KEYS) - done))
    join(store, run, helper, helps=True)
    assert (0, 0) in claim(store, run, helper, 99)


def test_the_cells_of_a_lost_worker_come_back(store: Store, run: RunRecord) -> None:
    here = this_process()
    lost = LeaseOwner(here.host, GONE, "lost")
    join(store, run, here)
    join(store, run, lost, helps=True)
    taken = claim(store, run, lost, 5)
    assert store.runs.workers.look(run.id, here).workers == (here.token,)
    # A process of this machine that has ended is known to be gone.
    assert store.runs.workers.free_lost(run.id, expired=False) == [f"{here.host}/{GONE}"]
    assert store.runs.workers.free_lost(run.id, expired=False) == []
    assert claim(store, run, here, 5) == taken
    # Of another machine, only the lease tells.
    join(store, run, elsewhere(), helps=True)
    claim(store, run, elsewhere(), 99)
    expire(store, elsewhere())
    assert store.runs.workers.free_lost(run.id, expired=False) == []
    assert store.runs.workers.free_lost(run.id, expired=True) == ["there/1"]
    assert store.runs.workers.queue(run.id, here).waiting == 7
    assert claim(store, run, elsewhere(), 1) == [], "who is gone claims nothing"
    assert not store.runs.workers.look(run.id, elsewhere(), renew=True).member


def test_containers_of_one_host_name_do_not_judge_by_processes(
    store: Store, run: RunRecord
) -> None:
    here = this_process()
    other = LeaseOwner(here.host, GONE, "other")
    join(store, run, other, helps=True)
    lease, end = lease_text(other).split("!")
    assert not is_held(f"{lease}!{end}"), "of this machine, and gone"
    elsewhere = f"{lease}!1~{end.partition('~')[2]}"
    assert is_held(elsewhere), "its processes are not to be seen from here"
    assert not is_held(f"{lease}!1~1")
    assert is_held(f"{here}@{time.monotonic() + 30:.0f}~1"), "a lease of a former version"


def test_a_job_whose_last_worker_was_lost_with_all_cells_is_in_need(
    store: Store, run: RunRecord
) -> None:
    here, lost = this_process(), LeaseOwner(this_process().host, GONE, "lost")
    join(store, run, here, helps=True)
    claim(store, run, here, 99)
    assert store.runs.in_need() == []
    store.runs.workers.leave(run.id, here)
    join(store, run, lost, helps=True)
    assert len(claim(store, run, lost, 99)) == len(KEYS)
    assert [one.name for one in store.runs.in_need()] == ["sample"]


def test_after_an_outage_nobody_is_judged_by_the_leases_that_ran_out(
    store: Store, run: RunRecord
) -> None:
    join(store, run, elsewhere(), helps=True)
    claim(store, run, elsewhere(), 5)
    expire(store, elsewhere())
    # While the database was away, nobody could renew a lease: the others come back in a moment.
    newcomer = this_process()
    join(store, run, newcomer, helps=True, expired=False)
    store.runs.workers.leave(run.id, newcomer, expired=False)
    join(store, run, newcomer, helps=True, expired=False)
    assert store.runs.workers.look(run.id, elsewhere(), renew=True).member
    assert store.runs.workers.queue(run.id, elsewhere()).mine == 5
    expire(store, elsewhere())
    store.runs.workers.leave(run.id, newcomer)
    assert store.runs.in_need() == [], "at any other time, it is gone, and the queue with the last"


def test_who_leaves_gives_its_cells_back_and_the_last_one_ends_the_queue(
    store: Store, run: RunRecord
) -> None:
    first, second = this_process(), elsewhere()
    join(store, run, first)
    join(store, run, second, helps=True)
    taken = claim(store, run, second, 3)
    store.runs.workers.leave(run.id, second)
    assert claim(store, run, first, 3) == taken
    assert [one.name for one in store.runs.in_need()] == ["sample"]
    store.runs.controls.change(run.id, paused=True)
    assert store.runs.in_need() == [], "a paused run has nothing to do for a worker"
    store.runs.controls.change(run.id, paused=False)
    store.runs.workers.leave(run.id, first)
    assert store.runs.in_need() == []
    assert store.runs.find("sample").status == "interrupted"


def test_two_results_of_one_cell_are_both_paid_for(store: Store, run: RunRecord) -> None:
    def result(seconds: float) -> Any:
        usage = {"agent": Usage(calls=1, cost=seconds)}
        return sample_episode(0, 0, seconds=seconds, usage=usage)

    assert store.runs.add(run.id, [result(1.0)]) == [True]
    # An answer of the database that was lost: the same result comes again.
    assert store.runs.add(run.id, [result(1.0)]) == [False]
    assert store.runs.attempts(run.id) == []
    other = result(2.0).model_copy(update={"started_at": result(2.0).started_at.replace(year=2030)})
    assert store.runs.add(run.id, [other]) == [False]
    assert store.runs.add(run.id, [other]) == [False]
    (attempt,) = store.runs.attempts(run.id)
    assert (attempt.key, attempt.seconds) == ((0, 0), 2.0)
    assert attempt.error == "another worker's result came first"
    assert sum(used.cost or 0 for used in store.runs.usages(run.id)) == 3.0


def test_results_are_set_aside_and_attempted_again(store: Store, run: RunRecord) -> None:
    crashed = [sample_episode(n, 0, outcome="crashed", reward=0.0) for n in (0, 1)]
    paid = {"usage": {"agent": Usage(calls=1, cost=0.5)}}
    store.runs.add(
        run.id, [*(one.model_copy(update=paid) for one in crashed), sample_episode(2, 0)]
    )
    assert store.runs.workers.retry(run.id, ["max_steps"]) == 0
    owner = this_process()
    join(store, run, owner)
    claim(store, run, owner, 99)
    assert store.runs.workers.retry(run.id, ["crashed"]) == 2
    assert store.runs.finished(run.id) == {(2, 0)}
    assert claim(store, run, owner, 99) == [(0, 0), (1, 0)], "those at work take them last"
    assert [one.error for one in store.runs.attempts(run.id)] == [
        "set aside, to be attempted again: crashed"
    ] * 2
    assert sum(used.cost or 0 for used in store.runs.usages(run.id)) == 1.25


def test_what_is_set_holds_until_it_is_changed(store: Store, run: RunRecord) -> None:
    owner = this_process()
    join(store, run, owner)
    assert not store.runs.workers.look(run.id, owner).control.paused
    store.runs.controls.change(run.id, paused=True)
    store.runs.controls.change(run.id, config={"max_cost": 2.0})
    store.runs.controls.change(run.id, config={"max_concurrency": 3})
    control = store.runs.workers.look(run.id, owner).control
    assert control.paused
    assert control.config == {"max_cost": 2.0, "max_concurrency": 3}
    store.runs.controls.change(run.id, paused=False)
    other = open_store()
    assert other.runs.controls.of(run.id).config == control.config
    other.close()


def test_cells_that_cannot_be_attempted_leave_the_queue(store: Store, run: RunRecord) -> None:
    owner = this_process()
    join(store, run, owner)
    store.runs.workers.drop(run.id, KEYS[:-1])
    assert store.runs.workers.look(run.id, owner).left
    store.runs.workers.drop(run.id, KEYS)
    assert not store.runs.workers.look(run.id, owner).left


def test_a_job_that_is_deleted_takes_its_queue_along(store: Store, run: RunRecord) -> None:
    store.runs.workers.enqueue(run.id, run.name, lambda _: KEYS)
    store.runs.delete(run)
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM cells")).scalar() == 0
