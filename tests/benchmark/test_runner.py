from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.agents import AgentContext, AgentStrategy, Stage
from greenroom.benchmark import (
    RunContext,
    check_config,
    play_run,
    reopen_run,
    start_run,
)
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.retail.generator import builtin_pack, generate_retail
from greenroom.domains.tasks import Action, respond
from greenroom.errors import EpisodeOver, InputError
from greenroom.models import ModelUnavailable
from greenroom.store import EpisodeRecord, RunRecord, Store, open_store
from greenroom.trials import cell_seed
from tests.store.samples import hold

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Breaking:
    """An agent that breaks on its first attempts at each episode, then plays."""

    def __init__(self, failures: int, error: BaseException) -> None:
        self.attempts: Counter[tuple[int, int]] = Counter()
        self.failures = failures
        self.error = error

    def strategy(self, behind: AgentStrategy) -> AgentStrategy:
        def create(context: AgentContext) -> Any:
            outer, inner = self, behind.create(context)

            class Agent:
                async def play(self, stage: Stage) -> None:
                    outer.attempts[context.task_index, context.trial] += 1
                    if outer.attempts[context.task_index, context.trial] <= outer.failures:
                        raise outer.error
                    await inner.play(stage)

            return Agent()

        return replace(behind, create=create)


def started(store: Store, name: str | None = None, **config: Any) -> tuple[RunRecord, RunContext]:
    fields: dict[str, Any] = {"end_index": 6, "num_trials": 2}
    return start_run(store, check_config(fields | config), name=name)


async def test_a_run_from_start_to_end(store: Store) -> None:
    run, prepared = started(store, agent_strategy="synthetic")
    assert store.runs.find(run.name).status == "interrupted"
    seen: list[EpisodeRecord] = []
    await play_run(store, run, prepared, on_result=seen.append)
    assert store.runs.find(run.name).status == "complete"
    kept = list(store.runs.results(run.id))
    assert sorted(seen, key=lambda r: (r.task_index, r.trial)) == kept
    assert [(r.task_index, r.trial) for r in kept] == [(t, n) for t in range(6) for n in range(2)]
    first = kept[0]
    assert first.seed == cell_seed(10, 0, 0)
    assert first.task.instruction == prepared.domain.task(0).instruction
    assert [step.turn for step in first.steps] == sorted(step.turn for step in first.steps)
    assert any(action.writes for action in first.task.actions)


async def test_nothing_that_has_a_result_is_played_again(store: Store) -> None:
    run, prepared = started(store)
    await play_run(store, run, prepared)
    again: list[EpisodeRecord] = []
    await play_run(store, *reopen_run(store, run.name), on_result=again.append)
    assert again == []


async def test_names_are_made_up_in_order(store: Store) -> None:
    names = [started(store)[0].name for _ in range(2)]
    assert names == ["oracle-retail-1", "oracle-retail-2"]
    with pytest.raises(InputError, match="already"):
        started(store, "oracle-retail-1")


@pytest.mark.slow
async def test_what_breaks_is_tried_again(store: Store) -> None:
    run, prepared = started(store, max_retries=2)
    breaking = Breaking(2, ModelUnavailable("no answer"))
    strategy = breaking.strategy(prepared.strategy)
    await play_run(store, run, replace(prepared, strategy=strategy))
    assert {e.outcome for e in store.runs.results(run.id)} == {"success"}
    assert {e.attempts for e in store.runs.results(run.id)} == {3}
    attempts = store.runs.attempts(run.id)
    assert len(attempts) == 24
    assert attempts[0].error == "ModelUnavailable: no answer"


async def test_what_stays_broken_has_no_reward_and_can_be_resumed(store: Store) -> None:
    run, prepared = started(store, max_retries=0)
    breaking = Breaking(1, ModelUnavailable("the provider is down"))
    broken = replace(prepared, strategy=breaking.strategy(prepared.strategy))
    await play_run(store, run, broken)
    episodes = list(store.runs.results(run.id))
    assert {(e.outcome, e.reward, e.error) for e in episodes} == {
        ("infrastructure_error", None, "ModelUnavailable: the provider is down")
    }
    assert store.runs.find(run.name).status == "interrupted"
    await play_run(store, *reopen_run(store, run.name))
    assert {e.outcome for e in store.runs.results(run.id)} == {"success"}
    assert store.runs.find(run.name).status == "complete"


@pytest.mark.parametrize(
    ("max_retries", "problem", "error"),
    [
        (0, KeyError("order_id"), "KeyError: 'order_id'"),
        (2, KeyError("order_id"), "KeyError: 'order_id'"),
        (2, SystemExit(0), "CalledExit: sys.exit(0) was called"),
    ],
)
async def test_a_crash_of_the_agent_counts_and_is_not_played_again(
    store: Store, max_retries: int, problem: BaseException, error: str
) -> None:
    run, prepared = started(store, max_retries=max_retries)
    crashing = Breaking(1, problem)
    await play_run(store, run, replace(prepared, strategy=crashing.strategy(prepared.strategy)))
    episodes = list(store.runs.results(run.id))
    assert {(e.outcome, e.reward, e.error) for e in episodes} == {("crashed", 0.0, error)}
    assert set(crashing.attempts.values()) == {1}
    assert store.runs.find(run.name).status == "complete"


class Playing:
    """An agent that does the same in every episode."""

    def __init__(self, *actions: Action, rest: float = 0.0) -> None:
        self.actions = actions
        self.rest = rest

    def strategy(self, behind: AgentStrategy) -> AgentStrategy:
        def create(_: AgentContext) -> Playing:
            return self

        return replace(behind, create=create)

    async def play(self, stage: Stage) -> None:
        for action in self.actions:
            await stage.step(action)
        if self.rest:
            await anyio.sleep(self.rest)


THINK = Action("think", {"thought": "hm"})


@pytest.mark.parametrize(
    ("agent", "config", "outcome"),
    [
        (Playing(respond("Bye.")), {}, "failure"),
        (Playing(respond("Bye."), THINK), {}, "failure"),
        (Playing(THINK), {}, "invalid"),
        (Playing(), {}, "invalid"),
        (Playing(THINK, THINK, THINK), {"max_num_steps": 2}, "max_steps"),
        (Playing(THINK, rest=30), {"max_episode_seconds": 0.01}, "max_time"),
    ],
)
async def test_how_episodes_end(
    store: Store, agent: Playing, config: dict[str, Any], outcome: str
) -> None:
    run, prepared = started(store, num_trials=1, **config)
    await play_run(store, run, replace(prepared, strategy=agent.strategy(prepared.strategy)))
    episodes = list(store.runs.results(run.id))
    assert {(e.outcome, e.reward) for e in episodes} == {(outcome, 0.0)}
    assert store.runs.find(run.name).status == "complete"


@pytest.mark.parametrize("problem", [EpisodeOver("too late"), OSError("socket")])
async def test_a_result_stands_whatever_breaks_after_it(store: Store, problem: Exception) -> None:
    run, prepared = started(store, num_trials=1)

    class Clumsy(Playing):
        async def play(self, stage: Stage) -> None:
            await super().play(stage)
            raise problem

    strategy = Clumsy(respond("Bye.")).strategy(prepared.strategy)
    await play_run(store, run, replace(prepared, strategy=strategy))
    assert {(e.outcome, e.error) for e in store.runs.results(run.id)} == {("failure", None)}


async def test_secrets_do_not_reach_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    run, prepared = started(store, max_retries=1)
    breaking = Breaking(9, RuntimeError("401 for key sk-very-secret"))
    broken = replace(prepared, strategy=breaking.strategy(prepared.strategy))
    await play_run(store, run, broken)
    texts = [e.model_dump_json() for e in store.runs.results(run.id)]
    texts += [str(attempt) for attempt in store.runs.attempts(run.id)]
    assert "sk-very-secret" not in "".join(texts)
    assert "401 for key [SOME_API_KEY]" in texts[0]


async def test_what_a_person_has_to_mend_ends_the_run(store: Store) -> None:
    run, prepared = started(store)
    breaking = Breaking(9, InputError("mend me"))
    broken = replace(prepared, strategy=breaking.strategy(prepared.strategy))
    with pytest.raises(InputError, match="mend me"):
        await play_run(store, run, broken)
    assert store.runs.find(run.name).status == "interrupted"


async def test_a_cancelled_run_can_be_resumed_at_once(store: Store) -> None:
    run, prepared = started(store, end_index=96, num_trials=3, max_concurrency=2)
    with anyio.CancelScope() as scope:
        await play_run(
            store, run, prepared, on_result=lambda r: scope.cancel() if r.task_index > 9 else None
        )
    kept = store.runs.finished(run.id)
    assert 0 < len(kept) < run.planned
    again: list[EpisodeRecord] = []
    await play_run(store, *reopen_run(store, run.name), on_result=again.append)
    assert len(again) == run.planned - len(kept)
    assert store.runs.find(run.name).status == "complete"


async def test_two_processes_do_not_play_one_run(store: Store) -> None:
    run, prepared = started(store)
    other = open_store()
    from greenroom.store import LeaseOwner

    hold(other.runs, run, LeaseOwner("elsewhere", 1, "x"))
    with pytest.raises(InputError, match="Another process"):
        await play_run(store, run, prepared)
    other.close()


async def test_a_disk_that_fills_up_stops_the_run_and_keeps_what_was_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = open_store()
    run, prepared = started(store, end_index=20, num_trials=2, max_concurrency=2)
    add, calls = store.runs.add, 0

    def sometimes_full(run_id: str, records: Any) -> list[bool]:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise InputError("the disk is full")
        return add(run_id, records)

    monkeypatch.setattr(store.runs, "add", sometimes_full)
    with pytest.raises(InputError, match="the disk is full"):
        await play_run(store, run, prepared)
    kept = store.runs.finished(run.id)
    assert kept
    monkeypatch.undo()
    await play_run(store, *reopen_run(store, run.name))
    assert len(store.runs.finished(run.id)) == run.planned
    store.close()


async def test_a_run_goes_on_with_the_data_that_it_began_with(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pack(tmp_path / "pack", [builtin_pack()])
    run, _ = started(store, data="pack")
    monkeypatch.chdir("/")
    reopen_run(store, run.name)
    write_pack(tmp_path / "pack", [generate_retail(5, 20)], replace=True)
    with pytest.raises(
        InputError, match=r"has changed .*database.*: it was played on greenroom-retail 1"
    ):
        reopen_run(store, run.name)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"num_trials": 0}, "--num-trials should be greater than or equal to 1, not 0"),
        ({"max_concurrency": -1}, "--max-concurrency"),
        ({"max_retries": -1}, "--max-retries"),
        ({"max_episode_seconds": 0}, "--max-episode-seconds should be greater than 0"),
        ({"max_num_steps": "many"}, "--max-num-steps should be a valid integer"),
        ({"colour": "blue"}, "colour"),
    ],
)
async def test_a_configuration_is_checked_before_anything(
    fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        check_config(fields)


def test_seeds_are_a_function_of_run_task_and_trial() -> None:
    seeds = {
        cell_seed(run, task, trial) for run in range(3) for task in range(40) for trial in range(4)
    }
    assert len(seeds) == 480
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert cell_seed(10, 3, 1) == cell_seed(10, 3, 1)
